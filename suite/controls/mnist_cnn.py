"""mnist_cnn in PyTorch."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import adadelta
from suite.data.prepare.pictures import Pixels


class MnistCnn(nn.Module):
    """Two 3x3 convolutions, 2x2 max pool, dropout 0.25, a hidden layer, dropout 0.5, ten logits."""

    def __init__(self, first: int = 32, second: int = 64, hidden: int = 128) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, first, 3)
        self.conv2 = nn.Conv2d(first, second, 3)
        self.dropout1 = nn.Dropout(0.25)
        self.hidden = nn.Linear(12 * 12 * second, hidden)
        self.dropout2 = nn.Dropout(0.5)
        self.output = nn.Linear(hidden, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map digits float32[N,1,28,28] to logits float32[N,10]."""
        x = functional.relu(self.conv1(x), inplace=True)
        x = functional.relu(functional.max_pool2d(self.conv2(x), 2), inplace=True)  # ReLU commutes with the maximum
        x = self.dropout1(x).permute(0, 2, 3, 1).flatten(1)  # as it lies in memory
        x = self.dropout2(functional.relu(self.hidden(x), inplace=True))
        return self.output(x)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


CONTROL = Control(model=MnistCnn, loss=loss, optimizer=adadelta, preparation=Pixels())
