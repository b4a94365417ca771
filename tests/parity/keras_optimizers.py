"""Steps of optimizers as Keras writes them, for parameters whose gradients PyTorch has computed.

Learning rates and decays are those of the control's own optimizer; where epsilon goes and how biases are corrected is
written here by hand.
Source: keras-team/keras @ 2019-01, keras/optimizers.py.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

Step = Callable[[], None]


def keras_form(optimizer: Any) -> Step:
    """Return what does one step of the optimizer in the form of Keras, or as the control has written it by hand.

    Raises LookupError for one of torch's optimizers that is not written here.
    """
    if not isinstance(optimizer, torch.optim.Optimizer):
        return optimizer.step
    (group,) = optimizer.param_groups
    parameters = [p for p in group["params"] if p.requires_grad]
    for kind, form in FORMS.items():
        if type(optimizer) is kind:
            moves = form(parameters, group)
            return lambda: apply(parameters, next(moves))
    raise LookupError(f"{type(optimizer).__name__} has no Keras form in {__name__}; add it to FORMS")


@torch.no_grad()
def apply(parameters: list[torch.Tensor], moves: list[torch.Tensor]) -> None:
    """Move every parameter."""
    for parameter, move in zip(parameters, moves, strict=True):
        parameter -= move


def gradients(parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return the gradients that were computed last."""
    return [p.grad.detach().clone() for p in parameters]


def sgd(parameters: list[torch.Tensor], group: dict) -> Iterator[list[torch.Tensor]]:
    """Yield the moves of plain gradient descent."""
    assert group["momentum"] == 0
    while True:
        yield [group["lr"] * g for g in gradients(parameters)]


def rmsprop(parameters: list[torch.Tensor], group: dict) -> Iterator[list[torch.Tensor]]:
    """Yield the moves of RMSprop, epsilon outside the root."""
    rate, rho, epsilon = group["lr"], group["alpha"], group["eps"]
    squares = [torch.zeros_like(p) for p in parameters]
    while True:
        now = gradients(parameters)
        squares = [rho * s + (1 - rho) * g * g for s, g in zip(squares, now, strict=True)]
        yield [rate * g / (s.sqrt() + epsilon) for s, g in zip(squares, now, strict=True)]


def adam(parameters: list[torch.Tensor], group: dict) -> Iterator[list[torch.Tensor]]:
    """Yield the moves of Adam, the bias corrections in the rate and epsilon beside the raw root."""
    rate, (b1, b2), epsilon = group["lr"], group["betas"], group["eps"]
    means, squares, taken = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters], 0
    while True:
        now, taken = gradients(parameters), taken + 1
        means = [b1 * m + (1 - b1) * g for m, g in zip(means, now, strict=True)]
        squares = [b2 * s + (1 - b2) * g * g for s, g in zip(squares, now, strict=True)]
        corrected = rate * math.sqrt(1 - b2**taken) / (1 - b1**taken)
        yield [corrected * m / (s.sqrt() + epsilon) for m, s in zip(means, squares, strict=True)]


def adadelta(parameters: list[torch.Tensor], group: dict) -> Iterator[list[torch.Tensor]]:
    """Yield the moves of Adadelta, epsilon inside both roots."""
    rate, rho, epsilon = group["lr"], group["rho"], group["eps"]
    squares, moved = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters]
    while True:
        now = gradients(parameters)
        squares = [rho * s + (1 - rho) * g * g for s, g in zip(squares, now, strict=True)]
        moves = [g * (m + epsilon).sqrt() / (s + epsilon).sqrt() for g, m, s in zip(now, moved, squares, strict=True)]
        moved = [rho * m + (1 - rho) * u * u for m, u in zip(moved, moves, strict=True)]
        yield [rate * u for u in moves]


FORMS = {
    torch.optim.SGD: sgd,
    torch.optim.RMSprop: rmsprop,
    torch.optim.Adam: adam,
    torch.optim.Adadelta: adadelta,
}
