"""A copyable step's time against the suite's own, in words."""

from suite import units
from suite.results.evidence.copyable import Compared


def ratio(compared: Compared) -> str:
    """Return the ratio of a step's time to the suite's own, in words."""
    times = units.ratio(compared.ratio, compared.low, compared.high)
    reach = f" ({units.interval(compared.low, compared.high)})" if compared.low is not None else ""
    return f"It takes {times}{reach} the time of the suite's own step on {compared.machine}."
