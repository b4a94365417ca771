"""The contract of a control."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from suite.controls._weights import Leaves, in_order
from suite.data.prepare import Preparation
from suite.workload import INPUT_SETS

Batch = dict[str, Any]  # name to array or tensor; pictures are [N,C,H,W] in channels-last memory


@dataclass(frozen=True, kw_only=True)
class Control:
    """A workload's network, loss and optimizer in PyTorch, and the batches that both sides share.

    `loss(model, batch)` gives a scalar, `optimizer(parameters, capturable)` the optimizer with the source's defaults;
    None: a step is an inference. `served(network)` is applied once to a loaded network, in evaluation mode, before use.
    `preparation`, `draw` and `input_sets` are those of `suite.workload.Workload`. `weights(leaves, network)` gives the
    model's parameters and statistics under the network's names. With an optimizer it only moves numbers and fills in
    zeros, so that gradients can be mapped back.
    """

    model: Callable[[], Any]
    loss: Callable[[Any, Batch], Any]
    optimizer: Callable[[Any, bool], Any] | None = None
    served: Callable[[Any], Any] | None = None
    preparation: Preparation | None = None
    draw: Callable[..., Batch] | None = None
    input_sets: int = INPUT_SETS
    weights: Callable[[Leaves, Any], Leaves] = in_order
