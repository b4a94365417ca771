"""A campaign: its plan, its processes and its records."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from suite import experiments
from suite.case import Backend, Case, Implementation, Precision
from suite.driver import reference_round
from suite.driver.journal import PLAN_VERSION, CompletedRun, Header
from suite.driver.profiles import EFFORTS
from suite.processes import children
from suite.results.records.machine import Machine, differing
from suite.results.records.record import SCHEMA, Profile, Record, file_name
from suite.results.records.run import Run
from suite.scopes import SCOPES
from suite.system import software, variables
from suite.system.redact import anonymous
from suite.worker_api.protocol import Offer
from suite.workload import Description

_Side = tuple[str, Backend, Precision]
ProcessGroup = tuple[Case, ...]  # the cases that one process measures; they differ only in scope


def planned(
    cases: Sequence[Case],
    descriptions: Iterable[Description],
    profile: Profile,
    machine: Machine,
    now: datetime,
    experiment: str = "",
    part: int | None = None,
    asked: int | None = None,
    within: float | None = None,
    budget_seconds: float | None = None,
    energy: bool | None = None,
    is_reference: bool = False,
    known_hosts: tuple[int, ...] = (),
    offers: Mapping[Implementation, Offer] | None = None,
) -> Header:
    """Return the plan of a new campaign, named after its start, its machine and its `part` of a cluster's plan.

    With `within`, a relative half-width, every case begins with one round, and rounds are added until its interval is
    that narrow. Otherwise it has `asked` rounds, else its profile's; an experiment may plan fewer. By default energy is
    measured, in an experiment only if it needs GPU utilisation. A reference round measures none. The plan keeps the
    versions of those `offers` whose implementations it measures.
    """
    name = f"{now:%Y%m%d-%H%M%S}-{machine.slug}" + (f"-{part}" if part else "")
    used = {case.workload for case in cases}
    implementations = {case.implementation for case in cases}
    asked = reference_round.rounds(name) if is_reference else 1 if within is not None else asked
    counted = not is_reference and (experiments.sustains(experiment) if energy is None else energy)
    each = tuple(rounds(profile, case, experiment, machine.cores, asked) for case in cases)
    return Header(
        campaign=name,
        created=stamp(now),
        profile=profile,
        rounds=max(each, default=1),
        case_rounds=each,
        seed=int(f"{now:%Y%m%d}"),
        machine=machine,
        commit=software.commit(),
        code=software.code(),
        cases=tuple(cases),
        descriptions=tuple(about for about in descriptions if about.name in used),
        experiment=experiment,
        energy=counted,
        version=PLAN_VERSION,
        within=within,
        budget_seconds=budget_seconds,
        settings=settings(),
        is_reference=is_reference,
        known_hosts=known_hosts,
        software={name: versions(offer) for name, offer in (offers or {}).items() if name in implementations},
    )


def process_groups(cases: Iterable[Case], start_too: bool = False) -> tuple[ProcessGroup, ...]:
    """Group the cases into processes: scopes that time the steady step share one; the others have their own.

    With `start_too`, as in a reference round, the process of a step also times its cold start: it compiles anyway. That
    is so on a GPU alone, since a cold start on the CPU has another allocator.
    """
    groups: dict[Case, list[Case]] = {}
    order = list(SCOPES)
    for case in cases:
        starts = start_too and case.scope == "cold" and case.cache == "empty"
        with_step = starts or SCOPES[case.scope].with_step
        together = msgspec.structs.replace(case, scope="step") if with_step else case
        groups.setdefault(together, []).append(case)
    return tuple(tuple(sorted(group, key=lambda case: order.index(case.scope))) for group in groups.values())


def processes(header: Header) -> tuple[ProcessGroup, ...]:
    """Return the processes of one round of a campaign, each with the cases that it measures."""
    return process_groups(header.cases, start_too=header.is_reference)


def compiles_anew(group: ProcessGroup) -> bool:
    """Return whether each process of a group begins with an empty compile cache because its compile time counts."""
    return any(SCOPES[case.scope].compiles and case.cache == "empty" for case in group)


def rounds(profile: Profile, case: Case, experiment: str, cores: int, asked: int | None = None) -> int:
    """Return a case's rounds: `asked`, else the profile's or one if it trains; an experiment may lower them."""
    most = asked or (1 if SCOPES[case.scope].trains else EFFORTS[profile].rounds)
    fewer = experiments.rounds(experiment, case, cores) if experiment else None
    return most if fewer is None else min(most, fewer)


def file_names(header: Header) -> tuple[str, ...]:
    """Return the file names of the campaign's records, one for each case, without suffix."""
    batches = {about.name: about.batch for about in header.descriptions}
    return tuple(file_name(case, batches[case.workload]) for case in header.cases)


def records(header: Header, done: Iterable[CompletedRun]) -> tuple[Record, ...]:
    """Return a record for each planned case that ran, with its runs."""
    by_case: dict[Case, list[CompletedRun]] = {case: [] for case in header.cases}
    ran: dict[_Side, set[Implementation]] = defaultdict(set)  # without failing
    for entry in done:
        by_case.setdefault(entry.case, []).append(entry)
        if not entry.run.reason:
            ran[_side(entry.case)].add(entry.case.implementation)
    about = {description.name: description for description in header.descriptions}
    return tuple(
        _record(header, case, entries, about[case.workload], tuple(sorted(ran[_side(case)])))
        for case, entries in by_case.items()
        if entries
    )


def _side(case: Case) -> _Side:
    return case.workload, case.backend, case.precision


def _record(
    header: Header, case: Case, entries: Sequence[CompletedRun], about: Description, ran: tuple[Implementation, ...]
) -> Record:
    # A reason is a library's or the system's text.
    redacted = (msgspec.structs.replace(entry.run, reason=anonymous(entry.run.reason)) for entry in entries)
    runs: tuple[Run, ...] = tuple(sorted(redacted, key=lambda run: run.round))
    good = [entry for entry in entries if not entry.run.reason]
    return Record(
        schema=SCHEMA,
        method=SCOPES[case.scope].method,
        campaign=header.campaign,
        created=header.created,
        profile=header.profile,
        workload=case.workload,
        backend=case.backend,
        case=case,
        machine=header.machine,
        software=(good or list(entries))[0].software,
        commit=header.commit,
        description=about,
        runs=runs,
        rounds=header.rounds_of(case),
        reason=next((run.reason for run in runs if run.reason), changed(good)),
        experiment=header.experiment,
        implementations=ran,
    )


def changed(good: Sequence[CompletedRun]) -> str:
    """Return the reason if runs of one case differ in software, settings or program; '' if they agree."""
    if len({(entry.software.python, *sorted(entry.software.packages.items())) for entry in good}) > 1:
        return "its software was changed between two rounds; measure anew"
    names = differing(*(entry.software.settings for entry in good))
    if names:
        words = f"setting {names[0]} was" if len(names) == 1 else f"settings {', '.join(names)} were"
        return f"its {words} changed between two rounds; measure anew"
    if len({entry.run.program for entry in good}) > 1:
        return "its program, the step or an option of it, was changed between two rounds; measure anew"
    return ""


def versions(offer: Offer) -> dict[str, str]:
    """Return the versions of an implementation's Python and packages."""
    return ({"Python": offer.python} if offer.python else {}) | offer.packages


def version_changes(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return each changed version in words, such as 'flax from 0.11.2 to 0.12.0'; () if all agree."""
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return tuple(f"{name} from {then.get(name, 'none')} to {now.get(name, 'none')}" for name in names)


def settings() -> dict[str, str]:
    """Return the settings that all worker processes inherit from this environment."""
    return variables.settings(children.environment(None))


def stamp(now: datetime) -> str:
    """Return a time as records write it: UTC, whole seconds."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
