"""From what was asked for to the cases that can be measured here, or the reason why not."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from suite import experiments
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case, Implementation
from suite.driver import campaign, fitness, reference_round, validation
from suite.driver.cases import of_scopes, timed
from suite.driver.duration import first_seconds, process_seconds
from suite.driver.profiles import EFFORTS
from suite.driver.request import Request, asked, check_reference_options, chosen_by, workloads
from suite.driver.skipped import baselines_skipped, drawn_at_random, gpu_skipped, scopes_skipped, workloads_skipped
from suite.experiments import Experiment, headline
from suite.processes import children
from suite.results.records.choices import choices
from suite.results.records.machine import Machine
from suite.results.single.old_jax import slow_on_a_cpu
from suite.scopes import USUAL_SCOPES
from suite.system.machine import why_no_gpu
from suite.worker_api.offer import Offer
from suite.workload import Description

_OF_THE_INPUT = ("workers", "loaders", "augmentations")


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
    check_reference_options(request)
    jax, scopes = offers["jax"], request.scopes or (reference_round.TIMED_SCOPES if request.reference else USUAL_SCOPES)
    experiment: Experiment = (
        chosen_by(request.experiment, request) if request.experiment else cast(Experiment, headline)
    )
    about = {description.name: description for description in jax.workloads}
    networks = tuple(about)
    usual = experiments.usual(experiment, jax.workloads)
    about |= {limit.name: limit for limit in jax.ceilings if limit.name in usual}
    wanted = workloads(request, networks, [name for name in about if name not in networks], usual)
    present = _present(request, machine, jax)
    chosen = [about[name] for name in wanted]
    if "gpu" in present:
        validation.check_same_gpu({name: offer.backends.get("gpu", ()) for name, offer in offers.items()})
    _check(request, machine, jax, chosen, present)
    here = MachineCapabilities(
        backends=present,
        cores=machine.cores,
        gpus=len(jax.backends.get("gpu", ())),
        allocator=children.allocators()[0],
        gpu_precisions=validation.precisions(machine),
        data=request.data,
    )
    cases = _cases(request, experiment, chosen, here, machine, offers)
    if request.assigned_workloads:  # only now: what is valid as a whole is valid in parts
        chosen = [about for about in chosen if about.name in request.assigned_workloads]
        cases = tuple(case for case in cases if case.workload in request.assigned_workloads)
    lacking = [c for c in cases if c.implementation != "jax" and not _has(offers[c.implementation], c)]
    there = {case.workload for case in cases}
    cases = tuple(case for case in cases if case not in lacking)
    remarks = [*gpu_skipped(request, machine, jax, why_no_gpu(wanted_one=False)), *workloads_skipped(chosen, scopes)]
    remarks += [*drawn_at_random(request.data, chosen), *baselines_skipped(lacking)]
    if request.reference:
        remarks += reference_round.not_compared(chosen, present, machine, choices(), offers)
    else:
        remarks += _unasked(request, chosen, there) if request.experiment else scopes_skipped(request, chosen, here)
    if not cases:
        raise RuntimeError("; ".join((*remarks, "nothing is left to measure")))
    used = {case.workload for case in cases}
    if any((case.implementation, case.backend) == ("jax", "cpu") for case in cases) and (
        slow := slow_on_a_cpu(jax.packages)
    ):
        remarks.append(slow)
    return CampaignPlan(
        cases=cases,
        descriptions=tuple(about[name] for name in wanted if name in used),
        seconds=_seconds(request, cases, about, machine.cores),
        remarks=tuple(remarks),
    )


def _cases(
    request: Request,
    experiment: Experiment,
    chosen: Sequence[Description],
    here: MachineCapabilities,
    machine: Machine,
    offers: Mapping[Implementation, Offer],
) -> tuple[Case, ...]:
    """Return what is timed of these workloads, whether each implementation has it or not."""
    if request.reference:
        return reference_round.cases(chosen, here, machine, choices(), offers)
    if request.experiment:
        return of_scopes(experiment.cases(chosen, here), request)
    return timed(request, chosen, here)


def _present(request: Request, machine: Machine, jax: Offer) -> tuple[Backend, ...]:
    """Return the backends asked for, else those that there are, the CPU first."""
    for backend in request.backends:
        if backend not in jax.backends:
            raise RuntimeError(fitness.missing_backend(backend, machine, jax, why_no_gpu()))
    return tuple(b for b in ("cpu", "gpu") if b in (request.backends or jax.backends))


def _check(
    request: Request, machine: Machine, jax: Offer, chosen: Sequence[Description], present: tuple[Backend, ...]
) -> None:
    scopes = request.scopes or USUAL_SCOPES
    each: dict[Backend, int] = {b: machine.cores if b == "cpu" else len(jax.backends[b]) for b in present}
    devices: dict[Backend, int] = {backend: request.hosts * count for backend, count in each.items()}
    validation.check_stopping(request.within, request.rounds, request.profile, request.experiment)
    validation.check_baseline_backends(request.baseline_backends, request.implementations, present)
    validation.check_implementations(request.implementations, request.baseline_backends or present)
    validation.check_variants(request.variants, request.implementations, present)
    validation.check_precisions(request.precisions, present, machine)
    validation.check_allocators(request.allocators)
    validation.check_data(request.data, chosen)
    validation.check_input_options(asked(request, _OF_THE_INPUT), scopes)
    validation.check_scope_options(request.cold_starts, request.epochs_times, scopes)
    validation.check_serving(scopes, request.workloads, chosen, request.batch, request.implementations, request.devices)
    validation.check_threads(request.threads, machine, present)
    validation.check_layouts(request.layouts, request.implementations, chosen)
    validation.check_augmentations(request.augmentations, chosen)
    validation.check_hosts(request.hosts, request.devices, scopes, request.variants, request.allocators)
    validation.check_stacked(request.variants, request.batch, request.devices, chosen)
    validation.check_devices(request.devices, request.batch, chosen, request.implementations, devices)


def _has(baseline: Offer, case: Case) -> bool:
    return case.workload in baseline.names and case.backend in baseline.backends


def _unasked(request: Request, chosen: Sequence[Description], there: Collection[str]) -> Iterator[str]:
    """Yield the workloads that were named and that the experiment does not take: `there` are those that it does."""
    if none := [about.name for about in chosen if about.name in request.workloads and about.name not in there]:
        scopes = f" in scope {', '.join(request.scopes)}" if request.scopes else ""
        yield f"experiment '{request.experiment}' has nothing to ask of {', '.join(none)}{scopes}; left out"


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
