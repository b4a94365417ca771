"""From what was asked for to the cases that can be measured here, or the reason why not."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from suite import experiments
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case, Implementation
from suite.driver import availability, campaign, fitness, reference_round, skipped, validation
from suite.driver.cases import Walk, cases, walk
from suite.driver.forecast import first_seconds, process_seconds
from suite.driver.options import check_decided
from suite.driver.profiles import EFFORTS
from suite.driver.request import Request
from suite.experiments import Experiment, headline
from suite.processes import children
from suite.results.records.choices import choices
from suite.results.records.machine import Machine
from suite.results.single.old_jax import slow_on_a_cpu
from suite.scopes import USUAL_SCOPES
from suite.system.machine import why_no_gpu
from suite.worker_api.protocol import Offer
from suite.workload import Description


@dataclass(frozen=True, kw_only=True)
class CampaignPlan:
    """What will be measured, how long that may take, and what the user should know about it."""

    cases: tuple[Case, ...]
    descriptions: tuple[Description, ...]
    seconds: float  # a guess: of one pass where rounds are added, else of all planned rounds
    remarks: tuple[str, ...]


def make_plan(request: Request, machine: Machine, offers: Mapping[Implementation, Offer]) -> CampaignPlan:
    """Return what can be measured of a request, given what each implementation asked for has to offer, and JAX.

    Raises LookupError for an unknown workload or variant, RuntimeError for a backend or devices that are not there,
    ValueError for what does not fit together, such as a precision that the backend does not have.
    """
    jax = offers["jax"]
    experiment = experiment_of(request)
    about = {description.name: description for description in jax.workloads}
    networks = tuple(about)
    usual = experiments.usual(experiment, jax.workloads)
    about |= {limit.name: limit for limit in jax.ceilings if limit.name in usual}
    wanted = _workloads(request, networks, tuple(about), usual)
    present = _present(request, machine, jax)
    chosen = [about[name] for name in wanted]
    validation.check(request, chosen, present)
    availability.check(request, machine, offers, chosen, present)
    here = MachineCapabilities(
        backends=present,
        cores=machine.cores,
        gpus=len(jax.backends.get("gpu", ())),
        allocator=children.allocators()[0],
        gpu_precisions=availability.precisions(machine),
        data=request.data,
    )
    made, walked = _made(request, experiment, chosen, here, machine, offers)
    if request.assigned_workloads:  # only now: what is valid as a whole is valid in parts
        chosen = [about for about in chosen if about.name in request.assigned_workloads]
        made = tuple(case for case in made if case.workload in request.assigned_workloads)
        walked = tuple((one, reason) for one, reason in walked if one.about in chosen)
    lacking = [c for c in made if c.implementation != "jax" and not _has(offers[c.implementation], c)]
    there = {case.workload for case in made}
    made = tuple(case for case in made if case not in lacking)
    scopes = request.scopes or (reference_round.TIMED_SCOPES if request.reference else USUAL_SCOPES)
    remarks = [*skipped.gpu_skipped(request, machine, jax, why_no_gpu(wanted_one=False))]
    remarks += [*skipped.workloads_skipped(chosen, scopes), *skipped.drawn_at_random(request.data, chosen)]
    remarks += skipped.baselines_skipped(lacking)
    if request.reference:
        remarks += reference_round.not_compared(chosen, present, machine, choices(), offers)
    elif request.experiment:
        remarks += skipped.workloads_unasked(request, chosen, there)
    else:
        remarks += skipped.scopes_skipped(request, walked)
    if not made:
        raise RuntimeError("; ".join((*remarks, "nothing is left to measure")))
    used = {case.workload for case in made}
    if any((case.implementation, case.backend) == ("jax", "cpu") for case in made) and (
        slow := slow_on_a_cpu(jax.packages)
    ):
        remarks.append(slow)
    return CampaignPlan(
        cases=made,
        descriptions=tuple(about[name] for name in wanted if name in used),
        seconds=_seconds(request, made, about, machine.cores),
        remarks=tuple(remarks),
    )


def experiment_of(request: Request) -> Experiment:
    """Return the experiment asked for, else the headline's, whose workloads are the usual ones.

    Raises LookupError if there is none of that name, ValueError for an option that it or a reference round decides on.
    """
    if request.reference:
        check_decided(request, "reference", "--reference", "one of them")
    if not request.experiment:
        return cast(Experiment, headline)
    found = experiments.load(request.experiment)
    check_decided(request, "experiment", f"experiment '{request.experiment}'", "it")
    return found


def _workloads(request: Request, networks: Sequence[str], there: Sequence[str], usual: Sequence[str]) -> Sequence[str]:
    """Return the names of the workloads asked for; where none is named the usual ones that there are, or all networks.

    Raises LookupError, naming what there is and the nearest match, for one that is not there, ValueError for names
    beside all.
    """
    if request.every_workload and request.workloads:
        raise ValueError(f"--all asked for beside {', '.join(request.workloads)}; leave out --all, or the names")
    for name in request.workloads:
        if name not in there:
            near = difflib.get_close_matches(name.lower(), sorted(there), 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise LookupError(f"no workload '{name}'{hint}; there are: {', '.join(sorted(there))}")
    usual = [name for name in usual if name in there]
    every = request.every_workload or request.reference or not usual
    return tuple(dict.fromkeys(request.workloads)) or (networks if every else usual)


def _present(request: Request, machine: Machine, jax: Offer) -> tuple[Backend, ...]:
    """Return the backends asked for, else those that there are, the CPU first."""
    for backend in request.backends:
        if backend not in jax.backends:
            raise RuntimeError(fitness.missing_backend(backend, machine, jax, why_no_gpu()))
    return tuple(b for b in ("cpu", "gpu") if b in (request.backends or jax.backends))


def _made(
    request: Request,
    experiment: Experiment,
    chosen: Sequence[Description],
    here: MachineCapabilities,
    machine: Machine,
    offers: Mapping[Implementation, Offer],
) -> tuple[tuple[Case, ...], Walk]:
    """Return the cases, whether each implementation has them or not, and the walk that they come from, if one does."""
    if request.reference:
        return reference_round.cases(chosen, here, machine, choices(), offers), ()
    if request.experiment:
        return _of_scopes(experiment.cases(chosen, here), request), ()
    walked = walk(request, chosen, here)
    timed = {(one.variant, one.scope) for one, kept_out_by in walked if not kept_out_by}
    validation.check_variant_scopes(request.variants, request.scopes or USUAL_SCOPES, timed, request.devices)
    return cases(request, walked, here), walked


def _of_scopes(cases: tuple[Case, ...], request: Request) -> tuple[Case, ...]:
    """Return the cases of an experiment that are of the scopes asked for, all where none is.

    Raises ValueError, naming those that it has, for one without cases.
    """
    there = tuple(dict.fromkeys(case.scope for case in cases))
    for scope in request.scopes:
        if scope not in there:
            raise ValueError(
                f"--scope {scope} asked for with experiment '{request.experiment}', which has: {', '.join(there)}"
            )
    return tuple(case for case in cases if case.scope in (request.scopes or there))


def _has(baseline: Offer, case: Case) -> bool:
    return case.workload in baseline.names and case.backend in baseline.backends


def _seconds(request: Request, cases: Sequence[Case], about: Mapping[str, Description], cores: int) -> float:
    """Return a guess of how long the cases take: one pass where rounds are added, else all planned rounds.

    Of a reference campaign it is one round: most have one.
    """
    effort, asked = EFFORTS[request.profile], 1 if request.adaptive or request.reference else request.rounds
    return sum(
        campaign.rounds(request.profile, group[0], request.experiment or "", cores, asked)
        * process_seconds(group, about[group[0].workload], effort, cores)
        + first_seconds(group, about[group[0].workload])
        for group in campaign.process_groups(cases)
    )
