"""Does the number of a kind of machine hold on its next host? Simulated through the functions that make the site's.

Each world is of cells whose hosts differ. Asked is how often the interval holds the true time, the range a further
campaign of one round on a further host, and the same of ratios of two kinds that were measured apart. Where too little
is known the suite states no interval and claims nothing: such a cell is no miss, and its share is shown beside.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from suite.results.evidence.trust import Finding
from suite.results.stats.pooling import Pooled, moments, pooled, ratio, smallest_change
from suite.results.stats.variance_components import components
from trust.hosts import SIGMA, TAU, WORLDS, World, drawn, known
from trust.noise import spread_over_cores

TITLE = "Does the number of a kind of machine hold on its next host?"
LEADING = "true values inside, at the worst"
LOW, HIGH = 0.93, 0.97  # of intervals and ranges that are to cover 95 %
MOST_ALARMS, FOUND = 0.05, 0.8
MOST_WIDENED = 0.10  # of the other cells, by one campaign that is ten times off
CASES, _SAMPLE = 3000, 30  # of each number of hosts in a world
_PARTS = 6
_MOST_A_DRAW = 8  # cases that one draw counts for
_MARGIN = 4  # standard errors that a sample may be beyond its bar

Key = tuple[str, int]  # what was asked, and of how many hosts


class Draw(NamedTuple):
    """What became of the cells of one size in one draw of a world, as shares."""

    held: float | None  # of the stated intervals; None if none was stated
    withheld: float  # of all cells


SPREADS = {"CPU steps": (TAU, SIGMA), "GPU steps": (0.006, 0.009)}  # tau and sigma, as on hosts with an H100
PAIRS = {  # rounds of each host, of the new and of the old
    "a campaign of 1 round against 3 hosts": ([1], [1] * 3),
    "a campaign of 1 round against 6 hosts": ([1], [1] * 6),
    "a campaign of 3 rounds against 6 hosts": ([3], [1] * 6),
    "two campaigns of 1 round": ([1], [1]),
    "two campaigns of 3 rounds": ([3], [3]),
}
_PAIRS_A_DRAW = 3
OUTLIERS = ((1, 1, 2, 2, 3, 3, 6, 6, 10, 10), (3,) * 10, (3,) * 5)  # hosts of each cell; the last is off
OTHER = 0.5  # noise of a ratio's other side, as a share of the first one's


def simulated(job: tuple[int, int, int]) -> dict[Key, list[Draw]]:
    """Return for each question and number of hosts what each draw of a world found."""
    world, draws, seed = WORLDS[job[0]], *job[1:]
    rng = np.random.default_rng((seed, job[0]))
    other = replace(world, tau=OTHER * world.tau, sigma=OTHER * world.sigma, lent=OTHER * world.lent)
    outcomes: dict[Key, list[Draw]] = defaultdict(list)
    for _ in range(draws):
        hits: dict[Key, list[bool | None]] = defaultdict(list)
        one, two = drawn(world, rng), drawn(other, rng)
        mine, theirs = known(world, one, rng), known(other, two, rng)
        cells = zip(one.cells, two.cells, one.further, two.further, strict=True)
        for cell, against, further, apart in cells:
            alone, both = pooled(cell, mine), ratio((cell, mine), (against, theirs))
            for words, found, next_one in (("", alone, further), (" of a ratio", both, further / apart)):
                hits[f"interval{words}", len(cell)].append(within(1.0, found.low, found.high))
                hits[f"range{words}", len(cell)].append(within(next_one, found.range_low, found.range_high))
        for key, found in hits.items():
            stated = [hit for hit in found if hit is not None]
            outcomes[key].append(Draw(fmean(stated) if stated else None, 1 - len(stated) / len(found)))
    return dict(outcomes)


def within(value: float, low: float | None, high: float | None) -> bool | None:
    """Return whether the interval holds the value; None if none is stated."""
    return None if low is None or high is None else low <= value <= high


def draws_of(world: World, sample: bool) -> int:
    """Return how often a world is drawn: so that each number of hosts has enough cells."""
    fewest = min(world.sizes.count(size) for size in set(world.sizes))
    # Cells that share hosts tell less, so that a twentieth as many draws of 20 of them would be too few.
    return max((_SAMPLE if sample else CASES) // min(fewest, _MOST_A_DRAW) // _PARTS, 1) * _PARTS


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Simulate every world, the rule of changes, and one campaign that is ten times off."""
    jobs = [
        (place, draws_of(world, sample) // _PARTS, seed) for place, world in enumerate(WORLDS) for seed in range(_PARTS)
    ]
    answers = spread_over_cores(simulated, jobs, 1 if sample else None)
    findings: list[Finding] = []
    for place, world in enumerate(WORLDS):
        mine = answers[place * _PARTS : (place + 1) * _PARTS]
        for key in mine[0]:
            findings.append(covered(world, key, [draw for answer in mine for draw in answer[key]], sample))
    asked = list(findings)
    figures: dict[str, float | int | str] = {
        "worlds": len(WORLDS),
        LEADING: worst(asked),
        "coverages as they have to be": f"{sum(one.good for one in asked)} of {len(asked)}",
    }
    draws = (_SAMPLE if sample else CASES) // _PAIRS_A_DRAW
    for whose, (tau, sigma) in SPREADS.items():
        for case, alarms, least in changes(tau, sigma, draws):
            findings.append(quiet(f"{whose}; {case}", alarms, draws * _PAIRS_A_DRAW, sample))
            figures[f"smallest slow-down that {FOUND:.0%} of trials find; {whose}; {case}"] = f"{least - 1:.1%} longer"
    for sizes in OUTLIERS:
        others, own = widened(sizes, 20 if sample else 400)
        findings.append(outlier(len(sizes), others))
        figures[f"a campaign ten times off widens its own of {len(sizes)} cells"] = f"{1 + own:.1f} times"
    return figures, findings


def worst(findings: Iterable[Finding]) -> str:
    """Return the coverage that is furthest from 95 %, and where."""
    found = max(findings, key=lambda one: abs(float(one.found.split("%")[0]) - 95))
    return f"{found.found.split(' ')[0]} (95% {found.what})"


def covered(world: World, key: Key, draws: list[Draw], sample: bool) -> Finding:
    """Return the finding of one question in one world."""
    shares = [draw.held for draw in draws if draw.held is not None]
    share, error = fmean(shares), float(np.std(shares)) / math.sqrt(len(shares))
    withheld = fmean(draw.withheld for draw in draws)
    margin = _MARGIN * max(error, 1 / len(shares)) if sample else 0.0
    question, hosts = key
    return Finding(
        what=f"{question}; {world.name}; {hosts} {'host' if hosts == 1 else 'hosts'}",
        expected=f"{LOW:.0%} to {HIGH:.0%}",
        found=f"{share:.1%} ± {error:.1%}" + (f", {withheld:.1%} of cells without an interval" if withheld else ""),
        by=f"{len(draws)} draws",
        good=LOW - margin <= share <= HIGH + margin,
    )


def changes(tau: float, sigma: float, draws: int) -> list[tuple[str, float, float]]:
    """Return for each kind of pair its name, the share of equals called a change, and the slow-down that is found."""
    rng = np.random.default_rng(1)
    world = replace(WORLDS[0], tau=tau, sigma=sigma)
    beyond: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(draws):
        among = drawn(world, rng).among
        for case, (new, old) in PAIRS.items():
            for _ in range(_PAIRS_A_DRAW):
                one, other = (hosts_of(rounds, tau, sigma, rng) for rounds in (new, old))
                least = smallest_change(one, other, among)
                assert least is not None
                beyond[case].append((moments(one, among)[0] - moments(other, among)[0], math.log(least)))
    return [
        (
            case,
            fmean(abs(difference) > least for difference, least in found),
            math.exp(float(np.quantile([least - difference for difference, least in found], FOUND))),
        )
        for case, found in beyond.items()
    ]


def hosts_of(rounds: Sequence[int], tau: float, sigma: float, rng: np.random.Generator) -> list[list[float]]:
    """Return the times of hosts with so many rounds each."""
    return [np.exp(rng.normal(0, tau) + rng.normal(0, sigma, count)).tolist() for count in rounds]


def quiet(case: str, alarms: float, pairs: int, sample: bool) -> Finding:
    """Return whether few enough pairs of equals were called a change."""
    margin = _MARGIN * math.sqrt(MOST_ALARMS / pairs) if sample else 0.0
    return Finding(
        what=f"equals; {case}",
        expected=f"called a change in at most {MOST_ALARMS:.0%}",
        found=f"{alarms:.2%}",
        by=f"{pairs} pairs",
        good=alarms <= MOST_ALARMS + margin,
    )


def widened(sizes: Sequence[int], draws: int) -> tuple[float, float]:
    """Return by how much one campaign that is ten times off widens the intervals of other cells, and of its own."""
    rng, others, own = np.random.default_rng(2), [], []
    for _ in range(draws):
        kind = drawn(replace(WORLDS[0], sizes=sizes), rng)
        (first, *rest), *cells = kind.cells[::-1]
        off = [[[10 * value for value in first], *rest], *cells][::-1]
        before, after = kind.among, components(off, kind.names)
        widths = [
            math.log(_width(pooled(cell, after)) / _width(pooled(same, before)))
            for cell, same in zip(off, kind.cells, strict=True)
        ]
        others.append(fmean(widths[:-1]))
        own.append(widths[-1])
    return math.expm1(fmean(others)), math.expm1(fmean(own))


def _width(found: Pooled) -> float:
    assert found.low is not None
    assert found.high is not None
    return math.log(found.high / found.low)


def outlier(cells: int, wider: float) -> Finding:
    """Return whether one campaign that is ten times off widens its own cell alone."""
    return Finding(
        what=f"one campaign ten times off; {cells} cells",
        expected=f"intervals of the other cells less than {MOST_WIDENED:.0%} wider",
        found=f"{wider:.1%}",
        good=wider < MOST_WIDENED,
    )
