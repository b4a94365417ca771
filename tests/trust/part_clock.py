"""The clock's own code in scripted worlds: what happens there is known, so what it says can be judged."""

import gc
import random
import time
from collections.abc import Callable, Iterator

from suite.driver.profiles import CHAIN_SECONDS
from suite.results.evidence.trust import Finding
from suite.results.records.run import Run
from suite.results.single.summary import Summary
from suite.worker_api import clock
from trust.worlds import CALLS_BEFORE, STEP_SECONDS, World, measured, run

TITLE = "Does the clock see what happens?"
_PROCESSES = 10
_RESOLUTION = 1e-4  # of the shortest sample


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Run every world; whole, many times with other random numbers, of which all must come out right.

    Unfrozen is only at the end: each process of a world makes the collector look at all that is not frozen, which is
    the whole heap of the tests otherwise.
    """
    times = 1 if sample else 25
    try:
        findings = [repeated(tried, times) for tried in WORLDS]
        findings += [stopped(0), stopped(40), backwards(), never_enough(), resolution()]
    finally:
        gc.unfreeze()
    return {"worlds": len(findings), "times each was run": times, "processes in a record": _PROCESSES}, findings


Tried = Callable[[int], Finding]


def repeated(tried: Tried, times: int) -> Finding:
    """Return the first outcome of a world that is not as it has to be; the last if all are."""
    for seed in range(times):
        found = tried(seed)
        if not found.good:
            return found
    return found


def processes(make: Callable[[random.Random], World], seed: int, **options: tuple[int, ...]) -> tuple[Run, ...]:
    """Return the runs of a record's processes, each in a world of its own."""
    return tuple(run(make(random.Random(f"{seed}/{number}")), number, **options) for number in range(_PROCESSES))


def judged(what: str, expected: str, found: Summary, good: bool, by: str) -> Finding:
    """Return the finding on a record's summary."""
    seconds = found.seconds
    words = f"{found.state}, {seconds.value * 1000:.4f} ms"
    if seconds.low is not None:
        words += f" ({seconds.low * 1000:.4f} to {seconds.high * 1000:.4f})"
    if found.reasons:
        words += f"; {found.reasons[0]}"
    return Finding(what=what, expected=expected, found=words, by=by, good=good)


def near(found: Summary, share: float, truth: float = STEP_SECONDS) -> bool:
    """Return whether the time is the true one within a share."""
    return abs(found.seconds.value / truth - 1) <= share


def constant(seed: int) -> Finding:
    runs = processes(lambda rng: World(), seed)
    found = measured(runs)
    same = all(one.doubling_ratio is not None and abs(one.doubling_ratio - 2) < 1e-9 for one in runs)
    short = all(len(one.warmup) == 32 and clock.settled(one.warmup) and one.steps_per_sample == 128 for one in runs)
    good = found.steady and near(found, 1e-9) and same and short
    expected = (
        "nothing against it, 1 ms a step, twice the steps twice the time, 128 steps a sample, four seconds of warm-up"
    )
    return judged("a step that always takes 1 ms", expected, found, good, "mean, doubling check")


def noisy(seed: int) -> Finding:
    found = measured(processes(lambda rng: World(lambda call, now: rng.lognormvariate(0, 0.02)), seed))
    good = found.usable and near(found, 0.01) and found.seconds.relative_half_width < 0.01
    return judged("2 % noise in each sample", "within 1 % of 1 ms", found, good, "mean")


def drifting(seed: int) -> Finding:
    found = measured(processes(lambda rng: World(lambda call, now: 1 + 0.002 * max(0, call - CALLS_BEFORE)), seed))
    good = "samples changed" in "".join(found.reasons)
    return judged(
        "a step that grows by 0.2 % a sample", "a reason: its samples changed", found, good, "trend of the samples"
    )


def spikes(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        return World(lambda call, now: 5.0 if rng.random() < 0.1 else 1.0)

    found = measured(processes(make, seed))
    good = not found.steady and found.seconds.low <= 1.4 * STEP_SECONDS <= found.seconds.high
    expected = "a reason: one sample took long; the interval holds 1.4 ms, which training pays"
    return judged("one sample in ten takes five times as long", expected, found, good, "mean, longest sample")


def two_speeds(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        speed = rng.choice((1.0, 1.5))
        return World(lambda call, now: speed * rng.lognormvariate(0, 0.002))

    found = measured(processes(make, seed))
    slow = sum(1 for value in _values(found) if value > 1.25 * STEP_SECONDS)
    seen = not found.steady or slow in (0, _PROCESSES)
    return judged(
        "processes of two speeds, 1 and 1.5 ms", "a reason, unless all had one speed", found, seen, "half-width, spread"
    )


def two_speeds_within(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        return World(lambda call, now: rng.choice((1.0, 1.5)))

    found = measured(processes(make, seed))
    good = found.seconds.low <= 1.25 * STEP_SECONDS <= found.seconds.high or not found.steady
    expected = "a reason, or an interval that holds their mean"
    return judged("samples of two speeds, 1 and 1.5 ms", expected, found, good, "half-width, spread")


def _values(found: Summary) -> list[float]:
    return [one.samples[len(one.samples) // 2].wall_seconds / one.steps_per_sample for one in found.record.runs]


def coarse(seed: int) -> Finding:
    tick = 0.001
    found = measured(processes(lambda rng: World(lambda call, now: rng.lognormvariate(0, 0.001), tick=tick), seed))
    good = near(found, tick / CHAIN_SECONDS["cpu"])
    return judged(
        "a clock that ticks once a millisecond", "within a tick of a sample, 1 %", found, good, "long samples"
    )


def slow_start(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        slow = rng.randint(1, 10)
        return World(lambda call, now: 20.0 if call < slow else 1.0)

    runs = processes(make, seed)
    found = measured(runs)
    long = min(s.wall_seconds for one in runs for s in one.samples) >= 0.9 * CHAIN_SECONDS["cpu"]
    good = near(found, 1e-9) and long
    expected = "1 ms, and samples as long as they must be"
    return judged(
        "up to ten first calls that take 20 times as long", expected, found, good, "calibration after the warm-up"
    )


def slow_settling(seed: int) -> Finding:
    runs = processes(lambda rng: World(lambda call, now: 1 + 2 * 0.9**call), seed)
    found = measured(runs)
    good = near(found, 0.05) and all(clock.settled(one.warmup) for one in runs)
    return judged("a step that settles from 3 ms to 1 ms", "within 5 % of 1 ms", found, good, "warm-up")


def constant_cost(seed: int) -> Finding:
    found = measured(processes(lambda rng: World(overhead_seconds=0.02), seed))
    good = found.steady and near(found, 0.05)
    return judged(
        "20 ms a chain that no step takes", "within 5 % of 1 ms: longer chains", found, good, "doubling check"
    )


def much_constant_cost(seed: int) -> Finding:
    found = measured(processes(lambda rng: World(overhead_seconds=0.2), seed))
    good = found.state == "invalid" and "doubling" in found.reasons[0]
    return judged("200 ms a chain that no step takes", "invalid: doubling", found, good, "doubling check")


def compiles(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        return World(lambda call, now: 20.0 if call == CALLS_BEFORE + 5 else 1.0)

    found = measured(processes(make, seed, compiles_at=(CALLS_BEFORE + 5,)))
    good = found.state == "invalid" and " inside the samples" in found.reasons[0]
    return judged("a compilation among the samples", "invalid", found, good, "compile events")


def compiles_early(seed: int) -> Finding:
    def make(rng: random.Random) -> World:
        return World(lambda call, now: 20.0 if call == 10 else 1.0)

    found = measured(processes(make, seed, compiles_at=(10,)))
    good = found.steady and near(found, 1e-9)
    return judged("a compilation in the warm-up", "standard, 1 ms", found, good, "warm-ups are not summarised")


def long_steps(seed: int) -> Finding:
    runs = processes(lambda rng: World(step_seconds=30.0), seed)
    found = measured(runs)
    few = all(len(one.samples) == 3 and one.doubling_ratio is None for one in runs)
    good = few and near(found, 1e-9, 30.0)
    expected = "three samples, not doubled, 30 s"
    return judged("a step of 30 s", expected, found, good, "limits of the plan")


WORLDS: tuple[Tried, ...] = (
    constant, noisy, drifting, spikes, two_speeds, two_speeds_within, coarse, slow_start, slow_settling, constant_cost,
    much_constant_cost, compiles, compiles_early, long_steps,
)  # fmt: skip


class Stopping(World):
    """A world whose clock stands still from a chain on, or runs backwards all the time."""

    def __init__(self, stops_at: int, direction: float = 1.0) -> None:
        super().__init__()
        self.stops_at, self.direction, self.seen = stops_at, direction, 0.0

    def read(self) -> float:
        """Return the time as the clock shows it."""
        if self.calls < self.stops_at:
            self.seen = self.now
        return self.seen * self.direction


def stopped(call: int) -> Finding:
    """Return how a process ends whose clock stands still from a chain on."""
    when = "from the start" if call == 0 else "among the samples"
    return refused(f"a clock that stands still {when}", Stopping(call))


def backwards() -> Finding:
    """Return how a process ends whose clock runs backwards."""
    return refused("a clock that runs backwards", Stopping(10**9, -1.0))


def never_enough() -> Finding:
    """Return how a process ends whose chain takes the same time whatever its steps: nothing is computed."""
    return refused("a chain that takes 1 µs however many steps it has", World(lambda call, now: 0.0, 1e-6))


def refused(what: str, world: World) -> Finding:
    """Return whether a process ended in one line that says what is wrong."""
    try:
        found, good = f"measured {run(world, 0).samples[0]}", False
    except RuntimeError as error:
        found, good = str(error), "stands still" in str(error)
    return Finding(what=what, expected="the process ends and says so", found=found, by="clock", good=good)


def resolution() -> Finding:
    """Return how finely the real clock can be read, beside the shortest sample."""
    finest = min(steps_of_clock())
    shortest = min(CHAIN_SECONDS.values())
    return Finding(
        what="the real clock of this machine",
        expected=f"moves in steps below {_RESOLUTION * shortest * 1e6:g} µs, {_RESOLUTION:.2%} of the shortest sample",
        found=f"{finest * 1e6:.3f} µs",
        by="two readings",
        good=0 < finest <= _RESOLUTION * shortest,
    )


def steps_of_clock(readings: int = 1000) -> Iterator[float]:
    """Yield the differences between readings of the clock that differ."""
    before = time.perf_counter()
    for _ in range(readings):
        while (after := time.perf_counter()) == before:
            pass
        yield after - before
        before = after
