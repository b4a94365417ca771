"""Kinds of machine and their variance components, borrowed from other kinds if a kind has too few hosts."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from suite.case import Backend, Implementation
from suite.results.records.identity import HostKey
from suite.results.records.machine import Machine
from suite.results.stats import variance_components
from suite.results.stats.variance_components import Components
from suite.scopes import Scope

ByHost = Mapping[HostKey, tuple[float, ...]]  # seconds of a step, one per process
_Kind = tuple[Hashable, ...]  # of machine, as far as a backend's times depend on it


class Likeness(NamedTuple):
    """What pools must share to share variance components."""

    machine: _Kind
    implementation: Implementation
    backend: Backend
    scope: Scope  # `step` stands for all steady scopes
    short: bool  # whether steps are dispatch-bound


Among = Callable[[Likeness], tuple[Components, bool]]  # the components, and whether they are borrowed


def kind_of(machine: Machine, backend: Backend | str) -> _Kind:
    """Return what two machines must share for a backend's times to be of one kind.

    A CPU's kind ignores its GPUs. If a CPU hides its model, only machines of one name are of a kind.
    """
    cpu = machine.cpu_kind
    kind: _Kind = (cpu,) if cpu.model else (cpu, machine.cpu_model, machine.slug)
    if backend == "cpu":
        return kind
    return (*kind, *((gpu.name, gpu.slice, gpu.power_limit_watts) for gpu in machine.gpus))


def components_of(cells: Iterable[Mapping[HostKey, Sequence[float]]]) -> Components:
    """Return the variance components of cells that name their hosts."""
    cells = list(cells)
    return variance_components.components([tuple(cell.values()) for cell in cells], [tuple(cell) for cell in cells])


def shared(cells: Iterable[tuple[Likeness, ByHost]]) -> Among:
    """Return a function that gives a likeness its variance components, and whether they are borrowed.

    If too few of its hosts are known, other machines contribute; if these are too few as well, other implementations.
    """
    same: dict[Likeness, list[ByHost]] = defaultdict(list)
    for likeness, cell in cells:
        same[likeness].append(cell)
    wider: dict[int, dict[tuple[Hashable, ...], list[Likeness]]] = {1: defaultdict(list), 2: defaultdict(list)}
    for likeness in same:
        for left_out, groups in wider.items():
            groups[likeness[left_out:]].append(likeness)

    @cache
    def known(likeness: Likeness) -> Components:
        return components_of(same.get(likeness, ()))

    @cache
    def unlikeness(left_out: int) -> float:
        return variance_components.unlikeness(map(known, group) for group in wider[left_out].values())

    def components(likeness: Likeness) -> tuple[Components, bool]:
        own = best = known(likeness)
        for left_out, groups in wider.items():
            if best.enough:
                break
            others = (known(other) for other in groups[likeness[left_out:]] if other != likeness)
            candidate = variance_components.borrowed(own, others, unlikeness(left_out))
            best = max(best, candidate, key=lambda each: each.degrees)
        return best, best is not own

    return components
