"""The list of all machines, in words that a reader knows: what a step gains, GPU, processor and cores."""

from collections import Counter
from collections.abc import Iterator, Sequence

from suite import units
from suite.report.parts import lead, rungs
from suite.report.parts.facts import Facts
from suite.report.parts.matrix import marked
from suite.results.pooled.kinds import FEWEST_MODELS, mean_ratio
from suite.results.pooled.speedup import PooledSpeedUp, behind, lacking
from suite.results.records.machine import Machine
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Cell, Table

PATH = "machines/index.md"
_COLUMNS = ("machine", "speed-up of a step", "models with one", "GPU", "CPU", "cores")


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    table = Table(title="The machines, those with a GPU first", columns=_COLUMNS, rows=tuple(_rows(facts)), words=True)
    return {PATH: facts.page(PATH, "machines.md.j2", table=table, lead=_lead(facts), fewest=FEWEST_MODELS)}


def _rows(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    machines = {slug: max(records, key=lambda one: one.created).machine for slug, records in facts.machines.items()}
    for slug in sorted(machines, key=lambda slug: not machines[slug].gpus):
        machine, step = machines[slug], rungs.step(rungs.rungs(facts.evidence[slug].speedups))
        cores = f"{units.count(machine.cores)}{' virtual' * bool(machine.virtual)}"
        yield row_of(machine.name, *_gain(step), gpus(machine), machine.processor, cores)


def _gain(step: rungs.Rung | None) -> tuple[Cell, Cell]:
    """Return the cells of the geometric mean of a machine's steps, of enough models, and of how many have one."""
    items: Sequence[PooledSpeedUp] = list(step.by_workload.values()) if step else []
    if not items:
        return Cell(text=units.DASH, remark="no step was timed on both its CPU and its GPU"), Cell(text=units.DASH)
    number = count_cell(len(items))
    if len(items) < FEWEST_MODELS:
        return Cell(text=units.DASH, remark=f"a mean is of at least {FEWEST_MODELS} models"), number
    mean = mean_ratio((item.cpu, item.gpu) for item in items)
    lacks = (*lacking(mean), *behind(item.quotable for item in items))
    text = lead.short(mean.value) + ", earlier method" * mean.outdated
    return Cell(text=marked(text, not lacks), sort=mean.value, remark="; ".join(lacks)), number


def gpus(machine: Machine) -> str:
    """Return the names of a machine's GPUs, equal ones counted; 'none' without one."""
    counted = Counter(gpu.name for gpu in machine.gpus)
    return ", ".join(f"{number} x {name}" if number > 1 else name for name, number in counted.items()) or "none"


def _lead(facts: Facts) -> str:
    number = units.pluralize(len(facts.machines), "machine")
    with_gpu = sum(any(record.machine.gpus for record in records) for records in facts.machines.values())
    return f"{number} have records of models, {units.count(with_gpu)} of them with a GPU." if facts.machines else ""
