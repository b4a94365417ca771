"""Spread of processes, pooled over cells: the criterion by which a campaign stops.

Three processes can agree by luck, so a cell's own narrow interval does not decide: its spread is at least the pooled
one. Until a cell of the campaign has two processes, published campaigns on the nearest kind of machine stand in. These
spreads only decide when to stop; no printed interval uses them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median, variance

import msgspec

from suite.case import Backend
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.summary import seconds_by_round
from suite.scopes import SCOPES, Scope
from suite.workload import Plain

FILE_NAME = "spreads.json"  # written by suite publish from the published records
REACH = 2.0  # standard errors of a mean: its half-width, at about 95 %
_WEIGHT = 4  # degrees of freedom of a stand-in, and of the pooled spread beside a cell's own

Kind = tuple[Backend, Scope]  # of cells with a common spread


class Published(Plain, frozen=True, kw_only=True):
    """The spread of processes on one kind of machine: the standard deviation of the logarithms of their times."""

    cpu_model: str
    cores: int
    gpus: tuple[str, ...]
    backend: Backend
    scope: Scope
    spread: float
    cells: int


def kind(backend: Backend, scope: Scope) -> Kind:
    """Return the key that a cell's spread is pooled under; `step` stands for the steady scopes that vary as it does."""
    row = SCOPES[scope]
    return backend, "step" if row.steady and not row.own_spread else scope


def pooled(groups: Iterable[Sequence[float]], stand_in: float | None = None) -> float | None:
    """Return the spread of logarithms in groups of positive values, one group per cell; None if no group has two.

    It is a weighted median over cells, so a single wild cell does not widen all. A stand-in counts as one cell with a
    few degrees of freedom, and no cell counts for more: wild cells get the most rounds.
    """
    of_groups = [
        (variance(logs) / _median_share(len(logs) - 1), min(len(logs) - 1, _WEIGHT))
        for logs in ([math.log(value) for value in group] for group in groups)
        if len(logs) > 1
    ]
    if stand_in is not None:
        of_groups.append((stand_in**2, _WEIGHT))
    weighted = [value for value, weight in of_groups for _ in range(weight)]
    return math.sqrt(median(weighted)) if weighted else None


def _median_share(degrees: int) -> float:
    """Return the median ratio of a sample variance to the true variance."""
    from scipy.special import chdtri

    return float(chdtri(degrees, 0.5)) / degrees


@dataclass(frozen=True, kw_only=True)
class Spreads:
    """The spreads of a campaign's processes, by kind of cell."""

    pooled: Mapping[Kind, float]
    borrowed: frozenset[Kind]  # without two processes in any cell of the campaign

    def of(self, backend: Backend, scope: Scope, values: Sequence[float]) -> float:
        """Return the spread of a cell with these times: the pooled one, or more if its own processes show more."""
        common = self.pooled[kind(backend, scope)]
        if len(values) < 2:
            return common
        degrees = len(values) - 1
        own = variance([math.log(value) for value in values])
        return max(common, math.sqrt((_WEIGHT * common**2 + degrees * own) / (_WEIGHT + degrees)))


def half_width(spread: float, processes: int) -> float:
    """Return the relative half-width of a mean of so many processes; infinite for none."""
    return math.expm1(REACH * spread / math.sqrt(processes)) if processes else math.inf


def spreads(records: Iterable[Record], machine: Machine) -> Spreads:
    """Return the spreads of a campaign's records; published ones stand in for missing ones."""
    cells: dict[Kind, list[list[float]]] = defaultdict(list)
    for record in records:
        cells[kind(record.case.backend, record.case.scope)].append(list(seconds_by_round(record).values()))
    between_hosts = {each: pooled(groups, nearest(machine, each)) or 0.0 for each, groups in cells.items()}
    alone = (each for each, groups in cells.items() if all(len(group) < 2 for group in groups))
    return Spreads(pooled=between_hosts, borrowed=frozenset(alone))


def table(records: Iterable[Record]) -> tuple[Published, ...]:
    """Return the spreads of published records, without smoke, by kind of machine, backend and scope."""
    cells: dict[tuple[str, int, tuple[str, ...], Kind], list[list[float]]] = defaultdict(list)
    for record in records:
        values = list(seconds_by_round(record).values())
        if record.profile != "smoke" and record.case.implementation == "jax" and len(values) > 1:
            machine = record.machine
            place = machine.cpu_model, machine.cores, tuple(gpu.name for gpu in machine.gpus)
            cells[*place, kind(record.case.backend, record.case.scope)].append(values)
    return tuple(
        Published(
            cpu_model=model,
            cores=cores,
            gpus=gpus,
            backend=backend,
            scope=scope,
            spread=float(f"{pooled(groups):.3g}"),
            cells=len(groups),
        )
        for (model, cores, gpus, (backend, scope)), groups in sorted(cells.items())
    )


@cache
def shipped() -> tuple[Published, ...]:
    """Return the spreads that the suite ships."""
    return msgspec.json.decode((files("suite.results.pooled") / FILE_NAME).read_bytes(), type=tuple[Published, ...])


def nearest(machine: Machine, wanted: Kind, among: Sequence[Published] | None = None) -> float | None:
    """Return the published spread of the nearest kind of machine; None if the scope was never published there.

    On a GPU the nearest is the same card, on a CPU the same model with the nearest core count.
    """
    gpu_names = tuple(gpu.name for gpu in machine.gpus)
    same_scope = [each for each in (shipped() if among is None else among) if (each.backend, each.scope) == wanted]

    def distance(each: Published) -> tuple[bool, bool, float, int]:
        other_card = each.backend == "gpu" and each.gpus[:1] != gpu_names[:1]
        cores = abs(math.log(each.cores / max(machine.cores, 1)))
        return other_card, each.cpu_model != machine.cpu_model, cores, -each.cells

    return min(same_scope, key=distance).spread if same_scope else None
