"""How is the input pipeline tuned? Workers, batch and augmentation, then the rest of its settings one at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import msgspec

from suite import units
from suite.analysis import tuning
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import from_storage, gpu_busy, step_share
from suite.analysis.steps import untimed, usual_case
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, rate_over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.records.record import Record
from suite.results.views.experiment_result import ExperimentResult, HeatMap, Square
from suite.results.views.rows import count_cell, ratio_cells, row_of, share_cell, step_share_cell
from suite.results.views.table import HOSTS, STATUS, Cell, Table, filled, pooled_rate_cells, standing_cells
from suite.workload import Description

TITLE = "How is the input pipeline tuned?"
TESTS = ("O16", "O17", "O24")
METHOD = (
    "Steps from storage are timed on the GPU, or on the CPU without one: 1 to 16 workers, batches of 32 to 256, "
    "with and without augmentation on the host. More workers than cores are measured too, as in the article. Then "
    "one setting at a time is changed from the documented default of one worker and batch 32. What the sentences "
    "compare is measured in three processes: the default, four workers with batch 64, every cell with as many "
    "workers as cores, and the single settings. Other cells have one process each, so the fastest of so many would "
    "be a little slower if measured again. Every rate is pooled over hosts and compared with the default's. A cell "
    "is a window of at least 20 steps and 5 s after the queue was drained. The networks with dropout, with and "
    "without augmentation, are measured at the default and with as many workers as cores at batch 64. On a CPU the "
    "workers and the network share its cores."
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
         STATUS, HOSTS)  # fmt: skip
_SINGLY = ("changed", "examples/s", "95 % interval", "of default", "95 % interval", STATUS, HOSTS)
_OTHERS = ("model", "workers", "batch", "examples/s", "95 % interval", "step's share", "GPU busy", STATUS, HOSTS)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cells and the single settings of each network, of those beside it the default and a tuned cell."""
    backend = "gpu" if "gpu" in here.backends else "cpu"
    return tuple(
        usual_case(about, backend, here, "epoch", **axes)
        for about in catalogue
        if about.stored
        for axes in (_two(here.cores) if about.name in tuning.BESIDE else _all(about))
    )


def rounds(case: Case, cores: int) -> int | None:
    """Return three rounds for what is compared in words, one for the other cells."""
    if (case.workers, case.batch) in (tuning.DEFAULT, tuning.DOCUMENTED) or case.workers == tuning.most(cores):
        return _REPEATED
    return 1


def _two(cores: int) -> Iterator[dict[str, Any]]:
    for count, batch in dict.fromkeys((tuning.DEFAULT, tuning.tuned_cell(cores))):
        yield {"workers": count, "batch": batch}


def _all(about: Description) -> Iterator[dict[str, Any]]:
    for augmentation, workers, batch in product(tuning.AUGMENTATIONS, tuning.WORKERS, tuning.BATCHES):
        yield {"workers": workers, "batch": batch, "augmentation": augmentation}
    for _, axes in _SETTINGS:
        if "decoding" in axes and about.dataset != _PHOTOGRAPHS:
            continue  # there is nothing to decode
        if "augmentation" in axes and not about.augmented:
            continue
        yield {"workers": tuning.DEFAULT[0], "batch": tuning.DEFAULT[1], **axes}


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what tuning gains, by network and backend; None if no network has two cells."""
    grids, others = swept(evidence), beside(evidence)
    if not grids:
        return None
    answers, tables, squares = [], [], []
    for group in grids:
        name, backend = group[0].case.workload, group[0].case.backend.upper()
        found = cells(group)
        base = found.get((*tuning.DEFAULT, "host"))
        tables.append(_grid(f"{name} on the {backend}, from storage, by workers, batch and augmentation", found))
        squares += _squares(f"{name}, {backend}", found)
        answers += [f"{name} on the {backend}: {said}" for said in tuning.gains(found)]
        if base is not None and (singly := list(_settings(group))):
            tables.append(_one_by_one(f"{name} on the {backend}, the default and one setting changed", base, singly))
            answers.append(f"{name} on the {backend}, beside the default: {tuning.singles(base, singly)}")
    tables[0] = replace(tables[0], notes=(*tables[0].notes, *untimed(evidence, _fits, [*grids, others])))
    if others:
        tables.append(_beside(others))
        answers += tuning.costs(others)
    chart = HeatMap(
        caption="Examples a second from storage on, by workers and batch; brighter is faster. What may not be "
        "quoted stands in brackets.",
        across="batch",
        up="workers",
        squares=tuple(squares),
    )
    return ExperimentResult(answers=tuple(answers), tables=tuple(tables), chart=chart)


def swept(evidence: Evidence) -> list[tuple[Pool, ...]]:
    """Return the cells and single settings of each network and backend that was swept."""
    return list(evidence.sides(lambda record: _fits(record) and record.workload not in tuning.BESIDE, least=2))


def beside(evidence: Evidence) -> list[Pool]:
    """Return the networks that were measured at the default and tuned alone, the default first."""
    groups = evidence.sides(lambda record: _fits(record) and record.workload in tuning.BESIDE)
    return sorted((pool for group in groups for pool in group), key=_place)


def _fits(record: Record) -> bool:
    return record.case.workers is not None and from_storage(record, "workers", "batch", *_SINGLE)


def _place(pool: Pool) -> tuple[str, str, int]:
    return pool.case.backend, pool.case.workload, pool.case.workers or 0


def _changed(case: Case) -> dict[str, Any]:
    """Return which of the single settings are not what they are in the cells of the grid."""
    fields = [field for field in msgspec.structs.fields(Case) if field.name in _SINGLE]
    usual = {field.name: tuning.AUGMENTATIONS if field.name == "augmentation" else (field.default,) for field in fields}
    values = {name: getattr(case, name) for name in usual}
    return {name: value for name, value in values.items() if value not in usual[name]}


def cells(group: Sequence[Pool]) -> tuning.Cells:
    """Return the cells of the grid, by workers, batch and augmentation."""
    mine = [pool for pool in group if not _changed(pool.case)]
    found = {(pool.case.workers or 0, pool.case.batch, pool.case.augmentation): pool for pool in mine}
    return {key: found[key] for key in sorted(found, key=lambda key: (key[2], key[0], key[1]))}


def _settings(group: Sequence[Pool]) -> Iterator[tuple[str, Pool]]:
    for said, axes in _SETTINGS:
        yield from ((said, pool) for pool in group if _changed(pool.case) == axes)


def _squares(title: str, cells: tuning.Cells) -> Iterator[Square]:
    for (workers, batch, augmentation), pool in cells.items():
        rate, _ = pooled_rate_cells(pool)
        yield Square(
            panel=f"{title}, {'augmented' if augmentation == 'host' else 'not augmented'}",
            row=units.count(workers),
            column=units.count(batch),
            value=rate.sort,
            text=rate.text,
            solid=not any(lacking(pool.pooled)),
        )


def _grid(title: str, cells: tuning.Cells) -> Table:
    base = cells.get((*tuning.DEFAULT, "host"))
    rows = [
        row_of(*map(count_cell, key[:2]), key[2], *pooled_rate_cells(pool), _of_default(pool, base)[0], *_seen(pool))
        for key, pool in cells.items()
    ]
    note = (
        "The step's share is that of the step alone, its batch on the device, in the time from storage on. The "
        "status is that of the rate."
    )
    return filled(Table(title=title, columns=_GRID, rows=tuple(rows), notes=(note,)))


def _seen(pool: Pool) -> tuple[Cell, ...]:
    """Return the cells of the step's share, how busy the GPU is, status and hosts."""
    return step_share_cell(step_share(pool)), share_cell(gpu_busy(pool)), *standing_cells(pool.pooled)


def _of_default(pool: Pool, base: Pool | None) -> tuple[Cell, ...]:
    """Return how many times as fast as the default a cell is, with the interval, status and hosts."""
    return ratio_cells(pool, base, base and rate_over(pool, base), "no default beside it")


def _one_by_one(title: str, base: Pool, singly: Sequence[tuple[str, Pool]]) -> Table:
    rows = tuple(
        row_of(said, *pooled_rate_cells(pool), *_of_default(pool, base)) for said, pool in (("nothing", base), *singly)
    )
    return Table(title=title, columns=_SINGLY, rows=rows)


def _beside(pools: Sequence[Pool]) -> Table:
    rows = tuple(
        row_of(
            pool.case.workload,
            *map(count_cell, (pool.case.workers, pool.case.batch)),
            *pooled_rate_cells(pool),
            *_seen(pool),
        )
        for pool in pools
    )
    return filled(Table(title="With dropout, augmented and not, at the default and tuned", columns=_OTHERS, rows=rows))
