"""From what was asked for to the cases that can be measured here, or the reason why not."""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import msgspec

from suite import experiments, units
from suite.experiments import headline
from suite.inquiry.here import Here
from suite.measure import campaign, children, fitness, refusal
from suite.measure.estimate import first_seconds, process_seconds
from suite.measure.machine import why_no_gpu
from suite.measure.probe import Offer
from suite.measure.profiles import EFFORTS
from suite.results.record import Machine, Profile
from suite.workload import (
    FROM_STORAGE,
    USUAL_SCOPES,
    Allocator,
    Augmentation,
    Backend,
    Case,
    CompileCache,
    Data,
    Description,
    Implementation,
    Loader,
    Precision,
    Scope,
)

_PROBE_SECONDS = 180.0
# What an experiment decides on itself: names in a request, and the options that set them.
OPTIONS = {
    "batch": "--batch", "precisions": "--precision", "variants": "--variant",
    "implementations": "--implementation", "allocators": "--allocator", "devices": "--devices", "hosts": "--hosts",
    "caches": "--cache", "length": "--length", "workers": "--workers", "loaders": "--loader",
    "augmentations": "--augmentation", "peer_backends": "--peer-backend",
}  # fmt: skip
# What may leave a scope without a case.
_NARROWING = {
    "devices": "--devices", "variants": "--variant", "implementations": "--implementation", "backends": "--backend",
}  # fmt: skip
OF_THE_INPUT = ("workers", "loaders", "augmentations")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for; an empty tuple means: as much of it as there is."""

    workloads: tuple[str, ...] = ()
    every_workload: bool = False
    dealt: tuple[str, ...] = ()  # of these workloads those that one job of a cluster measures; empty: all
    backends: tuple[Backend, ...] = ()
    profile: Profile = "quick"
    rounds: int | None = None  # None: the profile's
    most_rounds: int | None = None  # of what stays uncertain; None: the profile's, with a budget none
    batch: int | None = None
    precisions: tuple[Precision, ...] = ("float32-highest",)
    scopes: tuple[Scope, ...] = ()  # empty: the usual ones, all of an experiment's
    caches: tuple[CompileCache, ...] = ("empty",)
    length: int = 1
    data: Data = "embedded"
    workers: tuple[int, ...] = ()  # empty: as many as cores
    loaders: tuple[Loader, ...] = ("threads",)
    augmentations: tuple[Augmentation, ...] = ("host",)
    implementations: tuple[Implementation, ...] = ("jax",)
    variants: tuple[str, ...] = ()
    allocators: tuple[Allocator, ...] = ()
    peer_backends: tuple[Backend, ...] = ()
    devices: int = 1
    hosts: int = 1
    energy: bool | None = None  # None: but for experiments that can do without
    budget_minutes: float | None = None
    experiment: str | None = None  # decides on what is in OPTIONS; all else stays the user's


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What will be measured, how long that may take, and what the user should know about it."""

    cases: tuple[Case, ...]
    descriptions: tuple[Description, ...]
    seconds: float
    remarks: tuple[str, ...]


def offer(implementation: Implementation) -> Offer:
    """Ask an implementation's interpreter what it can run.

    Raises RuntimeError if it cannot run at all.
    """
    python = children.interpreter(implementation)
    env = children.environment(None)
    with children.child("suite.measure.probe", implementation, python=python, env=env) as child:
        try:
            line = child.line(_PROBE_SECONDS)
        except TimeoutError:
            raise RuntimeError(
                f"'{python}' did not say within {_PROBE_SECONDS:.0f} s what it can run; see suite doctor"
            ) from None
        if line is None:
            raise RuntimeError(f"'{python}' could not say what it can run: it {child.ended()}; see suite doctor")
    answer = msgspec.json.decode(line, type=Offer)
    if answer.problem:
        raise RuntimeError(
            f"implementation '{implementation}' asked for, '{python}' cannot run it: {answer.problem}; install it "
            f"there, or name a Python that has it in SUITE_{implementation.upper()}_PYTHON"
        )
    return answer


def asked(request: Request, names: Iterable[str]) -> tuple[str, ...]:
    """Return the options of these names that differ from what is usual."""
    usual = Request()
    return tuple(OPTIONS[name] for name in names if getattr(request, name) != getattr(usual, name))


def chosen_by(experiment: str, request: Request) -> experiments.Experiment:
    """Return the experiment.

    Raises LookupError if there is none of that name, ValueError for an option that it decides on itself.
    """
    found = experiments.load(experiment)
    for option in asked(request, OPTIONS):
        raise ValueError(f"{option} asked for with experiment '{experiment}', which decides that itself; leave it out")
    return found


def known(wanted: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the workloads asked for.

    Raises LookupError, naming what there is and the nearest match, for one that does not exist.
    """
    wanted = tuple(dict.fromkeys(wanted))
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name.lower(), names, 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise LookupError(f"no workload '{name}'{hint}; there are: {', '.join(names)}")
    return wanted


def workloads(
    request: Request, networks: Sequence[str], limits: Sequence[str], usual: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the workloads asked for; where none is named the usual ones that there are, or all networks.

    Raises LookupError for one that is neither a network nor a limit of machines, ValueError for names beside all.
    """
    if request.every_workload and request.workloads:
        raise ValueError(f"--all asked for beside {', '.join(request.workloads)}; leave out --all, or the names")
    there = {*networks, *limits}
    wanted = known(request.workloads, sorted(there))
    usual = tuple(name for name in usual if name in there)
    return wanted or (tuple(networks) if request.every_workload or not usual else usual)


def answer(request: Request, machine: Machine, offers: Mapping[Implementation, Offer]) -> Answer:
    """Return what can be measured of a request, given what each implementation asked for has to offer, and JAX.

    Raises LookupError for an unknown workload or variant, RuntimeError for a backend or devices that are not there,
    ValueError for what does not fit together, such as a precision that the backend does not have.
    """
    jax, scopes = offers["jax"], request.scopes or USUAL_SCOPES
    experiment = chosen_by(request.experiment, request) if request.experiment else headline
    about = {description.name: description for description in jax.workloads}
    networks = tuple(about)
    about |= {limit.name: limit for limit in jax.ceilings if limit.name in experiment.WORKLOADS}
    wanted = workloads(request, networks, [name for name in about if name not in networks], experiment.WORKLOADS)
    present = _present(request, machine, jax)
    chosen = [about[name] for name in wanted]
    _refuse(request, machine, jax, chosen, present)
    here = Here(
        backends=present,
        cores=machine.cores,
        gpus=len(jax.backends.get("gpu", ())),
        allocator=children.allocators()[0],
        gpu_precisions=refusal.precisions(machine),
        data=request.data,
    )
    cases = of_scopes(experiment.cases(chosen, here), request) if request.experiment else _timed(request, chosen, here)
    if request.dealt:  # only now: what is valid as a whole is valid in parts
        chosen = [about for about in chosen if about.name in request.dealt]
        cases = tuple(case for case in cases if case.workload in request.dealt)
    lacking = [c for c in cases if c.implementation != "jax" and not _has(offers[c.implementation], c)]
    cases, total, dropped = within(request, [c for c in cases if c not in lacking], about, machine.cores)
    remarks = [*_without_gpu(request, machine, jax), *_left_out(chosen, scopes), *_not_run_by(lacking)]
    if not request.experiment:
        remarks += _not_timed(request, chosen, here)
    if dropped:
        words = ", ".join(f"{name} ({units.seconds(seconds)})" for name, seconds in dropped.items())
        remarks.append(f"left out to stay within {request.budget_minutes:g} minutes: {words}")
    if not cases:
        raise RuntimeError("; ".join((*remarks, "nothing is left to measure")))
    used = {case.workload for case in cases}
    return Answer(
        cases=cases,
        descriptions=tuple(about[name] for name in wanted if name in used),
        seconds=total,
        remarks=tuple(remarks),
    )


def _present(request: Request, machine: Machine, jax: Offer) -> tuple[Backend, ...]:
    """Return the backends asked for, else those that there are, the CPU first."""
    for backend in request.backends:
        if backend not in jax.backends:
            raise RuntimeError(fitness.missing_backend(backend, machine, jax, why_no_gpu()))
    return tuple(b for b in ("cpu", "gpu") if b in (request.backends or jax.backends))


def _refuse(
    request: Request, machine: Machine, jax: Offer, chosen: Sequence[Description], present: tuple[Backend, ...]
) -> None:
    scopes = request.scopes or USUAL_SCOPES
    each: dict[Backend, int] = {b: machine.cores if b == "cpu" else len(jax.backends[b]) for b in present}
    devices: dict[Backend, int] = {backend: request.hosts * count for backend, count in each.items()}
    refusal.refuse_rounds(request.rounds, request.profile)
    refusal.refuse_most_rounds(request.most_rounds, request.rounds, request.profile, request.experiment)
    refusal.refuse_peer_backends(request.peer_backends, request.implementations, present)
    refusal.refuse_implementations(request.implementations, request.peer_backends or present)
    refusal.refuse_variants(request.variants, request.implementations, present)
    refusal.refuse_precisions(request.precisions, present, machine)
    refusal.refuse_allocators(request.allocators)
    refusal.refuse_input(asked(request, OF_THE_INPUT), scopes)
    refusal.refuse_unused(request.caches, request.length, scopes)
    refusal.refuse_serving(scopes, request.workloads, chosen, request.batch, request.implementations, request.devices)
    refusal.refuse_augmentations(request.augmentations, chosen)
    refusal.refuse_hosts(request.hosts, request.devices, scopes, request.variants)
    refusal.refuse_stacked(request.variants, request.batch, request.devices, chosen)
    refusal.refuse_devices(request.devices, request.batch, chosen, request.implementations, devices)


def _timed(request: Request, chosen: Sequence[Description], here: Here) -> tuple[Case, ...]:
    """Return the cases of a request without an experiment."""
    timed, scopes = _by_scopes(request, chosen, here), request.scopes or USUAL_SCOPES
    if request.variants:
        refusal.refuse_unmeasured(request.variants, scopes, timed(scopes=get_args(Scope)))
    return timed(scopes=scopes)


def _by_scopes(request: Request, chosen: Sequence[Description], here: Here) -> Callable[..., tuple[Case, ...]]:
    """Return what makes the cases of a request without an experiment from scopes."""
    return partial(
        headline.cases,
        chosen,
        here,
        implementations=request.implementations,
        peer_backends=request.peer_backends,
        variants=request.variants,
        precisions=request.precisions,
        caches=request.caches,
        length=request.length,
        workers=request.workers or (None,),
        loaders=request.loaders,
        augmentations=request.augmentations,
        allocators=("system",) if request.hosts > 1 else request.allocators or allocators(request.implementations),
        batch=request.batch,
        devices=request.devices,
        hosts=request.hosts,
    )


def _without_gpu(request: Request, machine: Machine, jax: Offer) -> Iterator[str]:
    if not request.backends and "gpu" not in jax.backends and machine.gpus:
        yield fitness.missing_backend("gpu", machine, jax)


def _left_out(chosen: Sequence[Description], scopes: Collection[Scope]) -> Iterator[str]:
    """Yield what is not measured since a scope is not of every workload."""
    if "run" in scopes and (none := [about.name for about in chosen if about.run is None]):
        yield f"no whole run is documented for: {', '.join(none)}; left out of scope 'run'"
    if "serve" in scopes and (none := [about.name for about in chosen if about.family != "inference"]):
        yield f"only inference is served: {', '.join(none)}; left out of scope 'serve'"
    if FROM_STORAGE & set(scopes) and (none := [about.name for about in chosen if not about.stored]):
        yield f"no stored data: {', '.join(none)}; left out of scopes 'epoch', 'input' and 'learning'"


def _not_timed(request: Request, chosen: Sequence[Description], here: Here) -> Iterator[str]:
    """Yield the scopes asked for that none of the workloads is timed in, and the options that keep them out."""
    lost: dict[str, list[Scope]] = {}
    for scope in request.scopes or USUAL_SCOPES:
        if not _by_scopes(request, chosen, here)(scopes=(scope,)):
            lost.setdefault(_in_the_way(request, scope, chosen, here), []).append(scope)
    for options, scopes in lost.items():
        if options:
            yield f"scope {', '.join(scopes)} is not timed with {options}; left out"


def _in_the_way(request: Request, scope: Scope, chosen: Sequence[Description], here: Here) -> str:
    """Return the option without which a scope is timed, all that narrow it if it takes them, or '' if none helps."""
    usual = Request()
    given = [name for name in _NARROWING if getattr(request, name) != getattr(usual, name)]
    for names in (*((name,) for name in given), given):
        freed = replace(request, **{name: getattr(usual, name) for name in names})
        place = replace(here, backends=get_args(Backend)) if "backends" in names else here
        if _by_scopes(freed, chosen, place)(scopes=(scope,)):
            return " and ".join(f"{_NARROWING[name]} {_written(getattr(request, name))}" for name in names)
    return ""


def _written(value: int | Sequence[str]) -> str:
    return str(value) if isinstance(value, int) else ",".join(value)


def _not_run_by(lacking: Sequence[Case]) -> Iterator[str]:
    for peer in dict.fromkeys(case.implementation for case in lacking):
        places = sorted({f"{c.workload} on {c.backend}" for c in lacking if c.implementation == peer})
        yield f"{peer} cannot run: {', '.join(places)}; left out"


def of_scopes(cases: tuple[Case, ...], request: Request) -> tuple[Case, ...]:
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


def allocators(implementations: Sequence[Implementation]) -> tuple[Allocator, ...]:
    """Return the allocators that are timed unless some are named: all, but without a peer only what serves JAX best.

    Beside a peer each side's better one counts; without, a second one would only double the time.
    """
    there = children.allocators()
    return there if any(name != "jax" for name in implementations) else there[:1]


def _has(peer: Offer, case: Case) -> bool:
    return case.workload in peer.names and case.backend in peer.backends


def within(
    request: Request, cases: Sequence[Case], about: dict[str, Description], cores: int
) -> tuple[tuple[Case, ...], float, dict[str, float]]:
    """Return the cases of the workloads that fit the budget in order, their duration, and what each dropped one takes.

    Durations are in seconds.
    """
    effort = EFFORTS[request.profile]
    kept, total, dropped = [], 0.0, {}
    for name in dict.fromkeys(case.workload for case in cases):
        mine = [case for case in cases if case.workload == name]
        seconds = sum(
            campaign.rounds(request.profile, unit[0], request.experiment or "", cores, request.rounds)
            * process_seconds(unit, about[name], effort, cores)
            + first_seconds(unit, about[name])
            for unit in campaign.units(mine)
        )
        if request.budget_minutes is not None and total + seconds > 60 * request.budget_minutes:
            dropped[name] = seconds
        else:
            kept += mine
            total += seconds
    return tuple(kept), total, dropped
