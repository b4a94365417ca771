"""From a request to the cases that can be measured here and remarks on what is skipped, or an error that says why."""

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from suite import experiments, families
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case, Implementation
from suite.driver import campaign, fitness, reference_round, validation
from suite.driver.cases import KEEPING_OUT, Walk, cases, walk
from suite.driver.forecast import first_seconds, process_seconds
from suite.driver.profiles import EFFORTS
from suite.driver.request import OPTIONS, Request, check_decided, given
from suite.experiments import Experiment, headline
from suite.processes import children
from suite.results.records.choices import choices
from suite.results.records.machine import Machine
from suite.results.single.old_jax import slow_on_a_cpu
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.system.machine import why_no_gpu
from suite.variants import NAMES, way_of
from suite.worker_api.protocol import Offer
from suite.workload import Description


@dataclass(frozen=True, kw_only=True)
class CampaignPlan:
    """The cases to measure, a guess of their duration, and remarks for the user."""

    cases: tuple[Case, ...]
    descriptions: tuple[Description, ...]
    seconds: float  # a guess, for one pass of an adaptive plan, else for all planned rounds
    remarks: tuple[str, ...]


def make_plan(request: Request, machine: Machine, offers: Mapping[Implementation, Offer]) -> CampaignPlan:
    """Return the plan of a request, given the offers of JAX and of each requested implementation.

    Raises LookupError for an unknown workload or variant, RuntimeError for missing backends or devices, ValueError for
    options that do not fit together, such as a precision that the backend lacks.
    """
    jax = offers["jax"]
    experiment = experiment_of(request)
    about = {description.name: description for description in jax.workloads}
    networks = tuple(about)
    usual = experiments.usual(experiment, jax.workloads)
    about |= {other.name: other for other in jax.of_experiments if other.name in usual}
    _check_outside(request, [other.name for other in jax.of_experiments if other.name not in about])
    wanted = _workloads(request, networks, tuple(about), usual)
    present = _present(request, machine, jax)
    chosen = [about[name] for name in wanted]
    validation.check(request, chosen, present)
    validation.check_machine(request, machine, offers, chosen, present)
    here = MachineCapabilities(
        backends=present,
        cores=machine.cores,
        gpus=len(jax.backends.get("gpu", ())),
        allocator=children.allocators()[0],
        gpu_precisions=validation.precisions(machine),
        data=request.data,
    )
    planned, walked = _planned(request, experiment, chosen, here, machine, offers)
    if request.assigned_workloads:  # after the checks, so that every job checks the whole request
        chosen = [about for about in chosen if about.name in request.assigned_workloads]
        planned = tuple(case for case in planned if case.workload in request.assigned_workloads)
        walked = tuple((one, reason) for one, reason in walked if one.about in chosen)
    lacking = [c for c in planned if c.implementation != "jax" and not offers[c.implementation].has(c)]
    with_cases = {case.workload for case in planned}
    planned = tuple(case for case in planned if case not in lacking)
    scopes = request.scopes or (reference_round.TIMED_SCOPES if request.reference else USUAL_SCOPES)
    remarks = [*parts_skipped(request, machine, jax, chosen, scopes), *baselines_skipped(lacking, offers)]
    if request.reference:
        remarks += reference_round.not_compared(chosen, present, machine, choices(), offers)
    elif request.experiment:
        remarks += workloads_unasked(request, chosen, with_cases)
    else:
        remarks += scopes_skipped(request, walked)
    if not planned:
        raise RuntimeError("; ".join((*remarks, "nothing is left to measure")))
    used = {case.workload for case in planned}
    if any((case.implementation, case.backend) == ("jax", "cpu") for case in planned) and (
        slow := slow_on_a_cpu(jax.packages)
    ):
        remarks.append(slow)
    return CampaignPlan(
        cases=planned,
        descriptions=tuple(about[name] for name in wanted if name in used),
        seconds=_seconds(request, planned, about, machine.cores),
        remarks=tuple(remarks),
    )


def experiment_of(request: Request) -> Experiment:
    """Return the requested experiment, else the headline's.

    Raises LookupError for an unknown name, ValueError for an option that it or a reference round decides.
    """
    if request.reference:
        check_decided(request, "reference", "--reference", "one of them")
    if not request.experiment:
        return cast(Experiment, headline)
    experiment = experiments.load(request.experiment)
    check_decided(request, "experiment", f"experiment '{request.experiment}'", "it")
    return experiment


def _check_outside(request: Request, others: Sequence[str]) -> None:
    """Raise LookupError for a named workload that only another experiment times, with that experiment."""
    for name in set(others).intersection(request.workloads):
        owner = next(each for each in experiments.names() if name in experiments.load(each).WORKLOADS)
        raise LookupError(f"no workload '{name}' outside experiment '{owner}'; add --experiment {owner}")


def _workloads(request: Request, networks: Sequence[str], known: Sequence[str], usual: Sequence[str]) -> Sequence[str]:
    """Return the named workloads; if none is named, the usual ones that are known, or all networks.

    Raises LookupError for an unknown name, listing the known ones and the nearest match; ValueError for names beside
    --all.
    """
    if request.every_workload and request.workloads:
        raise ValueError(f"--all asked for beside {', '.join(request.workloads)}; leave out --all, or the names")
    for name in request.workloads:
        if name not in known:
            if family := families.family_of(name):
                sizes = ", ".join(other for other in families.NAMES if families.family_of(other) == family)
                raise LookupError(f"no workload '{name}'; of its family experiment 'crossover' times: {sizes}")
            near = difflib.get_close_matches(name.lower(), sorted(known), 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise LookupError(f"no workload '{name}'{hint}; there are: {', '.join(sorted(known))}")
    usual = [name for name in usual if name in known]
    every = request.every_workload or request.reference or not usual
    return tuple(dict.fromkeys(request.workloads)) or (networks if every else usual)


def _present(request: Request, machine: Machine, jax: Offer) -> tuple[Backend, ...]:
    """Return the requested backends, by default all, the CPU first. Raises RuntimeError for a missing one."""
    for backend in request.backends:
        if backend not in jax.backends:
            raise RuntimeError(fitness.missing_backend(backend, machine, jax, why_no_gpu()))
    return tuple(b for b in ("cpu", "gpu") if b in (request.backends or jax.backends))


def _planned(
    request: Request,
    experiment: Experiment,
    chosen: Sequence[Description],
    here: MachineCapabilities,
    machine: Machine,
    offers: Mapping[Implementation, Offer],
) -> tuple[tuple[Case, ...], Walk]:
    """Return the cases, available or not, and the walk behind them; () for experiments and reference rounds."""
    if request.reference:
        return reference_round.cases(chosen, here, machine, choices(), offers), ()
    if request.experiment:
        return _of_scopes(experiment.cases(chosen, here), request), ()
    walked = walk(request, chosen, here)
    timed = {(one.variant, one.scope) for one, kept_out_by in walked if not kept_out_by}
    validation.check_variant_scopes(request, timed)
    return cases(request, walked, here), walked


def _of_scopes(cases: tuple[Case, ...], request: Request) -> tuple[Case, ...]:
    """Return an experiment's cases of the requested scopes, by default all.

    Raises ValueError for a scope without cases, naming those that it has.
    """
    own_scopes = tuple(dict.fromkeys(case.scope for case in cases))
    for scope in request.scopes:
        if scope not in own_scopes:
            raise ValueError(
                f"--scope {scope} asked for with experiment '{request.experiment}', which has: {', '.join(own_scopes)}"
            )
    return tuple(case for case in cases if case.scope in (request.scopes or own_scopes))


def _seconds(request: Request, cases: Sequence[Case], about: Mapping[str, Description], cores: int) -> float:
    """Return a guess of the cases' duration in seconds: one pass of an adaptive plan, else all planned rounds.

    A reference campaign counts as one round, as most have.
    """
    effort, asked = EFFORTS[request.profile], 1 if request.adaptive or request.reference else request.rounds
    return sum(
        campaign.rounds(request.profile, group[0], request.experiment or "", cores, asked)
        * process_seconds(group, about[group[0].workload], effort, cores)
        + first_seconds(group, about[group[0].workload])
        for group in campaign.process_groups(cases, start_too=request.reference)
    )


def parts_skipped(
    request: Request, machine: Machine, jax: Offer, chosen: Sequence[Description], scopes: Collection[Scope]
) -> Iterator[str]:
    """Yield why an unseen GPU is skipped if no backend was requested, and the workloads that lack a scope or data."""
    problem = why_no_gpu(wanted_one=False)  # although there is a driver
    if not request.backends and "gpu" not in jax.backends and (machine.gpus or problem):
        yield fitness.missing_backend("gpu", machine, jax, problem)
    if "run" in scopes and (none := [about.name for about in chosen if about.run is None]):
        yield f"no whole run is documented for: {', '.join(none)}; skipped in scope 'run'"
    if "serve" in scopes and (none := [about.name for about in chosen if about.trained]):
        yield f"only inference is served: {', '.join(none)}; skipped in scope 'serve'"
    if "kernels" in scopes and not request.backends and "gpu" not in jax.backends:
        yield "scope 'kernels' needs a GPU, see suite doctor; skipped"
    if "written" in scopes and (none := [about.name for about in chosen if not about.is_network]):
        yield f"only networks have loops as written: {', '.join(none)}; skipped in scope 'written'"
    read = [f"'{scope}'" for scope in scopes if SCOPES[scope].reads_storage]
    if read and (none := [about.name for about in chosen if not about.stored]):
        yield f"no stored data: {', '.join(none)}; skipped in scope {', '.join(read)}"
    if request.data == "tfds" and (none := [about.name for about in chosen if not about.stored]):
        yield f"no published data set: {', '.join(none)}; their batches are drawn at random"


def baselines_skipped(lacking: Sequence[Case], offers: Mapping[Implementation, Offer]) -> Iterator[str]:
    """Yield where each baseline cannot run, from the cases that it lacks, and why it has no GPU if it says so."""
    baselines: dict[Implementation, None] = dict.fromkeys(case.implementation for case in lacking)
    for baseline in baselines:
        its = [case for case in lacking if case.implementation == baseline]
        places = ", ".join(sorted({f"{case.workload} on {case.backend}" for case in its}))
        reasons = offers[baseline].reasons
        known = [offers[baseline].problem, *(reasons.get(key, "") for c in its for key in (c.variant, c.backend))]
        why = next((f" ({words})" for words in known if words), "")
        ways = "; ".join(sorted({way_of(case) for case in its})) if offers[baseline].ways else baseline
        yield f"{ways} cannot run: {places}{why}; skipped"


def workloads_unasked(request: Request, chosen: Sequence[Description], measured: Collection[str]) -> Iterator[str]:
    """Yield the named workloads of which the experiment measures nothing; `measured` are the others."""
    if none := [about.name for about in chosen if about.name in request.workloads and about.name not in measured]:
        scopes = f" in scope {', '.join(request.scopes)}" if request.scopes else ""
        yield f"experiment '{request.experiment}' has no case of {', '.join(none)}{scopes}; skipped"


def scopes_skipped(request: Request, walked: Walk) -> Iterator[str]:
    """Yield the requested scopes in which no workload is timed, and the fewest options that exclude them."""
    can_go = {name for name, _ in given(request)}
    lost: dict[tuple[str, ...], list[Scope]] = {}
    for scope in request.scopes or USUAL_SCOPES:
        reasons = {kept_out_by for one, kept_out_by in walked if one.scope == scope}
        order = {reason: (len(reason), [KEEPING_OUT.index(name) for name in reason]) for reason in reasons}
        helping = sorted((reason for reason in reasons if can_go.issuperset(reason)), key=order.__getitem__)
        if helping and helping[0]:  # else it is timed, or no given option excludes it
            lost.setdefault(helping[0], []).append(scope)
    for names, scopes in lost.items():
        options = " and ".join(f"{OPTIONS[name].name} {_written(getattr(request, name))}" for name in names)
        yield f"scope {', '.join(scopes)} is not timed with {options}{_but(request, scopes, walked)}; skipped"


def _but(request: Request, scopes: Sequence[Scope], walked: Walk) -> str:
    """Return, in words, a variant in which the scopes are timed though the default one is not; '' if there is none."""
    other = {(one.variant, one.scope) for one, kept_out_by in walked if kept_out_by == ("variants",)}
    for name in () if request.variants else NAMES:
        if all((name, scope) in other for scope in scopes):
            return f", but with --variant {name}"
    return ""


def _written(value: int | Sequence[str]) -> str:
    return str(value) if isinstance(value, int) else ",".join(value)
