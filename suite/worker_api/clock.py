"""Where every time that counts is read: calibration, warm-up and samples of a chain of dependent steps."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from suite.results.records.run import Sample
from suite.results.single.validity import FEWEST_SAMPLES, NOTHING_COMPUTED

Chain = Callable[[int], None]  # runs that many dependent steps and returns when every output is there

_FALLING = 0.01  # by which the last quarter of a warm-up is below the one before it while it still goes on
LONG_CHAIN_SECONDS = 2.0  # one that takes longer is run neither to calibrate nor at twice its length
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
    warmup_steps: int  # the warm-up has at least so many steps, ...
    warmup_least_seconds: float = 0.0  # ... lasts at least so long, and ends when times no longer fall ...
    warmup_seconds: float  # ... or when it has lasted so long
    sampling_seconds: float  # after this, three samples are enough


def fitting(plan: Plan, step_seconds: float, scopes: int, seconds: float) -> Plan:
    """Return the plan, or the shortest honest one if steps are so long that so many scopes do not fit into the seconds.

    The shortest takes one chain to warm up and one sample; its record says so.
    """
    warmup = max(max(plan.warmup_steps, 1) * step_seconds, plan.warmup_least_seconds)
    if step_seconds < plan.chain_seconds or scopes * (warmup + FEWEST_SAMPLES * step_seconds) <= seconds:
        return plan
    return replace(plan, samples=1, warmup_steps=1, warmup_least_seconds=0.0, warmup_seconds=0.0)


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


def calibrate(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, tuple[Sample, ...]]:
    """Return K and the warm-up's samples.

    A K that was found while the first calls were slow, so that samples are too short now, is found anew: one more chain
    tells. A chain too long to double needs none, and its calibration is the first of the warm-up.
    """
    steps, first = first_long_chain(chain, plan, clock, least)
    while True:
        long = first.wall_seconds > LONG_CHAIN_SECONDS
        taken = warmup(chain, steps, plan, clock, first if long else None)
        last = taken[-1] if long else timed_chain(chain, steps, clock)
        if last.wall_seconds >= _LONG_ENOUGH * plan.chain_seconds:
            return steps, taken
        had = sum(min(sample.wall_seconds, 2 * plan.chain_seconds) for sample in taken)  # compiling does not count
        plan = replace(plan, warmup_least_seconds=plan.warmup_least_seconds - had)
        steps, first = first_long_chain(chain, plan, clock, 2 * steps)


def steps_per_sample(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> int:
    """Return K, as `first_long_chain` does."""
    return first_long_chain(chain, plan, clock, least)[0]


def first_long_chain(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, Sample]:
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


def warmup(chain: Chain, steps: int, plan: Plan, clock: Clock, first: Sample | None = None) -> tuple[Sample, ...]:
    """Return the warm-up's samples, until their times have ceased to fall or it is too long; `first` was taken already.

    A step of PyTorch on many cores becomes faster for seconds, by less from chain to chain than chains vary: windows
    that agree do not show that it has ended, so that it has a least duration.
    """
    samples: list[Sample] = []
    elapsed = 0.0
    while True:
        samples.append(first if first and not samples else timed_chain(chain, steps, clock))
        elapsed += samples[-1].wall_seconds
        if len(samples) * steps < plan.warmup_steps or elapsed < plan.warmup_least_seconds:
            continue
        if settled(samples) or elapsed >= plan.warmup_seconds:
            return tuple(samples)


def settled(samples: Sequence[Sample]) -> bool:
    """Return whether the last quarter's median is no longer below that of the quarter before; False for one alone."""
    if len(samples) < 2:
        return False
    quarter = max(1, len(samples) // 4)
    before = median(sample.wall_seconds for sample in samples[-2 * quarter : -quarter])
    return median(sample.wall_seconds for sample in samples[-quarter:]) >= (1 - _FALLING) * before


def sustained(chain: Chain, steps: int, seconds: float, clock: Clock) -> float:
    """Keep the chain going for at least so long and return how long a step took."""
    elapsed, chains = 0.0, 0
    while elapsed < seconds:
        elapsed += timed(lambda: chain(steps), clock).wall_seconds
        chains += 1
    return elapsed / (chains * steps)


def blocking_samples(chain: Chain, call: int, plan: Plan, clock: Clock) -> tuple[Sample, ...]:
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
