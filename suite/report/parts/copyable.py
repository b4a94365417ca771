"""A copyable step's time against the suite's own, in words."""

from suite import units
from suite.results.evidence.copyable import Compared


def ratio(found: Compared) -> str:
    """Return the ratio of a step's time to the suite's own, in words."""
    times = units.ratio(found.ratio, found.low, found.high)
    reach = f" ({units.interval(found.low, found.high)})" if found.low is not None else ""
    return f"It takes {times}{reach} the time of the suite's own step on {found.machine}."
