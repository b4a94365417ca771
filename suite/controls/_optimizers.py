"""Optimizers for the controls with the documented defaults; multi-tensor kernels on both backends.

torch places Adam's epsilon differently from Keras: losses move slightly, the cost is the same.
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


def adadelta(parameters: Iterable[torch.Tensor], capturable: bool) -> torch.optim.Optimizer:
    """Return Adadelta with learning rate 1.0, rho 0.95 and epsilon 1e-7."""
    return torch.optim.Adadelta(parameters, lr=1.0, rho=0.95, eps=1e-7, foreach=True, capturable=capturable)


def adam(parameters: Iterable[torch.Tensor], capturable: bool, learning_rate: float = 1e-3) -> torch.optim.Optimizer:
    """Return Adam in torch's fused form."""
    return torch.optim.Adam(parameters, lr=learning_rate, eps=1e-7, fused=True, capturable=capturable)


class AveragedSgd:
    """Gradient descent with a staircase rate, and a moving average of all parameters that training does not use.

    After step t the average moves with min(decay, (1 + t) / (10 + t)), as TensorFlow's ExponentialMovingAverage does.
    """

    def __init__(
        self, parameters: Iterable[torch.Tensor], rate: float, steps: int, factor: float, decay: float = 0.9999
    ) -> None:
        self.parameters = list(parameters)
        self.averages = [p.detach().clone() for p in self.parameters]
        self.rate, self.steps, self.factor, self.decay = rate, steps, factor, decay
        # On the device: a captured graph would repeat a Python number for ever.
        self.taken = torch.zeros([], dtype=torch.float64, device=self.parameters[0].device)

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters by their gradients, then the averages."""
        rate = self.rate * self.factor ** (self.taken // self.steps)
        self.taken += 1
        share = 1 - ((1 + self.taken) / (10 + self.taken)).clamp(max=self.decay)
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        dtype = gradients[0].dtype
        torch._foreach_sub_(self.parameters, torch._foreach_mul(gradients, rate.to(dtype)))
        ways = torch._foreach_sub(self.parameters, self.averages)
        torch._foreach_mul_(ways, share.to(dtype))
        torch._foreach_add_(self.averages, ways)

    def zero_grad(self) -> None:
        """Drop the gradients."""
        for p in self.parameters:
            p.grad = None
