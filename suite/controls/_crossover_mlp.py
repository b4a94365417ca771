"""Dense networks of any width and depth in PyTorch."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import sgd
from suite.data.random_inputs import labelled_rows
from suite.families import CLASSES, Size


class CrossoverMlp(nn.Module):
    """`depth` hidden layers of `width` with ReLU, inputs as wide, and an output for each class."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        hidden = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.layers = nn.Sequential(*hidden, nn.Linear(width, CLASSES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map rows float32[N,W] to logits float32[N,10]."""
        return self.layers(x)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.cross_entropy(model(batch["inputs"]), batch["labels"])


def made(name: str, size: Size) -> Control:
    """Return the network of that width and depth."""
    del name
    return Control(
        model=partial(CrossoverMlp, width=size.width, depth=size.depth),
        loss=loss,
        optimizer=sgd,
        draw=partial(labelled_rows, width=size.width, classes=CLASSES),
    )
