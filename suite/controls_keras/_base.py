"""The contract of a control in Keras."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from suite.data.prepare import Preparation
from suite.workload import INPUT_SETS

Batch = dict[str, Any]  # name to array or tensor; pictures are [N,H,W,C]


@dataclass(frozen=True, kw_only=True)
class Control:
    """A workload's network, loss and optimizer in Keras, and the batches that all sides share.

    `loss(model, batch)` gives a scalar, `optimizer()` the optimizer with the source's defaults; None: a step is an
    inference. `preparation`, `draw` and `input_sets` are those of `suite.workload.Workload`.
    """

    model: Callable[[], Any]
    loss: Callable[[Any, Batch], Any]
    optimizer: Callable[[], Any] | None = None
    preparation: Preparation | None = None
    draw: Callable[..., Batch] | None = None
    input_sets: int = INPUT_SETS
