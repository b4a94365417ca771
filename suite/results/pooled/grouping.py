"""Which records are evidence of the same time, so that they pool, and which pools share variance components.

Records that pool share case, kind of machine, program, versions, settings and method. Skipped are smoke, invalid and
disturbed records, and processes that failed or took short samples. Wide or unsteady ones stay: to skip them would
select by the result. Pools of one kind of machine, implementation and scope share variance components.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from statistics import median
from typing import NamedTuple

import msgspec

from suite.case import Backend, Case, Implementation
from suite.results.pooled import spreads
from suite.results.records.identity import HostKey, identity
from suite.results.records.machine import Machine, bearing, outside
from suite.results.records.record import Record, once
from suite.results.records.run import Run
from suite.results.single import old_jax, validity
from suite.results.single.summary import disturbed, step_seconds
from suite.results.stats import variance_components
from suite.results.stats.variance_components import Components
from suite.scopes import SCOPES, Scope

# Seconds of a step below which the host's dispatch sets the time. Published processes of steps below 0.1 ms on GPUs
# differ by 9 %, those of longer steps by less than 1 %. With steps of 0.1 to 0.2 ms among the longer ones, 30 of 39
# left-out hosts fell inside the range of the others; of steps of 0.2 to 3 ms, 66 of 67.
DISPATCH_SECONDS = 2e-4
_PACKAGES: Mapping[Implementation, tuple[str, ...]] = {
    "jax": ("jax", "jaxlib", "flax", "optax"),
    "torch": ("torch", "torch-cuda", "torch-cudnn"),
    "keras": ("keras", "tensorflow", "jax", "jaxlib", "torch", "torch-cuda", "torch-cudnn"),
    "xgboost": ("xgboost",),
    "openvino": ("openvino", "torch"),
}
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
    return _components_of(tuple(tuple((host, tuple(values)) for host, values in cell.items()) for cell in cells))


@lru_cache(2**12)  # each left-out host changes a few cells, and all others are asked for again
def _components_of(cells: tuple[tuple[tuple[HostKey, tuple[float, ...]], ...], ...]) -> Components:
    values = [tuple(seconds for _, seconds in cell) for cell in cells]
    return variance_components.components(values, [tuple(host for host, _ in cell) for cell in cells])


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

    @cache
    def of_group(left_out: int, key: tuple[Hashable, ...]) -> dict[Likeness, Components]:
        return {likeness: known(likeness) for likeness in wider[left_out].get(key, ())}

    @cache
    def components(likeness: Likeness) -> tuple[Components, bool]:
        own = best = known(likeness)
        for left_out in wider:
            if best.enough:
                break
            others = dict(of_group(left_out, likeness[left_out:]))
            others.pop(likeness, None)
            candidate = variance_components.borrowed(own, others.values(), unlikeness(left_out))
            best = max(best, candidate, key=lambda each: each.degrees)
        return best, best is not own

    return components


def grouped(records: Iterable[Record]) -> list[list[Record]]:
    """Return the groups of records that pool, each sorted by age, the oldest first."""
    groups: dict[Hashable, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (record.created, record.digest)):
        if usable(record):
            groups[pool_key(record)].append(record)
    return list(groups.values())


def case_of(record: Record) -> Case:
    """Return the case that a record's time counts for: a stand-in is random content, chosen threads are all cores."""
    case = record.case.timed
    return msgspec.structs.replace(case, threads=None) if record.chosen_threads else case


@once
def pool_key(record: Record) -> Hashable:
    """Return what two records must share to be evidence of the same time."""
    return case_of(record), record.case.threads, code_key(record)


def code_key(record: Record) -> Hashable:
    """Return what two records of one case must share, whatever their threads: kind of machine, method and code."""
    who, versions, settings = identity(record), record.software.packages, bearing(record.software.settings)
    return (
        kind_of(record.machine, record.case.backend),
        who.method,
        who.program,
        who.campaign if who.own_campaign_only else "",
        tuple(versions.get(name, "") for name in _PACKAGES[record.case.implementation]),
        lacks_kernels(record),
        # A program of method 1 has its settings in its digest.
        () if who.method else tuple((name, value) for name, value in settings.items() if outside(name)),
    )


def lacks_kernels(record: Record) -> bool:
    """Return whether a step's CUDA graph holds convolutions and was made before their kernels had run.

    On an H200 six of 16 such steps take 4 to 6 % more time, so the two do not pool; the digest does not tell them
    apart. Older records do not state it: their graph lacks kernels if the process had no compile cache.
    """
    if SCOPES[record.case.scope].compiles:  # it times the first graph
        return False
    settings = record.software.settings
    known = settings.get("jax_graph_lacks_kernels")
    if known is not None:
        return known == "True"
    graph = settings.get("xla_gpu_enable_command_buffer", "")
    return settings.get("JAX_ENABLE_COMPILATION_CACHE") != "true" and "CONVOLUTION" in graph


@once
def usable(record: Record) -> bool:
    """Return whether a record is evidence: valid, undisturbed, and with a process that counts."""
    if record.profile == "smoke" or record.cut_short or any(validity.invalid(record)) or old_jax.slow(record):
        return False
    return not any(disturbed(record)) and bool(_counted(record))


def seconds_by_host(records: Sequence[Record]) -> dict[HostKey, tuple[float, ...]]:
    """Return the seconds of each process that counts, by host."""
    seconds: dict[HostKey, tuple[float, ...]] = {}
    for host, _, value in processes(records):
        seconds[host] = (*seconds.get(host, ()), value)
    return seconds


def processes(records: Iterable[Record]) -> Iterator[tuple[HostKey, Run, float]]:
    """Yield host, run and seconds of a step of each process that counts."""
    for record in records:
        for run, value in _counted(record):
            yield identity(record).host_key, run, value


@once
def _counted(record: Record) -> Sequence[tuple[Run, float]]:
    """Return each process that counts with its seconds of a step."""
    return [
        (run, value)
        for run in record.runs
        if not validity.is_short(record.case, run) and (value := step_seconds(run, record.method))
    ]


def likeness_of(group: Sequence[Record]) -> Likeness:
    """Return the likeness of a group of records that pool, by its newest record."""
    record = group[-1]
    backend, scope = spreads.kind(record.case.backend, record.case.scope)
    values = [value for host in seconds_by_host(group).values() for value in host]
    short = scope == "step" and bool(values) and median(values) < DISPATCH_SECONDS
    return Likeness(kind_of(record.machine, backend), record.case.implementation, backend, scope, short)
