"""Whole grid searches: their times, and each point's scores one after another and stacked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median

from suite import units
from suite.analysis.steps import campaigns, caveat, fullest, in_all, said_of, words
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.summary import Summary, summary, time_ratio
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate
from suite.results.views.rows import count_cell, number_cell, row_of, share_cell
from suite.results.views.table import ON_ONE_HOST, Cell, base_cells, one_host_cell, time_cell, times_cells

_PARTS = (("lower", "compile", "compile_rest"), ("epoch",), ("validation",))  # stages of each part of a search
WAYS = {"plain": "one after another", "stacked": "stacked"}  # by variant
_IN_WORDS = {"plain": "one fit after another", "stacked": "with its fits stacked"}
WHOLE = (
    "model", "backend", "way", "whole search", "compiling", "steps", "scores", "speed", "95 % interval", "GPU busy",
    "searches", ON_ONE_HOST,
)  # fmt: skip
WITHIN, ONE_SEED = "within the spread", "one seed"  # verdicts on a point
SCORES = ("model", "backend", "point", "verdict", "one after another", "range", "stacked", "range")


def searched(
    records: Sequence[Record], speedups: Iterable[PooledSpeedUp]
) -> tuple[tuple[tuple[Cell, ...], ...], tuple[tuple[Cell, ...], ...], list[str]]:
    """Return the rows of whole searches, the rows of their points' scores, and sentences on both."""
    rows, scores, sentences = [], [], []
    for group in fullest(records, is_search):
        ways = {item.record.case.variant: item for item in group}
        base, name, backend = ways.get("plain"), group[0].record.workload, group[0].record.backend
        for way, item in sorted(ways.items()):
            share = gpu_share(item.record)
            ratio = time_ratio(base, item) if base is not None and item is not base else None
            parts = (number_cell(_spent(item, stages), units.seconds, why="no search says so") for stages in _PARTS)
            gain = base_cells(item.record) if item is base else times_cells(ratio, item.record)
            busy = share_cell(share, "no GPU takes part, or none was watched throughout")
            cells = (time_cell(item), *parts, *gain, busy, count_cell(len(_scores(item))), one_host_cell(item))
            rows.append(row_of(name, backend, WAYS[way], *cells))
            if base is not None and ratio is not None:
                known = in_all(_gains_of(records, name, backend))
                answer = f"{name} on the {backend.upper()}: stacked, the whole search is {words(ratio)} as fast{known}"
                compiling = [_spent(each, _PARTS[0]) for each in (base, item)]
                if None not in compiling:
                    one, other = (units.seconds(seconds) for seconds in compiling)
                    answer += f"; {one} of it are compiling one after another, {other} stacked"
                sentences.append(f"{answer}.{caveat(group)}")
        if len(ways) == len(WAYS):
            points = tuple(_compared(name, backend, *(_scores_of_all(records, ways[way]) for way in WAYS)))
            scores += points
            sentences += _verdict(points)
    for name, by_way in gains(speedups).items():
        text = gain_words(by_way)
        sentences.append(f"{name}: {text[0].lower()}{text[1:]}{said_of(by_way.values())}")
    return tuple(rows), tuple(scores), sentences


def gains(speedups: Iterable[PooledSpeedUp]) -> dict[str, dict[str, PooledSpeedUp]]:
    """Return the speed-ups of whole searches by workload and variant."""
    by_workload: dict[str, dict[str, PooledSpeedUp]] = {}
    searches = (item for item in speedups if is_search(item.record) and item.state != "invalid")
    for item in sorted(searches, key=lambda item: list(WAYS).index(item.case.variant)):
        by_workload.setdefault(item.workload, {})[item.case.variant] = item
    return by_workload


def gain_words(by_way: Mapping[str, PooledSpeedUp]) -> str:
    """Return a sentence on the GPU's gain in each way."""
    return " ".join(
        f"{_IN_WORDS[way].capitalize()}, the GPU makes the whole search {words(item.ratio.estimate)} as fast as the "
        "CPU does."
        for way, item in by_way.items()
    )


def _spent(item: Summary, stages: Sequence[str]) -> float | None:
    """Return the seconds of these stages, the median over searches; None if none has them."""
    sums = [
        sum(stage.wall_seconds for stage in run.stages if stage.name in stages)
        for run in item.record.runs
        if run.samples and any(stage.name in stages for stage in run.stages)
    ]
    return median(sums) if sums else None


def _scores(item: Summary) -> dict[int, dict[str, float]]:
    """Return each point's mean log loss by seed of its search."""
    return {
        run.seed: {f"{' + '.join(map(str, s.hidden))}, {s.epochs} epochs": fmean(s.log_losses) for s in run.scores}
        for run in item.record.runs
        if run.scores and not run.reason
    }


def _scores_of_all(records: Iterable[Record], item: Summary) -> tuple[dict[str, float], ...]:
    """Return the scores of every seed that any campaign searched with, each of its newest search."""
    same_case = (
        record for record in records if is_search(record) and record.machine_and_case == item.record.machine_and_case
    )
    scores = dict[int, dict[str, float]]()
    for other in sorted(map(summary, same_case), key=lambda other: other.record.sort_key):
        scores |= _scores(other) if other.state != "invalid" else {}
    return tuple(scores.values())


def _gains_of(records: Iterable[Record], name: str, backend: str) -> Iterator[Estimate]:
    """Yield stacking's gain of a whole search in each campaign that has both ways."""
    mine = (record for record in records if (record.workload, record.backend) == (name, backend))
    for group in campaigns(mine, is_search):
        ways = {item.record.case.variant: item for item in group}
        ratio = time_ratio(ways["plain"], ways["stacked"]) if len(ways) == len(WAYS) else None
        if ratio is not None:
            yield ratio


def _compared(
    name: str, backend: str, one: Sequence[dict[str, float]], other: Sequence[dict[str, float]]
) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each point: its mean log losses over searches, and whether they are within the spread."""
    for point_words in one[0] if one and other else ():
        alone, stacked = ([search[point_words] for search in side if point_words in search] for side in (one, other))
        if not stacked:
            continue
        apart, several = abs(fmean(alone) - fmean(stacked)), min(len(alone), len(stacked)) > 1
        spread = max(max(alone) - min(alone), max(stacked) - min(stacked))
        verdict = (WITHIN if apart <= spread else "apart") if several else ONE_SEED
        means = (
            cell
            for side in (alone, stacked)
            for cell in (
                number_cell(fmean(side), units.number),
                f"{units.number(min(side))} to {units.number(max(side))}" if several else units.DASH,
            )
        )
        yield row_of(name, backend, point_words, verdict, *means)


def _verdict(rows: Sequence[tuple[Cell, ...]]) -> Iterator[str]:
    """Yield a sentence on how many points' scores agree, of those with several seeds."""
    verdicts = [row[3].text for row in rows if row[3].text != ONE_SEED]
    if verdicts:
        name, backend = (cell.text for cell in rows[0][:2])
        share = f"{verdicts.count(WITHIN)} of {units.pluralize(len(verdicts), 'point')}"
        yield (
            f"{name} on the {backend.upper()}: one after another and stacked, {share} score within the spread of their "
            "seeds."
        )


def is_search(record: Record) -> bool:
    """Return whether a record is of the whole documented search, plain or stacked."""
    case, about = record.case, record.description
    mine = about.grid is not None and case.scope == "run" and case.variant in WAYS and not record.cut_short
    return mine and (case.implementation, case.precision, case.devices, case.length) == ("jax", "float32-highest", 1, 1)
