"""dp_linear_mirrored in PyTorch, on one device."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import sgd
from suite.data.random_inputs import points_on_a_line


class Line(nn.Module):
    """One dense unit on one number."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map numbers float32[N,1] to numbers float32[N]."""
        return self.output(x)[:, 0]


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean squared error of a batch."""
    return functional.mse_loss(model(batch["inputs"]), batch["labels"])


CONTROL = Control(model=Line, loss=loss, optimizer=partial(sgd, learning_rate=0.2), draw=points_on_a_line)
