"""How a step that a reader can copy fares beside the suite's own, in words."""

from suite import units
from suite.results.evidence.copyable import Compared


def ratio(found: Compared) -> str:
    """Return in words how much longer a step takes than the suite's own."""
    times = units.ratio(found.ratio, found.low, found.high)
    reach = f" ({units.interval(found.low, found.high)})" if found.low is not None else ""
    return f"It takes {times}{reach} the time of the suite's own step on {found.machine}."
