"""Rounds added until a number is certain: does the rule by which a campaign stops leave its intervals too short?

Three processes agree by luck now and then. Who stops a cell as soon as its own interval is narrow keeps the lucky ones,
whose intervals are too short. A campaign stops by the spread of all cells of a kind, which no lucky cell narrows.
Simulated are both, on campaigns of several cells and through the functions that decide and that make the site's
intervals: in how many cases does the interval hold the truth?
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from suite.driver.schedule import FEWEST_ROUNDS
from suite.results.evidence.trust import HOLDING, Finding
from suite.results.pooled.spreads import Spreads, half_width, kind, pooled
from suite.results.stats.statistics import geometric_mean

TITLE = "Do rounds that are added until a number is certain leave its interval too short?"
SPREADS = (0.03, 0.05, 0.08, 0.12, 0.2)  # of the logarithms of processes
WITHIN = 0.10
_LEAST, _MARGIN = 0.94, 0.03  # of intervals that are to hold in 95 of 100 cases; more of a sample
_CELLS, _MOST = 7, 40  # of a campaign; rounds that its budget has time for, of a cell
_CAMPAIGNS, _SAMPLE = 1500, 50

Campaign = Sequence[Sequence[float]]  # the times that each cell has by now
Rule = Callable[[Campaign], int | None]  # the cell that gets one more round; None if the campaign stops


def by_pooled_spread(cells: Campaign) -> int | None:
    """Return the cell that is known least by the spread of its kind, as a campaign does."""
    known = Spreads(pooled={kind("cpu", "step"): pooled(cells) or 0.0}, borrowed=frozenset())
    return _widest(cells, [half_width(known.of("cpu", "step", cell), len(cell)) for cell in cells])


def by_own_interval(cells: Campaign) -> int | None:
    """Return the cell with the widest interval."""
    return _widest(cells, [geometric_mean(list(cell)).relative_half_width or np.inf for cell in cells])


def _widest(cells: Campaign, widths: Sequence[float]) -> int | None:
    wide = [
        (len(cell) == 1, width, place)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        if len(cell) < _MOST and (width > WITHIN or len(cell) < FEWEST_ROUNDS)
    ]
    return max(wide, default=(False, 0.0, None))[-1]


def ended(times: np.ndarray, rule: Rule) -> list[list[float]]:
    """Return the times that each cell has when a rule ends the campaign; `times` are float[cells, rounds]."""
    cells = [[float(row[0])] for row in times]
    while (place := rule(cells)) is not None:
        cells[place].append(float(times[place, len(cells[place])]))
    return cells


def simulated(spread: float, rule: Rule, count: int) -> tuple[float, float]:
    """Return the share of intervals that hold the truth, and how many processes a cell has, by a rule."""
    rng = np.random.default_rng(round(1000 * spread))
    held, rounds = [], []
    for _ in range(count):
        for cell in ended(np.exp(rng.normal(0, spread, (_CELLS, _MOST))), rule):
            found = geometric_mean(cell)
            held.append(found.low <= 1 <= found.high)
            rounds.append(len(cell))
    return float(np.mean(held)), float(np.mean(rounds))


def prove(sample: bool) -> tuple[dict[str, float | int | str], Iterable[Finding]]:
    """Simulate both rules for each spread."""
    count, margin = (_SAMPLE, _MARGIN) if sample else (_CAMPAIGNS, 0.0)
    findings, figures = [], {}
    for spread in SPREADS:
        held, rounds = simulated(spread, by_pooled_spread, count)
        alone, _ = simulated(spread, by_own_interval, count)
        findings.append(
            Finding(
                what=f"{HOLDING}; processes differ by {spread:.0%}; rounds are added by the spread of the kind",
                expected=f"at least {_LEAST:.0%}",
                found=f"{held:.1%}",
                by=f"{count * _CELLS} cases",
                good=bool(held >= _LEAST - margin),
            )
        )
        figures[f"held where processes differ by {spread:.0%}"] = (
            f"{held:.1%} by the rule of campaigns, the spread of the kind, with {rounds:.1f} processes a case; "
            f"{alone:.1%} if each case stopped by its own interval, as none does"
        )
    return figures, findings
