"""What a browser needs to compare published times: the moments of each pool, so that it only combines them.

A script adds and subtracts them as `suite.results.stats.pooling` does; tests compare both.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from suite.case import Backend, Case
from suite.results.pooled.pools import FEWEST_HOSTS, Found, Pool
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.stats import pooling
from suite.results.stats.pooling import Pooled, moments, smallest_change
from suite.results.stats.variance_components import logarithms, of_cell
from suite.variants import way_of

Verdict = Literal["faster", "slower", "inside the range of the next host", "undecided"]
ANOTHER_METHOD = "timed by another method"  # in place of a verdict
_WAY = ("implementation=", "variant=", "allocator=")  # axes that a setting does not name: the way does, or none counts
_DIGITS = 9
_WORDS = 7  # of a cell, before its figures


@dataclass(frozen=True, kw_only=True)
class PublishedCell:
    """One side's time of one case on one machine: a pool, and what identifies it among others."""

    machine: str  # as in addresses
    way: str
    setting: str  # batch and the other axes that are not the usual ones
    version: str
    current: bool  # the pool that other pages show
    pool: Pool

    @property
    def case(self) -> Case:
        """The case that was timed."""
        return self.pool.case

    def plain(self) -> list[Any]:
        """Return its words and moments: centre, its variance, tau2, sigma2, degrees, hosts and processes."""
        case, pool = self.case, self.pool
        among = of_cell(logarithms(pool.cell), pool.among)
        centre, error2, _, degrees = moments(pool.cell, pool.among)
        figures = [float(f"{value:.{_DIGITS}g}") for value in (centre, error2, among.tau2, among.sigma2, degrees)]
        words = [self.machine, case.workload, case.backend, case.scope, self.way, self.setting, self.version]
        return [*words, int(self.current), *figures, pool.hosts, pool.pooled.processes]


def cells(pools: Iterable[Pool], current: Found) -> Sequence[PublishedCell]:
    """Return the best pool of each machine, case and version, of documented models; the allocator is no axis.

    The current pool comes first, then that of more hosts, then the newer one.
    """
    shown = {id(pool) for pool in current.values()}
    best: dict[tuple[str, ...], tuple[tuple[Any, ...], PublishedCell]] = {}
    for pool in pools:
        if not pool.newest.description.documented:
            continue
        way, setting, version = way_of(pool.case), setting_of(pool.newest, pool.case), version_of(pool.newest)
        for machine in pool.machines:
            is_current = id(pool) in shown and current.get((machine, pool.case)) is pool
            rank = (is_current, min(pool.hosts, FEWEST_HOSTS), pool.newest.created)
            key = (machine, pool.case.workload, pool.case.backend, pool.case.scope, way, setting, version)
            if key not in best or rank > best[key][0]:
                one = PublishedCell(
                    machine=machine, way=way, setting=setting, version=version, current=is_current, pool=pool
                )
                best[key] = rank, one
    return _one_current([cell for _, cell in best.values()])


def _one_current(listed: Sequence[PublishedCell]) -> Sequence[PublishedCell]:
    """Return the cells sorted, with one current version of each.

    Of two allocators it is that of the method in use, then that of more hosts.
    """
    newest: dict[tuple[str, ...], PublishedCell] = {}
    for cell in listed:
        key = (cell.machine, cell.case.workload, cell.case.backend, cell.case.scope, cell.way, cell.setting)
        if cell.current and (key not in newest or _rank(cell) > _rank(newest[key])):
            newest[key] = cell
    kept = {id(cell) for cell in newest.values()}
    order = sorted(listed, key=lambda cell: (cell.case.text(0), cell.way, cell.machine, cell.version))
    return [cell for cell in order if not cell.current or id(cell) in kept]


def _rank(cell: PublishedCell) -> tuple[bool, int]:
    return not cell.pool.outdated, cell.pool.hosts


def setting_of(record: Record, case: Case) -> str:
    """Return the axes of a case that are not the usual ones, as in its text form; '' at the headline's setting."""
    parts = case.text(record.description.batch).split("/")[3:]
    return ", ".join(part.replace("=", " ") for part in parts if not part.startswith(_WAY))


def version_of(record: Record) -> str:
    """Return what a version compares: the implementation's own version and the method of timing."""
    name = record.case.implementation  # which is its package's name
    return f"{name} {record.software.packages.get(name, 'unknown')}, method {record.method}"


def kind_text(machine: Machine, backend: Backend) -> str:
    """Return `grouping.kind_of` as text that a script can make from a record."""
    kind = machine.cpu_kind
    model = kind.model or f"{machine.cpu_model}|{machine.slug}"
    limits = ["" if gpu.power_limit_watts is None else f"{gpu.power_limit_watts:g}" for gpu in machine.gpus]
    gpus = [[gpu.name, gpu.slice, limit] for gpu, limit in zip(machine.gpus, limits, strict=True) if backend == "gpu"]
    return json.dumps([model, kind.cores, kind.virtual, *gpus], separators=(",", ":"), ensure_ascii=False)


def ratio(first: Pool, second: Pool) -> Pooled:
    """Return the first time over the second: above 1 the second is faster."""
    return first.over(second)


def verdict(first: Pool, second: Pool) -> Verdict:
    """Return what may be said of the second: faster or slower beyond the smallest change that `suite compare` calls
    one, else whether its value lies in the first one's range of a further campaign."""
    over = ratio(first, second)
    least = smallest_change(first.cell, second.cell, first.among, second.among)
    if over.low is None or least is None:
        return "undecided"
    if max(over.value, 1 / over.value) > least:
        return "faster" if over.value > 1 else "slower"
    _, error2, further2, degrees = moments(first.cell, first.among)
    inside = abs(math.log(over.value)) <= pooling.reach([(error2 + further2, degrees)])
    return "inside the range of the next host" if inside else "undecided"


def document(listed: Sequence[PublishedCell], titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells as one JSON document; words are listed once, and a cell has their places."""
    rows = [cell.plain() for cell in listed]
    words = list(dict.fromkeys(word for row in rows for word in row[:_WORDS]))
    places = {word: place for place, word in enumerate(words)}
    return {
        "schema": "cells/1",
        "words": words,
        "titles": {cell.case.workload: titles.get(cell.case.workload, cell.case.workload) for cell in listed},
        "machines": {cell.machine: machine_name(cell) for cell in listed},
        "kinds": {
            f"{cell.machine} {cell.case.backend}": kind_text(_machine(cell), cell.case.backend) for cell in listed
        },
        "cells": [[*(places[word] for word in row[:_WORDS]), *row[_WORDS:]] for row in rows],
    }


def machine_name(cell: PublishedCell) -> str:
    """Return the name of a cell's machine, of which its address is made."""
    return _machine(cell).name


def _machine(cell: PublishedCell) -> Machine:
    """Return a cell's machine, as its newest record there describes it."""
    return next(record.machine for record in reversed(cell.pool.records) if record.machine.slug == cell.machine)
