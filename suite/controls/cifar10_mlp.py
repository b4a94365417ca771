"""cifar10_mlp in PyTorch."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import sgd
from suite.controls._weights import Leaves, channels_first, in_order
from suite.data.prepare.pictures import Pixels


class Cifar10Mlp(nn.Module):
    """3072-3000-1000-10 with ReLU, giving the logits before the source's sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(3072, 3000), nn.ReLU(), nn.Linear(3000, 1000), nn.ReLU(), nn.Linear(1000, 10)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map pictures float32[N,3,32,32] to logits float32[N,10]."""
        return self.layers(x)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean softmax cross-entropy of the logits."""
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


def weights(leaves: Leaves, network: nn.Module) -> Leaves:
    """Return the model's parameters, the first layer's for pictures flattened as [C,H,W]."""
    first = channels_first(leaves["hidden1/kernel"], (32, 32, 3))
    return in_order({**leaves, "hidden1/kernel": first}, network)


CONTROL = Control(model=Cifar10Mlp, loss=loss, optimizer=sgd, preparation=Pixels(), weights=weights)
