"""mnist_mlp in PyTorch."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import rmsprop
from suite.data.prepare.pictures import Pixels


class MnistMlp(nn.Module):
    """784-512-512-10 with ReLU and dropout 0.2 after each hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(784, 512),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(512, 10),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map digits float32[N,1,28,28] to logits float32[N,10]."""
        return self.layers(x)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


CONTROL = Control(model=MnistMlp, loss=loss, optimizer=rmsprop, preparation=Pixels())
