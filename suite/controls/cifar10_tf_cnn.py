"""cifar10_tf_cnn in PyTorch."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import AveragedSgd
from suite.data.prepare.crops import Crop

STEPS_PER_STAIR = 350 * 50_000 // 512
WEIGHT_DECAY = 0.004


class Cifar10TfCnn(nn.Module):
    """Two 5x5 convolutions of 64 with pool and normalisation, hidden layers of 384 and 192, ten logits."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = started(nn.Conv2d(3, 64, 5, padding=2), 0.05, 0.0)
        self.conv2 = started(nn.Conv2d(64, 64, 5, padding=2), 0.05, 0.1)
        self.local3 = started(nn.Linear(6 * 6 * 64, 384), 0.04, 0.1)
        self.local4 = started(nn.Linear(384, 192), 0.04, 0.1)
        self.softmax_linear = started(nn.Linear(192, 10), 1 / 192, 0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map crops float32[N,3,24,24] to logits float32[N,10]."""
        x = normalised(functional.relu(pooled(self.conv1(x)), inplace=True))
        x = pooled(normalised(functional.relu(self.conv2(x), inplace=True)))
        x = x.permute(0, 2, 3, 1).flatten(1)  # as it lies in memory
        x = functional.relu(self.local3(x), inplace=True)
        x = functional.relu(self.local4(x), inplace=True)
        return self.softmax_linear(x)


def started(layer: Any, deviation: float, bias: float) -> Any:
    """Return the convolution or dense layer with the source's initial values."""
    nn.init.trunc_normal_(layer.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
    nn.init.constant_(layer.bias, bias)
    return layer


def pooled(x: torch.Tensor) -> torch.Tensor:
    """Return the maxima of 3x3 windows with stride 2, with TensorFlow's same padding: only the end of even sides."""
    return functional.max_pool2d(x, 3, 2, ceil_mode=True)


def normalised(x: torch.Tensor) -> torch.Tensor:
    """Return x normalised over nine channels; torch averages their squares, hence its larger alpha."""
    return functional.local_response_norm(x, 9, alpha=0.001, beta=0.75, k=1.0)


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch and half the decayed squares of both hidden layers' weights."""
    decayed = sum(layer.weight.square().sum() for layer in (model.local3, model.local4)) / 2
    return functional.cross_entropy(model(batch["images"]), batch["labels"]) + WEIGHT_DECAY * decayed


def optimizer(parameters: Iterable[torch.Tensor], capturable: bool) -> AveragedSgd:
    """Return gradient descent with a falling rate and the moving average of all parameters."""
    del capturable
    return AveragedSgd(parameters, rate=0.1, steps=STEPS_PER_STAIR, factor=0.1)


CONTROL = Control(model=Cifar10TfCnn, loss=loss, optimizer=optimizer, preparation=Crop())
