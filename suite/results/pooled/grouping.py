"""Which records are evidence of the same time, so that they pool.

They share case, kind of machine, program, versions, settings and method. Skipped are smoke, invalid and disturbed
records, and processes that failed or took short samples. Wide or unsteady ones stay: to skip them would select by the
result.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import median

import msgspec

from suite.case import Case, Implementation
from suite.results.pooled import spreads
from suite.results.pooled.kinds import Likeness, kind_of
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record, once
from suite.results.records.run import Run
from suite.results.records.settings import bearing
from suite.results.single import old_jax, validity
from suite.results.single.summary import disturbed, step_seconds

# Seconds of a step below which the host's dispatch sets the time. Published processes of steps below 0.1 ms on GPUs
# differ by 9 %, those of longer steps by less than 1 %. With steps of 0.1 to 0.2 ms among the longer ones, 30 of 39
# left-out hosts fell inside the range of the others; of steps of 0.2 to 3 ms, 66 of 67.
DISPATCH_SECONDS = 2e-4
_PACKAGES: Mapping[Implementation, tuple[str, ...]] = {
    "jax": ("jax", "jaxlib", "flax", "optax"),
    "torch": ("torch", "torch-cuda", "torch-cudnn"),
    "keras": ("keras", "tensorflow"),
    "xgboost": ("xgboost",),
}


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
    who, versions = identity(record), record.software.packages
    return (
        case_of(record),
        record.case.threads,
        kind_of(record.machine, record.case.backend),
        who.method,
        who.program,
        who.campaign if who.own_campaign_only else "",
        tuple(versions.get(name, "") for name in _PACKAGES[record.case.implementation]),
        # A program of method 1 has its settings in its digest.
        () if who.method else tuple(_outside(record).items()),
    )


@once
def usable(record: Record) -> bool:
    """Return whether a record is evidence: valid, undisturbed, and with a process that counts."""
    if record.profile == "smoke" or record.cut_short or any(validity.invalid(record)) or old_jax.slow(record):
        return False
    return not any(disturbed(record)) and any(_counts(record, run) for run in record.runs)


def seconds_by_host(records: Sequence[Record]) -> dict[HostKey, tuple[float, ...]]:
    """Return the seconds of each process that counts, by host."""
    seconds: dict[HostKey, tuple[float, ...]] = {}
    for record in records:
        host = identity(record).host_key
        values = (step_seconds(run, record.method) for run in record.runs if _counts(record, run))
        seconds[host] = (*seconds.get(host, ()), *(value for value in values if value))
    return seconds


def _counts(record: Record, run: Run) -> bool:
    return not validity.is_short(record.case, run) and bool(step_seconds(run, record.method))


def likeness_of(group: Sequence[Record]) -> Likeness:
    """Return the likeness of a group of records that pool, by its newest record."""
    record = group[-1]
    backend, scope = spreads.kind(record.case.backend, record.case.scope)
    values = [value for host in seconds_by_host(group).values() for value in host]
    short = scope == "step" and bool(values) and median(values) < DISPATCH_SECONDS
    return Likeness(kind_of(record.machine, backend), record.case.implementation, backend, scope, short)


def _outside(record: Record) -> dict[str, str]:
    """Return the environment variables and XLA flags that bear on speed."""
    settings = bearing(record.software.settings)
    return {name: value for name, value in settings.items() if name.isupper() or name.startswith("xla_")}
