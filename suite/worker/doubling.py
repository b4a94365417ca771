"""How many steps make a sample: so many that a chain costs little beside its steps, which twice as many tell."""

from collections.abc import Sequence
from math import ceil
from statistics import median

from suite.results.single.validity import DOUBLING_FROM
from suite.worker_api.clock import LONG_CHAIN_SECONDS, Chain, Clock, timed_chain

_LITTLE_COST = 0.01  # of a chain's steps, that a chain may cost beside them
_AT_ONCE = 0.005  # that the first turn may lie from 2 to be enough
_PROPORTIONAL = 0.05  # that the ratio may lie from 2 without a second look
_AIMED_COST = 0.007  # where chains are made longer, so that noise leaves it below that
_LENGTHENED_UP_TO_SECONDS, _LONGEST_SECONDS = 0.5, 1.5  # of a chain that is made longer: before and after
_TURNS, _FEWER_TURNS, _LEAST_TURNS = 3, 2, 1  # of K and 2K steps; fewer where a chain is long or varies little
_AGAIN = 2  # times a ratio that cannot be true is taken anew, before it is believed


def paired_chains(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> list[tuple[float, float]]:
    """Return the seconds of K and of 2K steps, so many times in turn; none for a chain too long to double."""
    found: list[tuple[float, float]] = []
    for _ in range(count):
        once = timed_chain(chain, steps, clock).wall_seconds
        if once > LONG_CHAIN_SECONDS:
            return []
        found.append((once, timed_chain(chain, 2 * steps, clock).wall_seconds))
    return found


def doubling_ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return time(2K) / time(K), medians of the turns; None without any.

    Work that does not depend on the number of steps, or steps that are skipped, move it away from 2.
    """
    return median(twice for _, twice in pairs) / median(once for once, _ in pairs) if pairs else None


def checked_doubling_ratio(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> float | None:
    """Return the doubling ratio; one that cannot be true is taken anew.

    What other programs did in between has passed by then. Work that does not depend on its steps says so each time.
    """
    ratio = doubling_ratio(paired_chains(chain, steps, clock, count))
    for _ in range(_AGAIN):
        if ratio is None or ratio >= DOUBLING_FROM:
            break
        ratio = doubling_ratio(paired_chains(chain, steps, clock, count))
    return ratio


def proportional(
    chain: Chain, steps: int, clock: Clock, lasted: float = 0.0, call: int = 1
) -> tuple[int, float | None]:
    """Return K and its doubling ratio; K is so large that a chain costs less than 1 % beside its steps.

    On a GPU the first step of a chain has nothing to hide its dispatch behind, which a sample of one step shows in full
    and training does not have: T(K) = c + K s, and 2 T(K) - T(2K) = c. K is made larger, in one go and to a multiple of
    `call`, where each of six turns shows such a cost, which noise seldom does, and their median is too large. A chain
    that `lasted` so many seconds that it is long enough has fewer turns, and no ratio if it cannot be run at twice its
    length.

    The ratio that a K is kept or given up for is not the one that is returned, unless it is close to 2: where chains
    vary, to return the first that is large enough would find most of them too large. A first turn very close to 2, as
    most of a GPU are, is enough.
    """
    if lasted > LONG_CHAIN_SECONDS:
        return steps, None
    if lasted > _LENGTHENED_UP_TO_SECONDS:
        return steps, checked_doubling_ratio(chain, steps, clock, _FEWER_TURNS)
    seen = paired_chains(chain, steps, clock, _LEAST_TURNS)
    ratio = doubling_ratio(seen)
    if ratio is None or abs(ratio - 2) <= _AT_ONCE:
        return steps, ratio
    seen += paired_chains(chain, steps, clock, _TURNS - _LEAST_TURNS)
    ratio = doubling_ratio(seen)
    if ratio is None or (abs(ratio - 2) <= _PROPORTIONAL and longer_by(seen) <= 1):
        return steps, ratio
    if longer_by(seen) > 1:
        seen += paired_chains(chain, steps, clock)
        if (times := longer_by(seen)) > 1:
            steps = call * ceil(times * steps / call)
            return steps, checked_doubling_ratio(chain, steps, clock, _LEAST_TURNS)
    return steps, checked_doubling_ratio(chain, steps, clock)


def longer_by(pairs: Sequence[tuple[float, float]]) -> float:
    """Return how many times as long a chain has to be for its cost to be little; up to 1: it may stay as it is.

    The pairs are seconds of K and 2K steps. What costs more than the longest chain could make little gets that one.
    """
    costs = [2 * once - twice for once, twice in pairs]
    if not costs or min(costs) <= 0:
        return 1.0
    once, cost = median(once for once, _ in pairs), median(costs)
    working = once - cost  # seconds of the steps alone; below 0 where twice as many take less time than once
    if cost <= _LITTLE_COST * working:
        return 1.0
    most = _LONGEST_SECONDS / once
    return min(most, cost / (_AIMED_COST * working)) if working > 0 else most
