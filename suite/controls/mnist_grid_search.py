"""mnist_grid_search in PyTorch: the first network of the grid."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls.base import Batch, Control
from suite.controls.optimizers import adadelta
from suite.data.prepare.pictures import Pixels


class GridCnn(nn.Module):
    """Two 3x3 convolutions of 8, 2x2 max pool, dropout 0.25, a hidden layer of 32, dropout 0.5, ten logits."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 8, 3)
        self.dropout1 = nn.Dropout(0.25)
        self.hidden = nn.Linear(12 * 12 * 8, 32)
        self.dropout2 = nn.Dropout(0.5)
        self.output = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map digits float32[N,1,28,28] to logits float32[N,10]."""
        x = functional.relu(self.conv1(x), inplace=True)
        x = functional.relu(functional.max_pool2d(self.conv2(x), 2), inplace=True)  # the maximum's ReLU is the same
        x = self.dropout1(x).permute(0, 2, 3, 1).flatten(1)  # as it lies in memory
        x = self.dropout2(functional.relu(self.hidden(x), inplace=True))
        return self.output(x)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


CONTROL = Control(model=GridCnn, loss=loss, optimizer=adadelta, preparation=Pixels())
