"""Optimizers for the controls with the documented defaults; multi-tensor kernels on both backends.

torch places Adam's epsilon otherwise than Keras, which moves losses slightly and costs the same.
"""

from collections.abc import Iterable

import torch


def sgd(parameters: Iterable[torch.Tensor], capturable: bool, learning_rate: float = 0.01) -> torch.optim.Optimizer:
    """Return plain gradient descent."""
    del capturable
    return torch.optim.SGD(parameters, lr=learning_rate, foreach=True)


def rmsprop(parameters: Iterable[torch.Tensor], capturable: bool) -> torch.optim.Optimizer:
    """Return RMSprop with epsilon outside the square root, as the sources have it."""
    return torch.optim.RMSprop(parameters, lr=1e-3, alpha=0.9, eps=1e-7, foreach=True, capturable=capturable)


def adam(parameters: Iterable[torch.Tensor], capturable: bool) -> torch.optim.Optimizer:
    """Return Adam with learning rate 0.001 in torch's fused form."""
    return torch.optim.Adam(parameters, lr=1e-3, eps=1e-7, fused=True, capturable=capturable)
