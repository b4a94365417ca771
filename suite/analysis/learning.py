"""What experiments on training share: cases, and each network's newest complete record."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev

from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import usual_case
from suite.case import Case
from suite.results.records.record import Record
from suite.results.records.run import Learnt
from suite.results.stats.statistics import Estimate, t_quantile
from suite.workload import Description

_EPOCHS_OF_CATS_AND_DOGS = 25  # of 8,000 steps at batch 32


def documented_steps(about: Description) -> int | None:
    """Return the number of headline-batch steps in the documented training; None if unknown."""
    if about.run is not None:
        return about.run.epochs * -(-about.run.train // about.batch)
    if about.dataset == "cats_vs_dogs" and about.epoch_examples:
        return _EPOCHS_OF_CATS_AND_DOGS * about.epoch_examples // about.batch
    return None


def learning(about: Description, here: MachineCapabilities, steps: int) -> Case:
    """Return the case of a JAX training of so many steps, on the GPU if there is one."""
    backend = "gpu" if "gpu" in here.backends else "cpu"
    return usual_case(about, backend, here, "learning", steps=steps)


def learnt(record: Record) -> tuple[Learnt, ...]:
    """Return the training results of the record's processes that finished all steps."""
    return tuple(by_seed(record).values())


def by_seed(*records: Record) -> dict[int, Learnt]:
    """Return the same of several records by the seed of the process; of equal seeds the newest record's."""
    return {
        run.seed: run.learnt
        for record in sorted(records, key=lambda record: record.sort_key)
        for run in record.runs
        if run.learnt is not None and not run.reason and run.learnt.steps == record.case.steps
    }


def newest(records: Iterable[Record]) -> dict[str, Record]:
    """Return each workload's newest record of scope `learning` with a finished training, by name.

    Of one campaign's two backends it is the GPU's.
    """
    found = [record for record in records if record.case.scope == "learning" and learnt(record)]
    return {record.workload: record for record in sorted(found, key=_key)}


def paired_difference(one: Sequence[Record], other: Sequence[Record]) -> Estimate | None:
    """Return the mean of one side's accuracy minus the other's over their common seeds, with its t interval.

    Each side has the records of all its campaigns. None if they share no seed; of a single one there is no interval.
    """
    sides = by_seed(*one), by_seed(*other)
    values = [sides[0][seed].accuracy - sides[1][seed].accuracy for seed in sorted(sides[0].keys() & sides[1].keys())]
    if len(values) < 2:
        return Estimate(value=values[0]) if values else None
    mean, reach = fmean(values), t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Estimate(value=mean, low=mean - reach, high=mean + reach, processes=len(values))


def _key(record: Record) -> tuple:
    return record.workload, record.sort_key, record.backend
