"""Speed-ups that may be quoted on another machine, beside those that may not be quoted on this one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from suite.results.cite.citation import Citation, row
from suite.results.cite.pooled_numbers import of_machine, speedup_key
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.views.table import Cell

Quotable = Mapping[str, Citation]  # by case, as a key names it


def quotable_elsewhere(citations: Iterable[Citation], here: str) -> Quotable:
    """Return the quotable speed-ups of other machines than `here`; of several machines' the one with most hosts."""
    speedups = [
        cited
        for cited in citations
        if cited.number.quotable and cited.number.key.metric == "speedup" and cited.number.key.machine != here
    ]
    ordered = sorted(speedups, key=lambda cited: (cited.number.value.hosts, cited.number.measured, cited.key))
    return {cited.number.key.case: cited for cited in ordered}


def with_quotable(status: Cell, item: PooledSpeedUp, quotable: Quotable) -> Cell:
    """Return the status of a speed-up, with a link to another machine's number if only that one may be quoted."""
    cited = None if item.quotable else quotable.get(speedup_key(item).case)
    if cited is None:
        return status
    words = f"quotable on {_short(cited.number.record.machine.name, of_machine(item.machine, item.gpu).machine.name)}"
    return replace(status, also=words, number=row(cited.number.key, item.workload))


def _short(machine: str, here: str) -> str:
    """Return the GPU's part of a machine's name; the whole name if this machine has the same GPU."""
    gpu = machine.partition(",")[0]
    return machine if gpu == here.partition(",")[0] else gpu
