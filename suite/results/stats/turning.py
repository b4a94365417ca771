"""From where on a curve stays above 1, found by bisection: at once, from a place, or never."""

import math
from collections.abc import Callable

_EXACT = 1e-9  # relative, of the place


def stays_above(curve: Callable[[float], float | None], most: float) -> float | None:
    """Return the place from 1 to `most` from which a curve that crosses 1 once stays above it.

    1 if it does from the first place, infinity if it is not above 1 at the last; None if the curve has no value there.
    """
    first, last = curve(1.0), curve(most)
    if first is None or last is None:
        return None
    if last <= 1:
        return math.inf
    if first >= 1:
        return 1.0
    low, high = 0.0, math.log(most)
    while high - low > _EXACT:
        middle = (low + high) / 2
        value = curve(math.exp(middle))
        low, high = (middle, high) if value is None or value < 1 else (low, middle)
    return math.exp(high)
