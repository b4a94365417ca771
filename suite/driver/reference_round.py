"""One reference round: a machine's contribution to the evidence, each side of each workload timed once.

Hosts differ more than processes, so short rounds from many hosts are best. A round times JAX and the workload's chosen
baseline, each with its chosen threads, and first what lacks the most hosts of this kind. Timing all ways and publishing
the fastest would favour the baseline. JAX is also timed with its batch copied and at a cold start, so that these are of
the same host as the step: in the same process, but for a cold start on the CPU. The models of the headline set are
timed from storage and in their documented runs too.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case, Implementation
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.results.pooled.grouping import case_of, kind_of, lacks_kernels, usable
from suite.results.records.choices import Choices, Way
from suite.results.records.identity import HostKey, identity
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.scopes import SCOPES, scopes_that
from suite.workload import Description

OF_EVERY_MODEL = scopes_that(lambda row: row.reference == "every model")
TIMED_SCOPES = (*OF_EVERY_MODEL, *scopes_that(lambda row: row.reference == "headline set"))
IMPLEMENTATIONS: tuple[Implementation, ...] = ("torch", "xgboost")  # of which one is the chosen baseline
_TWICE_IN = 5  # one campaign in so many takes two rounds, to show how much processes of one host differ


def cases(
    catalogue: Sequence[Description],
    here: MachineCapabilities,
    machine: Machine,
    choices: Choices,
    installed: Collection[Implementation],
) -> tuple[Case, ...]:
    """Return the cases of JAX and of the chosen baselines that are installed."""
    planned: list[Case] = []
    for backend in here.backends:
        for about in catalogue:
            planned += _of("jax", about, backend, here, machine, choices)
            way = choices.baseline(about.name, backend, machine.cores, machine.name)
            if way is not None and way.implementation in installed:
                planned += _of(way.implementation, about, backend, here, machine, choices, way)
    return tuple(planned)


def _of(
    implementation: Implementation,
    about: Description,
    backend: Backend,
    here: MachineCapabilities,
    machine: Machine,
    choices: Choices,
    way: Way | None = None,
) -> tuple[Case, ...]:
    threads = choices.threads_of(about.name, implementation, machine.cores) if backend == "cpu" else None
    asked = Request(
        implementations=(implementation,),
        variants=(way.variant,) if way is not None else (),
        layouts=(way.layout,) if way is not None else ("channels-last",),
        scopes=TIMED_SCOPES if about.headline and implementation == "jax" else OF_EVERY_MODEL,
        threads=(threads,) if threads is not None else (),
        allocators=() if implementation == "jax" else (here.allocator,),  # JAX's steps have it, its cold starts do not
    )
    planned = default_cases(asked, [about], replace(here, backends=(backend,)))
    return tuple(  # threads are chosen for steady steps
        case if SCOPES[case.scope].steady else msgspec.structs.replace(case, threads=None) for case in planned
    )


def known_hosts(cases: Iterable[Case], machine: Machine, published: Iterable[Record]) -> tuple[int, ...]:
    """Return for each case how many hosts of this kind of machine have a published time of it, by today's method.

    Steps whose CUDA graph lacks kernels do not count.
    """
    hosts: dict[Hashable, set[HostKey]] = defaultdict(set)
    for record in published:
        who = identity(record)
        counts = usable(record) and not lacks_kernels(record)
        if counts and who.method == SCOPES[record.case.scope].method and not who.own_campaign_only:
            hosts[case_of(record), kind_of(record.machine, record.case.backend)].add(who.host_key)
    planned = (msgspec.structs.replace(case.timed, threads=None) for case in cases)  # the chosen threads are all cores
    return tuple(len(hosts[case, kind_of(machine, case.backend)]) for case in planned)


def not_compared(
    catalogue: Sequence[Description],
    backends: Sequence[Backend],
    machine: Machine,
    choices: Choices,
    installed: Collection[Implementation],
) -> tuple[str, ...]:
    """Return a remark for each chosen baseline that is not installed, with its number of workloads."""
    lacking: dict[Implementation, set[str]] = {}
    for about in catalogue:
        for backend in backends:
            way = choices.baseline(about.name, backend, machine.cores, machine.name)
            if way is not None and way.implementation not in installed:
                lacking.setdefault(way.implementation, set()).add(about.name)
    return tuple(
        f"{implementation} is not installed: {units.pluralize(len(names), 'workload')} without a baseline; install it, "
        f"or set SUITE_{implementation.upper()}_PYTHON to a Python that has it"
        for implementation, names in lacking.items()
    )


def rounds(campaign: str) -> int:
    """Return the rounds of a reference campaign, 1 or 2; its name decides, and one in five has 2."""
    return 2 if int(hashlib.sha256(campaign.encode()).hexdigest(), 16) % _TWICE_IN == 0 else 1
