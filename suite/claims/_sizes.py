"""The slope of speed-ups over the size of a network."""

from collections.abc import Sequence

from suite import units
from suite.claims import Part, part, unjudged
from suite.claims._judging import certified
from suite.experiments.size import networks
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.fit import power_law

_FEWEST = 3  # networks: two always fit a line


def with_size(says: str, speedups: Sequence[PooledSpeedUp], falls: bool = False) -> tuple[str, Part]:
    """Return a sentence on the slope of certified speed-ups over the FLOP of a step, and whether it surely rises.

    With `falls`, whether it surely falls. The interval is over networks; those that differ only in data or dropout
    count as one.
    """
    sizes, ratios = networks([item for item in speedups if certified(item)])
    law = power_law(sizes, ratios) if len(sizes) >= _FEWEST else None
    if law is None or law.low is None or law.high is None:
        return "", unjudged(says, "fewer than three networks of unlike size have certified speed-ups")
    slope = f"{units.number(law.exponent, units.half_width(law.low, law.high))} ({units.interval(law.low, law.high)})"
    rises, sinks = law.low > 0, law.high < 0
    why = "the interval of the slope holds 0"
    verdict = part(says, sinks, rises, why=why) if falls else part(says, rises, sinks, why=why)
    return f" The slope of the logarithms over {len(sizes)} networks is {slope}.", verdict
