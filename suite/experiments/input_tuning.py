"""How is the input pipeline tuned? Workers, batch and augmentation, then the rest of its settings one at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import epoch, from_storage, share_cell
from suite.analysis.steps import steady, together
from suite.analysis.tuning import (
    AUGMENTATIONS,
    BATCHES,
    BESIDE,
    DEFAULT,
    DOCUMENTED,
    WORKERS,
    Cells,
    costs,
    gpu_busy,
    most,
    singles,
    speed,
    step_share,
    tuned_cell,
    tuning,
)
from suite.case import Case
from suite.results.records.record import Record
from suite.results.single.input_pipeline import input_pipeline
from suite.results.single.summary import Summary
from suite.results.views.experiment_result import ExperimentResult, HeatMap, Square
from suite.results.views.table import (
    ON_ONE_HOST,
    Cell,
    Table,
    base_cells,
    filled,
    one_host_cell,
    rate_cells,
    times_cells,
)
from suite.workload import Description

TITLE = "How is the input pipeline tuned?"
TESTS = ("O16", "O17", "O24")
METHOD = (
    "Steps from storage on, on the GPU or where there is none on the CPU, with 1 to 16 workers, batches of 32 to 256, "
    "and augmentation on the host or none; more workers than cores are measured too, as the article did. Then, at the "
    "documented default of one worker and batch 32, one setting at a time is changed. What is compared in words is "
    "measured in three processes, taken in turns: the default, four workers with batch 64, every cell with as many "
    "workers as cores, and the single settings. The other cells are one process each, set against the default's of the "
    "same round, and have no interval; the fastest of so many is a little faster than it would be again. A cell is a "
    "window of at least 20 steps and 5 s after the queue was emptied. The networks with dropout, with and without "
    "augmentation, are measured at the default and with as many workers as cores at batch 64: which cell is best is "
    "not known before. On a CPU the workers and the network share its cores."
)
WORKLOADS = ("catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_noaug")

_REPEATED = 3
_PHOTOGRAPHS = "cats_vs_dogs"
_SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a queue of 1", {"queue": 1}),
    ("a queue of 64", {"queue": 64}),
    ("records in memory", {"stored": "memory"}),
    ("scaled decoding", {"decoding": "scaled"}),
    ("a process instead of a thread", {"loader": "processes"}),
    ("augmentation on the device", {"augmentation": "device"}),
)
_SINGLE = ("queue", "stored", "decoding", "loader", "augmentation")
_GRID = ("workers", "batch", "augmentation", "examples/s", "95 % interval", "of default", "step's share", "GPU busy",
         ON_ONE_HOST)  # fmt: skip
_SINGLY = ("changed", "examples/s", "95 % interval", "of default", "95 % interval", ON_ONE_HOST)
_OTHERS = ("model", "workers", "batch", "examples/s", "95 % interval", "step's share", "GPU busy", ON_ONE_HOST)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cells and the single settings of each network, of those beside it the default and a tuned cell."""
    backend = "gpu" if "gpu" in here.backends else "cpu"
    return tuple(
        epoch(about, backend, here, **axes)
        for about in catalogue
        if about.stored
        for axes in (_two(here.cores) if about.name in BESIDE else _all(about))
    )


def rounds(case: Case, cores: int) -> int | None:
    """Return three rounds for what is compared in words, one for the other cells."""
    if (case.workers, case.batch) in (DEFAULT, DOCUMENTED) or case.workers == most(cores):
        return _REPEATED
    return 1


def _two(cores: int) -> Iterator[dict[str, Any]]:
    yield from ({"workers": count, "batch": batch} for count, batch in dict.fromkeys((DEFAULT, tuned_cell(cores))))


def _all(about: Description) -> Iterator[dict[str, Any]]:
    for augmentation, workers, batch in product(AUGMENTATIONS, WORKERS, BATCHES):
        yield {"workers": workers, "batch": batch, "augmentation": augmentation}
    for _, axes in _SETTINGS:
        if "decoding" in axes and about.dataset != _PHOTOGRAPHS:
            continue  # there is nothing to decode
        if "augmentation" in axes and not about.augmented:
            continue
        yield {"workers": DEFAULT[0], "batch": DEFAULT[1], **axes}


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return what tuning gains, by network and backend; None if no network has two cells of one campaign."""
    grids, others = swept(records), beside(records)
    if not grids:
        return None
    answers, tables, squares = [], [], []
    for group in grids:
        name, backend = group[0].record.workload, group[0].record.backend.upper()
        found = cells(group)
        tables.append(_grid(f"{name} on the {backend}, from storage, by workers, batch and augmentation", found))
        squares += _squares(f"{name}, {backend}", found)
        answers += [f"{name} on the {backend}: {said}" for said in tuning(found)]
        if singly := list(_settings(group)):
            tables.append(_one_by_one(f"{name} on the {backend}, the default and one setting changed", found, singly))
            answers.append(f"{name} on the {backend}, beside the default: {singles(found, singly)}")
    if others:
        tables.append(_beside(others))
        answers += costs(others)
    chart = HeatMap(
        caption="Examples a second from storage on, by workers and batch; brighter is faster. Of cells that are one "
        "process nobody knows whether they are steady: the table names them.",
        across="batch",
        up="workers",
        squares=tuple(squares),
    )
    return ExperimentResult(answers=tuple(answers), tables=tuple(tables), chart=chart)


def swept(records: Sequence[Record]) -> tuple[tuple[Summary, ...], ...]:
    """Return the cells and single settings of each network and backend that was swept."""
    return together(records, lambda record: _fits(record) and record.workload not in BESIDE)


def beside(records: Sequence[Record]) -> list[Summary]:
    """Return the results of the networks that were measured at the default and tuned alone, the default first."""
    groups = together(records, lambda record: _fits(record) and record.workload in BESIDE, least=1)
    return sorted((item for group in groups for item in group), key=_place)


def _fits(record: Record) -> bool:
    asked = record.experiment == "input_tuning" and record.case.workers is not None
    return asked and from_storage(record, "workers", "batch", *_SINGLE)


def _place(item: Summary) -> tuple[str, str, int]:
    return item.record.backend, item.record.workload, item.record.case.workers or 0


def _changed(item: Summary) -> dict[str, Any]:
    """Return which of the single settings are not what they are in the cells of the grid."""
    fields = [field for field in msgspec.structs.fields(Case) if field.name in _SINGLE]
    values = {field.name: getattr(item.record.case, field.name) for field in fields}
    usual = {field.name: AUGMENTATIONS if field.name == "augmentation" else (field.default,) for field in fields}
    return {name: value for name, value in values.items() if value not in usual[name]}


def cells(group: Sequence[Summary]) -> Cells:
    """Return the cells of the grid, by workers, batch and augmentation."""
    found = {(c.workers or 0, c.batch, c.augmentation): i for i in group if not _changed(i) for c in (i.record.case,)}
    return {key: found[key] for key in sorted(found, key=lambda key: (key[2], key[0], key[1]))}


def _settings(group: Sequence[Summary]) -> Iterator[tuple[str, Summary]]:
    for said, axes in _SETTINGS:
        yield from ((said, item) for item in group if _changed(item) == axes)


def _squares(title: str, cells: Cells) -> Iterator[Square]:
    for (workers, batch, augmentation), item in cells.items():
        rate = input_pipeline(item.record).rate
        yield Square(
            panel=f"{title}, {'augmented' if augmentation == 'host' else 'not augmented'}",
            row=units.count(workers),
            column=units.count(batch),
            value=rate.value if rate else None,
            text=units.quantity(rate.value, "", units.half_width(rate.low, rate.high)) if rate else units.DASH,
            solid=rate is None or steady(item),
        )


def _grid(title: str, cells: Cells) -> Table:
    rows = []
    for (workers, batch, augmentation), item in cells.items():
        rows.append(
            (
                Cell(text=units.count(workers), sort=workers),
                Cell(text=units.count(batch), sort=batch),
                Cell(text=augmentation),
                *rate_cells(input_pipeline(item.record).rate, item),
                _of_default(item, cells.get((*DEFAULT, "host"))),
                share_cell(step_share(item)),
                share_cell(gpu_busy(item)),
                one_host_cell(item),
            )
        )
    note = (
        "A cell without an interval is one process, set against the default's of the same round. The step's share is "
        "that of the step alone, its batch on the device, in the time from storage on."
    )
    return filled(Table(title=title, columns=_GRID, rows=tuple(rows), notes=(note,)))


def _of_default(item: Summary, base: Summary | None) -> Cell:
    """Return how many times as fast as the default a cell is; of one process also how fast that was in its round."""
    found, rate = speed(item, base), input_pipeline(item.record).rate
    if item is base:
        return base_cells(item.record)[0]
    ratio, _ = times_cells(found, item.record)
    if found is None or rate is None or found.processes > 1:
        return ratio
    return replace(
        ratio, remark=f"the default had {units.quantity(rate.value / found.value, '')} examples/s in that round"
    )


def _one_by_one(title: str, cells: Cells, singly: Sequence[tuple[str, Summary]]) -> Table:
    base = cells.get((*DEFAULT, "host"))
    first = [("nothing", base)] if base is not None else []
    rows = tuple(
        (
            Cell(text=said),
            *rate_cells(input_pipeline(item.record).rate, item),
            *(base_cells(item.record) if item is base else times_cells(speed(item, base), item.record)),
            one_host_cell(item),
        )
        for said, item in (*first, *singly)
    )
    return Table(title=title, columns=_SINGLY, rows=rows)


def _beside(items: Sequence[Summary]) -> Table:
    rows = tuple(
        (
            Cell(text=item.record.workload),
            Cell(text=units.count(item.record.case.workers), sort=item.record.case.workers),
            Cell(text=units.count(item.record.case.batch), sort=item.record.case.batch),
            *rate_cells(input_pipeline(item.record).rate, item),
            share_cell(step_share(item)),
            share_cell(gpu_busy(item)),
            one_host_cell(item),
        )
        for item in items
    )
    return filled(Table(title="With dropout, augmented and not, at the default and tuned", columns=_OTHERS, rows=rows))
