"""What a control consists of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Batch = dict[str, Any]  # name to array or tensor; pictures are [N,C,H,W] in channels-last memory


@dataclass(frozen=True, kw_only=True)
class Control:
    """A workload's network, loss and optimizer in PyTorch, and the batches that both sides share.

    `loss(model, batch)` gives a scalar, `optimizer(parameters, capturable)` the optimizer with the source's defaults;
    without one a step is an inference. `served(network)` is what is done once to a loaded network, in evaluation mode,
    before it is used. `preprocess` and `draw` are those of `suite.workload.Workload`.
    """

    model: Callable[[], Any]
    loss: Callable[[Any, Batch], Any]
    optimizer: Callable[[Any, bool], Any] | None = None
    served: Callable[[Any], Any] | None = None
    preprocess: Callable[..., Batch] | None = None
    draw: Callable[..., Batch] | None = None
