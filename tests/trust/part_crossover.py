"""Simulated sweeps over the batch with a known crossing: does the interval hold it?"""

import random
from collections.abc import Iterable

from suite.results.evidence.trust import Finding
from suite.results.stats.fit import Crossing, crossing
from suite.results.stats.statistics import geometric_mean

TITLE = "Does the interval of the batch from which the GPU wins hold the true one?"

_BATCHES = (1, 4, 16, 64, 256, 1024)
_TRUE = 40.0  # the batch at which the simulated speed-up is 1
_LEAST = 0.94  # of all intervals, which promise 95 %
_MOST_FALSE = 0.05  # of sweeps that cross nowhere, said to cross
_SPREAD = 0.05  # between the processes of a case


def sweep(rng: random.Random, rounds: int, exponent: float, heavy: bool, true: float = _TRUE) -> Crossing:
    """Return the crossing read off a simulated sweep whose speed-up is (batch / true) ^ exponent."""

    def noise() -> float:
        wild = 4.0 if heavy and rng.random() < 0.1 else 1.0
        return rng.lognormvariate(0, wild * _SPREAD)

    return crossing(
        [(batch, geometric_mean([(batch / true) ** exponent * noise() for _ in range(rounds)])) for batch in _BATCHES]
    )


def held(found: Crossing) -> bool:
    """Return whether the true batch lies in the interval, open ends included."""
    return found.outcome == "from" and (found.low or 0) <= _TRUE <= (found.high or float("inf"))


def prove(sample: bool) -> tuple[dict[str, float | int | str], Iterable[Finding]]:
    """Return coverage in several worlds, and how often a sweep without a crossing is said to have one."""
    times, rng, findings, worst = 100 if sample else 10_000, random.Random(1), [], 1.0
    for rounds in (3, 10):
        for exponent in (0.5, 1.0):
            for heavy in (False, True):
                found = [sweep(rng, rounds, exponent, heavy) for _ in range(times)]
                share = sum(map(held, found)) / times
                worst = min(worst, share)
                kind = "one process in ten four times as noisy" if heavy else "log-normal noise"
                findings.append(
                    Finding(
                        what=f"{rounds} rounds, speed-up growing with the batch to the power {exponent:g}, {kind}",
                        expected=f"at least {_LEAST:.0%} of the intervals hold the true batch",
                        found=f"{share:.1%}",
                        good=share >= _LEAST - (0.02 if sample else 0),
                    )
                )
    wrong = sum(sweep(rng, 3, 0.0, False).outcome in ("always", "never") for _ in range(times)) / times
    findings.append(
        Finding(
            what="a speed-up of 1 at every batch",
            expected=f"'always' or 'never' in at most {_MOST_FALSE:.0%}",
            found=f"{wrong:.1%}",
            good=wrong <= _MOST_FALSE,
        )
    )
    return {
        "sweeps simulated": times * 9,
        "worst share of intervals that hold the true batch": round(worst, 3),
    }, findings
