"""The only reader of the clock: calibration, warm-up and samples of a chain of dependent steps."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from suite.results.records.run import Sample
from suite.results.single.validity import FEWEST_SAMPLES, NOTHING_COMPUTED

Chain = Callable[[int], None]  # runs that many dependent steps and returns when their outputs are ready

_FALLING = 0.01  # a warm-up goes on while its last quarter is this much faster than the quarter before
LONG_CHAIN_SECONDS = 2.0  # a longer chain is neither calibrated nor doubled
_BLOCKING_SAMPLES, _BLOCKING_SECONDS = 30, 1.0  # blocking calls; after this many seconds three are enough
_MOST_STEPS, _MOST_STEPS_UNSEEN = 2**30, 2**16  # of a sample; of one that did not move the clock at all
_LONG_ENOUGH = 0.9  # of the least length of a sample, after the warm-up


@dataclass(frozen=True)
class Clock:
    """Two monotonic clocks, in seconds."""

    wall: Callable[[], float] = time.perf_counter
    process: Callable[[], float] = time.process_time


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long a process warms up and samples."""

    samples: int
    chain_seconds: float  # least length of a sample
    warmup_steps: int  # least number of warm-up steps, ...
    warmup_least_seconds: float = 0.0  # ... least length; the warm-up ends when times no longer fall ...
    warmup_seconds: float  # ... or after this many seconds
    sampling_seconds: float  # after these, three samples are enough


def fitting(plan: Plan, step_seconds: float, scopes: int, seconds: float) -> Plan:
    """Return the plan, or the shortest honest one if so many scopes of such steps do not fit into the seconds.

    The shortest takes one chain to warm up and one sample; its record says so.
    """
    warmup = max(max(plan.warmup_steps, 1) * step_seconds, plan.warmup_least_seconds)
    if step_seconds < plan.chain_seconds or scopes * (warmup + FEWEST_SAMPLES * step_seconds) <= seconds:
        return plan
    return replace(plan, samples=1, warmup_steps=1, warmup_least_seconds=0.0, warmup_seconds=0.0)


def asleep_seconds() -> float:
    """Return the seconds suspended since boot, which the wall clock omits; 0 if unknown."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def timed(run: Callable[[], object], clock: Clock) -> Sample:
    """Return the time of the call by both clocks."""
    wall, process = clock.wall(), clock.process()
    run()
    return Sample(wall_seconds=clock.wall() - wall, process_seconds=clock.process() - process)


def calibrate(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, tuple[Sample, ...]]:
    """Return K and the warm-up's samples.

    If K was found while early calls were slow, samples may be too short now: one more chain checks, and K is found
    again. A chain too long to double needs no check, and its calibration counts as the first warm-up sample.
    """
    steps, first = first_long_chain(chain, plan, clock, least)
    while True:
        long = first.wall_seconds > LONG_CHAIN_SECONDS
        taken = warmup(chain, steps, plan, clock, first if long else None)
        last = taken[-1] if long else timed_chain(chain, steps, clock)
        if last.wall_seconds >= _LONG_ENOUGH * plan.chain_seconds:
            return steps, taken
        had = sum(min(sample.wall_seconds, 2 * plan.chain_seconds) for sample in taken)  # without compilation
        plan = replace(plan, warmup_least_seconds=plan.warmup_least_seconds - had)
        steps, first = first_long_chain(chain, plan, clock, 2 * steps)


def steps_per_sample(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> int:
    """Return K, as `first_long_chain` does."""
    return first_long_chain(chain, plan, clock, least)[0]


def first_long_chain(chain: Chain, plan: Plan, clock: Clock, least: int = 1) -> tuple[int, Sample]:
    """Return K and the first chain that is long enough; K is doubled, starting at `least`.

    K is a multiple of `least`. Raises RuntimeError if the clock stands still, or if no K is long enough.
    """
    steps = least
    while (lasted := timed(partial(chain, steps), clock)).wall_seconds < plan.chain_seconds:
        if steps >= (_MOST_STEPS if lasted.wall_seconds > 0 else _MOST_STEPS_UNSEEN):
            raise _stopped(steps, lasted.wall_seconds)
        steps *= 2
    return steps, lasted


def timed_chain(chain: Chain, steps: int, clock: Clock) -> Sample:
    """Return the time of a chain that must move the clock.

    Raises RuntimeError if the clock did not move, or moved back.
    """
    sample = timed(partial(chain, steps), clock)
    if sample.wall_seconds <= 0:
        raise _stopped(steps, sample.wall_seconds)
    return sample


def _stopped(steps: int, lasted: float) -> RuntimeError:
    return RuntimeError(f"{steps} steps took {lasted:g} s by the clock: {NOTHING_COMPUTED}")


def warmup(chain: Chain, steps: int, plan: Plan, clock: Clock, first: Sample | None = None) -> tuple[Sample, ...]:
    """Return the warm-up's samples: until times no longer fall or the limit is reached; `first` is taken already.

    PyTorch on many cores gets faster for seconds, by less from chain to chain than chains vary. Windows that agree do
    not show that this has ended, so the warm-up has a least duration.
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
    """Return whether the last quarter's median is no longer below that of the quarter before; False for one sample."""
    if len(samples) < 2:
        return False
    quarter = max(1, len(samples) // 4)
    before = median(sample.wall_seconds for sample in samples[-2 * quarter : -quarter])
    return median(sample.wall_seconds for sample in samples[-quarter:]) >= (1 - _FALLING) * before


def sustained(chain: Chain, steps: int, seconds: float, clock: Clock) -> float:
    """Run the chain for at least that long; return the seconds of a step."""
    elapsed, chains = 0.0, 0
    while elapsed < seconds:
        elapsed += timed(lambda: chain(steps), clock).wall_seconds
        chains += 1
    return elapsed / (chains * steps)


def blocking_samples(chain: Chain, call: int, plan: Plan, clock: Clock) -> tuple[Sample, ...]:
    """Return blocking samples: calls of so many steps, each waited for before the next."""
    return tuple(
        samples(chain, call, replace(plan, samples=_BLOCKING_SAMPLES, sampling_seconds=_BLOCKING_SECONDS), clock)
    )


def samples(chain: Chain, steps: int, plan: Plan, clock: Clock) -> Iterator[Sample]:
    """Yield the counted samples; at least three, and fewer than planned if they take too long."""
    elapsed = 0.0
    for number in range(plan.samples):
        if number >= FEWEST_SAMPLES and elapsed >= plan.sampling_seconds:
            return
        sample = timed_chain(chain, steps, clock)
        elapsed += sample.wall_seconds
        yield sample
