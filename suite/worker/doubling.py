"""Choose the number of steps of a sample, so that a chain's fixed overhead is negligible: compare K with 2K steps."""

from collections.abc import Sequence
from math import ceil
from statistics import median

from suite.results.single.validity import DOUBLING_FROM
from suite.worker_api.clock import LONG_CHAIN_SECONDS, Chain, Clock, timed_chain

_LITTLE_COST = 0.01  # a chain's overhead, as a share of its steps
_CLOSE = 0.005  # from 2: close enough after one turn
_PROPORTIONAL = 0.05  # from 2: close enough without a second look
_AIMED_COST = 0.007  # the share aimed at if chains are lengthened, so that noise leaves it below _LITTLE_COST
_LENGTHENED_UP_TO_SECONDS, _LONGEST_SECONDS = 0.5, 1.5  # of a lengthened chain: before and after
_TURNS, _FEWER_TURNS, _LEAST_TURNS = 3, 2, 1  # of K and 2K steps; fewer if a chain is long or varies little
_RETRIES = 2  # times that an impossible ratio is measured again before it is believed


def paired_chains(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> list[tuple[float, float]]:
    """Return `count` pairs of seconds for K and 2K steps; none if the chain is too long to double."""
    pairs: list[tuple[float, float]] = []
    for _ in range(count):
        once = timed_chain(chain, steps, clock).wall_seconds
        if once > LONG_CHAIN_SECONDS:
            return []
        pairs.append((once, timed_chain(chain, 2 * steps, clock).wall_seconds))
    return pairs


def doubling_ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return time(2K) / time(K), medians over the pairs; None without pairs.

    Skipped steps, or work that does not depend on the number of steps, move it away from 2.
    """
    return median(twice for _, twice in pairs) / median(once for once, _ in pairs) if pairs else None


def checked_doubling_ratio(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> float | None:
    """Return the doubling ratio; measure an impossible one again.

    A burst of other load has passed by then. Work that does not depend on the number of steps shows each time.
    """
    ratio = doubling_ratio(paired_chains(chain, steps, clock, count))
    for _ in range(_RETRIES):
        if ratio is None or ratio >= DOUBLING_FROM:
            break
        ratio = doubling_ratio(paired_chains(chain, steps, clock, count))
    return ratio


def proportional(
    chain: Chain, steps: int, clock: Clock, lasted: float = 0.0, call: int = 1
) -> tuple[int, float | None]:
    """Return K and its doubling ratio, with K so large that a chain's overhead is below 1 % of its steps.

    On a GPU, nothing hides the dispatch of a chain's first step. A sample of one step shows it in full; training does
    not. T(K) = c + K s, so 2 T(K) - T(2K) = c. K grows in one go, to a multiple of `call`, if six turns all show an
    overhead and its median is too large: noise seldom does that. A chain that `lasted` long has fewer turns, and no
    ratio if it is too long to double.

    The returned ratio is measured after K was chosen, unless the first one is close to 2. To return the ratio that
    decided would bias it upwards. One turn very close to 2 is enough, as most are on a GPU.
    """
    if lasted > LONG_CHAIN_SECONDS:
        return steps, None
    if lasted > _LENGTHENED_UP_TO_SECONDS:
        return steps, checked_doubling_ratio(chain, steps, clock, _FEWER_TURNS)
    seen = paired_chains(chain, steps, clock, _LEAST_TURNS)
    ratio = doubling_ratio(seen)
    if ratio is None or abs(ratio - 2) <= _CLOSE:
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
    """Return the factor by which to lengthen a chain so that its overhead is negligible; up to 1: leave it.

    The pairs are seconds of K and 2K steps. The factor is capped by the longest chain allowed.
    """
    costs = [2 * once - twice for once, twice in pairs]
    if not costs or min(costs) <= 0:
        return 1.0
    once, cost = median(once for once, _ in pairs), median(costs)
    working = once - cost  # seconds of the steps alone; below 0 if 2K steps take less time than K
    if cost <= _LITTLE_COST * working:
        return 1.0
    most = _LONGEST_SECONDS / once
    return min(most, cost / (_AIMED_COST * working)) if working > 0 else most
