"""Settings of boosted trees."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How trees grow, and the weights of rows."""

    rounds: int = 100
    depth: int = 8
    rate: float = 0.1
    least_gain: float = 0.1
    l1: float = 0.9
    l2: float = 1.0
    least_hessian: float = 30.0  # of a child
    positive_weight: float = 2.0
    start: float = 0.5  # of every margin
