"""Where every time that counts is read: calibration, warm-up and samples of a chain of dependent steps."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from suite.results.record import Sample
from suite.results.validity import DOUBLING_FROM, FEWEST_SAMPLES, NOTHING_COMPUTED

Chain = Callable[[int], None]  # runs that many dependent steps and returns when every output is there

_WINDOW = 3  # samples; two windows whose medians agree end the warm-up
_AGREE = 0.01
_DOUBLING_UP_TO_SECONDS = 2.0  # a longer chain is not run at twice its length
_PROPORTIONAL = 0.02  # that the doubling ratio may lie from 2 without a second look
_MOST_DOUBLINGS, _LONGER_UP_TO_SECONDS = 3, 1.0  # of K, against what a chain costs whatever K is
_TURNS, _FEWER_TURNS = 3, 2  # of K and 2K steps; the fewer where a chain is too long for its cost to show
_AGAIN = 2  # times a ratio that cannot be true is taken anew, before it is believed
_ALONE, _ALONE_SECONDS = 30, 1.0  # calls that are waited for; after so long three are enough
_MOST_STEPS, _MOST_STEPS_UNSEEN = 2**30, 2**16  # of a sample; of one that did not move the clock at all
_LONG_ENOUGH = 0.9  # of what a sample must last, after the warm-up


@dataclass(frozen=True)
class Clock:
    """Two clocks that never go backwards, in seconds."""

    wall: Callable[[], float] = time.perf_counter
    process: Callable[[], float] = time.process_time


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long a process warms up and samples."""

    samples: int
    chain_seconds: float  # a sample lasts at least this long
    warmup_steps: int  # the warm-up ends, converged or not, when it has had this many steps ...
    warmup_seconds: float  # ... and has lasted this long
    sampling_seconds: float  # after this, three samples are enough


def fitting(plan: Plan, step_seconds: float, scopes: int, seconds: float) -> Plan:
    """Return the plan, or the shortest honest one if steps are so long that so many scopes do not fit into the seconds.

    The shortest takes one chain to warm up and one sample; its record says so.
    """
    chains = max(plan.warmup_steps, 1) + FEWEST_SAMPLES
    if step_seconds < plan.chain_seconds or scopes * chains * step_seconds <= seconds:
        return plan
    return replace(plan, samples=1, warmup_steps=1, warmup_seconds=0.0)


def asleep_seconds() -> float:
    """Return how long the machine has been suspended since its start, which the wall clock leaves out; 0 if unknown."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def timed(run: Callable[[], object], clock: Clock) -> Sample:
    """Return how long the call took by both clocks."""
    wall, process = clock.wall(), clock.process()
    run()
    return Sample(wall_seconds=clock.wall() - wall, process_seconds=clock.process() - process)


def warmed(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, tuple[Sample, ...], bool]:
    """Return K, the warm-up's samples, and whether they settled.

    A K that was found while the first calls were slow, so that samples are too short now, is found anew: one more chain
    tells. A chain too long to double needs none, and its calibration is the first of the warm-up.
    """
    steps, first = calibrated(chain, plan, clock, least)
    while True:
        long = first.wall_seconds > _DOUBLING_UP_TO_SECONDS
        taken, settled = warmup(chain, steps, plan, clock, first if long else None)
        last = taken[-1] if long else timed_chain(chain, steps, clock)
        if last.wall_seconds >= _LONG_ENOUGH * plan.chain_seconds:
            return steps, taken, settled
        steps, first = calibrated(chain, plan, clock, 2 * steps)


def steps_per_sample(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> int:
    """Return K, as `calibrated` does."""
    return calibrated(chain, plan, clock, least)[0]


def calibrated(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, Sample]:
    """Return K, doubled from `least` until K steps last as long as a sample must, and the chain that did.

    K is a multiple of `least`. Raises RuntimeError if the clock stands still, or if no number of steps lasts that long.
    """
    steps = least
    while (lasted := timed(partial(chain, steps), clock)).wall_seconds < plan.chain_seconds:
        if steps >= (_MOST_STEPS if lasted.wall_seconds > 0 else _MOST_STEPS_UNSEEN):
            raise _stopped(steps, lasted.wall_seconds)
        steps *= 2
    return steps, lasted


def timed_chain(chain: Chain, steps: int, clock: Clock) -> Sample:
    """Return how long a chain took that is long enough to be seen.

    Raises RuntimeError if the clock did not move meanwhile, or moved back.
    """
    sample = timed(partial(chain, steps), clock)
    if sample.wall_seconds <= 0:
        raise _stopped(steps, sample.wall_seconds)
    return sample


def _stopped(steps: int, lasted: float) -> RuntimeError:
    return RuntimeError(f"{steps} steps took {lasted:g} s by the clock: {NOTHING_COMPUTED}")


def warmup(
    chain: Chain, steps: int, plan: Plan, clock: Clock, first: Sample | None = None
) -> tuple[tuple[Sample, ...], bool]:
    """Return the warm-up's samples and whether its last two windows agree within 1 %; `first` was taken already."""
    samples: list[Sample] = []
    elapsed = 0.0
    while True:
        samples.append(first if first and not samples else timed_chain(chain, steps, clock))
        elapsed += samples[-1].wall_seconds
        if converged(samples):
            return tuple(samples), True
        if len(samples) * steps >= plan.warmup_steps and elapsed >= plan.warmup_seconds:
            return tuple(samples), False


def converged(samples: list[Sample]) -> bool:
    """Return whether the medians of the last two windows agree."""
    if len(samples) < 2 * _WINDOW:
        return False
    before = median(s.wall_seconds for s in samples[-2 * _WINDOW : -_WINDOW])
    after = median(s.wall_seconds for s in samples[-_WINDOW:])
    return abs(after / before - 1) <= _AGREE


def turns(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> list[tuple[float, float]]:
    """Return the seconds of K and of 2K steps, so many times in turn; none for a chain too long to double."""
    found: list[tuple[float, float]] = []
    for _ in range(count):
        once = timed_chain(chain, steps, clock).wall_seconds
        if once > _DOUBLING_UP_TO_SECONDS:
            return []
        found.append((once, timed_chain(chain, 2 * steps, clock).wall_seconds))
    return found


def doubling_ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return time(2K) / time(K), medians of the turns; None without any.

    Work that does not depend on the number of steps, or steps that are skipped, move it away from 2.
    """
    return median(twice for _, twice in pairs) / median(once for once, _ in pairs) if pairs else None


def looked_at(chain: Chain, steps: int, clock: Clock, count: int = _TURNS) -> float | None:
    """Return the doubling ratio; one that cannot be true is taken anew.

    What other programs did in between has passed by then. Work that does not depend on its steps says so each time.
    """
    ratio = doubling_ratio(turns(chain, steps, clock, count))
    for _ in range(_AGAIN):
        if ratio is None or ratio >= DOUBLING_FROM:
            break
        ratio = doubling_ratio(turns(chain, steps, clock, count))
    return ratio


def proportional(chain: Chain, steps: int, clock: Clock, lasted: float = 0.0) -> tuple[int, float | None]:
    """Return K and its doubling ratio; a K whose chains cost something beside their steps is doubled, at most thrice.

    A chain that `lasted` so many seconds that it would not be doubled has fewer turns, and no ratio if it cannot be run
    at twice its length.

    On a GPU the first step of a chain has nothing to hide its dispatch behind, which a sample of one step shows in full
    and training does not have. K is doubled where each turn says so, which noise seldom does. The ratio that a K is
    kept or given up for is not the one that is returned, unless it is close to 2: where chains vary, to return the
    first that is large enough would find most of them too large.
    """
    if lasted > _DOUBLING_UP_TO_SECONDS:
        return steps, None
    if 2 * lasted > _LONGER_UP_TO_SECONDS:
        return steps, looked_at(chain, steps, clock, _FEWER_TURNS)
    for _ in range(_MOST_DOUBLINGS):
        pairs = turns(chain, steps, clock)
        ratio = doubling_ratio(pairs)
        if ratio is None or abs(ratio - 2) <= _PROPORTIONAL:
            return steps, ratio
        short = all(twice < (2 - _PROPORTIONAL) * once for once, twice in pairs)
        if not short or timed_chain(chain, 2 * steps, clock).wall_seconds > _LONGER_UP_TO_SECONDS:
            break
        steps *= 2
    return steps, looked_at(chain, steps, clock)


def sustained(chain: Chain, steps: int, seconds: float, clock: Clock) -> float:
    """Keep the chain going for at least so long and return how long a step took."""
    elapsed, chains = 0.0, 0
    while elapsed < seconds:
        elapsed += timed(lambda: chain(steps), clock).wall_seconds
        chains += 1
    return elapsed / (chains * steps)


def alone(chain: Chain, call: int, plan: Plan, clock: Clock) -> tuple[Sample, ...]:
    """Return calls of so many steps that are each waited for before the next: how long one takes until it is there."""
    return tuple(samples(chain, call, replace(plan, samples=_ALONE, sampling_seconds=_ALONE_SECONDS), clock))


def samples(chain: Chain, steps: int, plan: Plan, clock: Clock) -> Iterator[Sample]:
    """Yield the samples that count; fewer than planned, but at least three, when they take too long."""
    elapsed = 0.0
    for number in range(plan.samples):
        if number >= FEWEST_SAMPLES and elapsed >= plan.sampling_seconds:
            return
        sample = timed_chain(chain, steps, clock)
        elapsed += sample.wall_seconds
        yield sample
