"""What does a grid search gain from training its fits side by side, and from a GPU?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import gain
from suite.analysis.searches import SCORES, WAYS, WHOLE, searched
from suite.analysis.steps import campaigns, caveat, in_all, point, together, usual_case, words
from suite.case import Backend, Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.selection import campaigns_note
from suite.results.single.summary import Summary
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.rows import number_cell, row_of, share_cell
from suite.results.views.table import ON_ONE_HOST, Cell, Table, base_cells, filled, gain_cell, time_cell, times_cells
from suite.workload import Description

TITLE = "Does a grid search recover what one small network leaves idle?"
TESTS = ("O4",)
METHOD = (
    "One training step of the grid's first network is timed alone, and with many fits stacked by vmap into one "
    "program. Each stacked fit has its own values, examples and dropout. The gain is the examples a second of all "
    "fits together over those of one fit, paired by round. GPU utilisation is the driver's: the share of the last "
    "second in which any kernel ran. It does not say how much of the chip was used, so FLOP/s are shown too. For "
    "it, one process continues the step for eleven seconds, in this campaign or the last one that did. The steps of"
    " one fit depend on the host's dispatch and vary from day to day, so the lowest and highest gain of all "
    "campaigns are shown. The whole search is also timed: all fits on three folds with their scores, and the best "
    "point trained again. A score is the mean log loss on the held-out fold. Examples lie on the device, and a step"
    " gets their indices. Building and compiling count. If a whole search was not timed, its time is derived: the "
    "documented steps times the step time, as if all networks were as fast as the first. The fits of one stacked "
    "network train together until the shorter ones have ended. Scores are from the searches of all campaigns, each "
    "with another seed. One after another and stacked agree if their means differ no more than the searches do."
)
WORKLOADS = ("mnist_grid_search",)
SUSTAINED = True

_MOST: dict[Backend, int] = {"cpu": 32, "gpu": 256}  # fits at once
_NEAR_BEST = 0.9  # of the highest rate
_COLUMNS = (
    "model", "backend", "fits at once", "step", "gain", "95 % interval", "FLOP/s", "GPU busy", ON_ONE_HOST,
)  # fmt: skip
_SEARCH = ("model", "backend", "way", "whole search, derived")


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the step of one fit and of so many stacked on each backend.

    Raises ValueError if no workload has a grid.
    """
    made = tuple(
        usual_case(about, backend, here, batch=fits * about.batch, variant=variant)
        for about in catalogue
        if about.grid is not None
        for backend in here.backends
        for variant, fits in (("plain", 1), *(("stacked", fits) for fits in stacks(about, backend)))
    )
    if not made:
        these = ", ".join(about.name for about in catalogue)
        raise ValueError(f"none of {these} has a grid of fits; there is: {', '.join(WORKLOADS)}")
    return made + searches(catalogue, here)


def searches(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the whole search on each backend, one fit after another and stacked."""
    return tuple(
        usual_case(about, backend, here, "run", batch=fits * about.batch, variant=variant, allocator="tuned-malloc")
        for about in catalogue
        if about.grid is not None and about.run is not None
        for backend in here.backends
        for variant, fits in (("plain", 1), ("stacked", about.grid.stack))
    )


def stacks(about: Description, backend: Backend) -> tuple[int, ...]:
    """Return how many fits are stacked: powers of two, and what the grid itself has; none where there is no grid."""
    if about.grid is None:
        return ()
    powers = {2**power for power in range(_MOST[backend].bit_length())}
    return tuple(sorted(powers | {fits for _, fits in stages(about)}))


def stages(about: Description) -> tuple[tuple[int, int], ...]:
    """Return epochs and fits of one network that train together for so long, as shorter fits end."""
    assert about.grid is not None
    ends = sorted(about.grid.epochs)
    starts = (0, *ends[:-1])
    left = range(len(ends), 0, -1)
    return tuple((end - start, count * about.grid.folds) for start, end, count in zip(starts, ends, left, strict=True))


def fits(item: Summary) -> int:
    """Return how many fits a step trains."""
    return item.record.case.batch // item.record.description.batch


def derived(group: Sequence[Summary]) -> tuple[float | None, float | None]:
    """Return the seconds of all fits of the documented search, one after another and stacked; None where not timed."""
    about = group[0].record.description
    if about.run is None or about.grid is None:
        return None, None
    seconds = {
        (item.record.case.variant, fits(item)): item.seconds.value
        for item in group
        if item.seconds is not None and item.complete
    }
    one, steps = seconds.get(("plain", 1)), about.run.epochs * -(-about.run.train // about.batch)
    stacked = [seconds.get(("stacked", count)) for _, count in stages(about)]
    epochs = len(about.grid.hidden) * sum(epochs * count for epochs, count in stages(about))
    each = [
        len(about.grid.hidden) * length * steps / epochs * time
        for (length, _), time in zip(stages(about), stacked, strict=True)
        if time is not None
    ]
    return None if one is None else steps * one, sum(each) if len(each) == len(stacked) else None


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what stacking gains by number of fits and backend; None if no fit was timed alone and stacked."""
    answers, rows, points, times, busy = [], [], [], [], []
    records = evidence.records
    shares, (whole_searches, scores, said) = _shares(records), searched(records, evidence.speedups)
    timed = {tuple(cell.text for cell in row[:3]) for row in whole_searches}
    groups = together(records, _fits)
    for group in groups:
        ordered = sorted(group, key=lambda item: (fits(item), item.record.case.variant))
        base = next((item for item in ordered if item.record.case.variant == "plain"), None)
        name, backend = ordered[0].record.workload, ordered[0].record.backend
        gains = []
        for item in ordered:
            found = gain(item, base) if base is not None and item is not base else None
            share = _share(item, shares)
            way = Cell(text="one after another" if item is base else units.count(fits(item)), sort=fits(item))
            ratio = base_cells(item.record) if item is base else times_cells(found, item.record)
            rate = number_cell(item.flop_per_second, lambda value: units.quantity(value, "FLOP/s"))
            watched = share_cell(share, "no GPU takes part, or none was watched throughout")
            cells = (way, time_cell(item), *ratio, rate, watched, gain_cell(found, item, base))
            rows.append(row_of(name, backend, *cells))
            if found is not None and base is not None:
                points.append(point(backend.upper(), found, item, base, at=fits(item)))
                gains += [(found, item)] if item.complete and base.complete else []
            if share and item is not base:
                text = units.percent(share)
                busy.append(Point(series="GPU", value=100 * share, at=fits(item), text=text))
        if not all(item.record.is_partial for item in group):
            answers.append(f"{name} on the {backend.upper()}: {_answer(gains, base, shares, records)}" + caveat(group))
        times += [row for row in _searches(name, backend, ordered) if tuple(cell.text for cell in row[:3]) not in timed]
    answers += said
    apart = campaigns_note(item.record for group in groups for item in group)
    tables = (
        filled(Table(title="Fits one after another and stacked", columns=_COLUMNS, rows=tuple(rows), notes=apart)),
        Table(title="All fits of the documented search, derived from these steps", columns=_SEARCH, rows=tuple(times)),
        Table(title="The whole search", columns=WHOLE, rows=whole_searches),
        Table(title="Scores of its points", columns=SCORES, rows=scores),
    )
    tables = tuple(table for table in tables if table.rows)
    if not tables:
        return None
    chart = Chart(
        caption="Examples a second of all stacked fits together over those of one fit alone.",
        across="stacked fits, log scale",
        up="gain over one fit after another",
        points=tuple(points),
        level=1.0,
        joined=True,
        finding="Stacked fits train up to {most} as fast as one after another",
    )
    beside = Chart(
        name="utilisation",
        caption="Share of the time in which a kernel ran on the GPU.",
        across="stacked fits, log scale",
        up="GPU busy, %",
        points=tuple(busy),
        whole=100.0,
        joined=True,
        finding="The GPU is busy {span} of the time",
    )
    return ExperimentResult(
        answers=tuple(answers), tables=tables, chart=chart if points else None, beside=(beside,) if busy else ()
    )


def _shares(records: Iterable[Record]) -> dict[Case, float]:
    """Return how busy each case kept its GPU when it last went on to be watched, in whichever campaign."""
    went_on = [record for record in records if any(run.energy is not None for run in record.runs)]
    seen = ((record.case, gpu_share(record)) for record in sorted(went_on, key=lambda record: record.sort_key))
    return {case: share for case, share in seen if share is not None}


def _share(item: Summary, shares: Mapping[Case, float]) -> float | None:
    """Return how busy a case kept its GPU: in its own campaign, where that is known."""
    own = gpu_share(item.record)
    return shares.get(item.record.case) if own is None else own


def _gains_of(records: Iterable[Record], most: Summary) -> Iterator[Estimate]:
    """Yield what so many stacked fits gain in each campaign that has them whole."""
    mine = (r for r in records if (r.workload, r.backend) == (most.record.workload, most.record.backend))
    for group in campaigns((record for record in mine if record.profile != "smoke"), _fits):
        ways = {(item.record.case.variant, fits(item)): item for item in group if item.complete}
        base, same = ways.get(("plain", 1)), ways.get(("stacked", fits(most)))
        if base is not None and same is not None and (found := gain(same, base)) is not None:
            yield found


def _answer(
    gains: Sequence[tuple], base: Summary | None, shares: Mapping[Case, float], records: Iterable[Record]
) -> str:
    """Return what stacking gains at most, from how many fits on it stays near that, and how busy the GPU is.

    The gains come in the order of their fits.
    """
    if not gains or base is None:
        return "not known, as the fit alone or the stacks are not whole."
    best, most = max(gains, key=lambda pair: pair[0].value)
    if (best.low or best.value) <= 1:
        said = "no number of stacked fits is surely faster than one fit after another."
    else:
        enough = takewhile(lambda pair: pair[0].value >= _NEAR_BEST * best.value, reversed(gains))
        near, share = [fits(item) for _, item in enough], units.percent(_NEAR_BEST)
        beyond = (
            f"from {units.count(near[-1])} on it is at least {share} of that"
            if near
            else f"with {units.count(fits(gains[-1][1]))} it is less than {share} of that"
        )
        known = in_all(_gains_of(records, most))
        said = (
            f"{units.count(fits(most))} stacked fits train {words(best)} as fast as one after another{known}; {beyond}."
        )
    single = [item for _, item in gains if fits(item) == 1 and item is not most]
    seen = [(item, share) for item in (base, *single, most) if (share := _share(item, shares)) is not None]
    if {base.record.case, most.record.case} - {item.record.case for item, _ in seen}:
        return said
    points = (f"{units.percent(share)} with {_fits_words(item)}" for item, share in seen)
    return f"{said} The GPU is busy {', '.join(points)}."


def _fits_words(item: Summary) -> str:
    if item.record.case.variant == "plain":
        return "one fit after another"
    return "a stack of one" if fits(item) == 1 else f"{units.count(fits(item))} stacked"


def _searches(name: str, backend: str, group: Sequence[Summary]) -> list[tuple[Cell, ...]]:
    ways = zip(WAYS.values(), derived(group), strict=True)
    return [
        row_of(name, backend, way, Cell(text=units.seconds(seconds), sort=seconds))
        for way, seconds in ways
        if seconds is not None
    ]


def _fits(record: Record) -> bool:
    case, about = record.case, record.description
    alone = case.variant == "plain" and case.batch == about.batch
    mine = about.grid is not None and (alone or case.variant == "stacked")
    return mine and case.implementation == "jax" and record.headline_step("variant", "batch", "implementation")
