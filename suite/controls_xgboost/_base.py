"""The contract of a control in XGBoost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.data.prepare import Preparation
from suite.workload import INPUT_SETS


@dataclass(frozen=True, kw_only=True)
class Control:
    """XGBoost's parameters, its rounds, and the batches that both sides share.

    `preparation`, `draw` and `input_sets` are those of `suite.workload.Workload`; the columns are their batches'
    `bins`, whose integers XGBoost's histograms keep.
    """

    parameters: Mapping[str, Any]
    rounds: int
    bins: int
    preparation: Preparation | None = None
    draw: Callable[..., dict[str, np.ndarray]] | None = None
    input_sets: int = INPUT_SETS
