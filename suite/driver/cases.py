"""One walk over all that a request could be made of: each combination is timed, or says which options keep it out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, get_args

from suite.analysis.capabilities import MachineCapabilities
from suite.case import STARTING, Allocator, Backend, Case, Implementation, Precision
from suite.driver import validation
from suite.driver.options import applied
from suite.driver.request import Request
from suite.processes import children
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.variants import usual_batch, variants_of
from suite.workload import Description

# Fields of a request that may keep a combination out, those first that are named first where either would do.
KEEPING_OUT = ("devices", "variants", "implementations", "backends", "baseline_backends")


class Combination(NamedTuple):
    """What may be timed."""

    about: Description
    backend: Backend
    precision: Precision
    implementation: Implementation
    variant: str
    allocator: Allocator
    scope: Scope


Walk = tuple[tuple[Combination, tuple[str, ...]], ...]  # with the fields that keep it out, none if it is timed


def walk(request: Request, chosen: Sequence[Description], here: MachineCapabilities) -> Walk:
    """Return the combinations of these workloads in every scope, the scopes asked for first, with what keeps them out.

    They are of the backends and implementations asked for and, beside them, of those that there are by default, so that
    what keeps a scope out is known. Left out are those that no option brings.
    """
    scopes = tuple(dict.fromkeys((*(request.scopes or USUAL_SCOPES), *get_args(Scope))))
    backends: tuple[Backend, ...] = tuple(dict.fromkeys((*here.backends, *get_args(Backend))))
    return tuple(
        (one, kept_out_by)
        for about, backend in product(chosen, backends)
        for precision, implementation in product(
            applied(request, backends=backend).precisions,
            dict.fromkeys((*request.implementations, *Request().implementations)),
        )
        for variant in variants_of(implementation, backend)
        for number, allocator in enumerate(_allocators(request)[: 1 if backend == "gpu" else None])
        for scope in (("step",) if number else scopes)  # the second allocator is of what is compared
        if _has(one := Combination(about, backend, precision, implementation, variant, allocator, scope), devices=1)
        if (kept_out_by := _kept_out_by(one, request, here)) is not None
    )


def cases(request: Request, walked: Walk, here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cases of a walk: what is timed in the scopes asked for, each with the axes that it has alone.

    The CPU side is float32 at highest precision, whatever the GPU's is; its cold start and first calls have by default
    the system's allocator, as programs have it, since one that serves steps may make the first touch of memory dear.
    """
    scopes = request.scopes or USUAL_SCOPES
    starting = request.allocators[0] if request.allocators else STARTING
    return tuple(
        Case(
            workload=one.about.name,
            backend=one.backend,
            scope=one.scope,
            batch=request.batch or usual_batch(one.about, one.variant),
            implementation=one.implementation,
            variant=one.variant,
            precision=one.precision,
            data=here.data_of(one.about),
            devices=request.devices,
            hosts=request.hosts,
            allocator=starting if one.scope in ("cold", "calls") and one.backend == "cpu" else one.allocator,
            **axes,
        )
        for one, kept_out_by in walked
        if one.scope in scopes and not kept_out_by
        for axes in _own_axes(request, one, here.cores)
    )


def default_cases(request: Request, chosen: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cases of these workloads that a request without an experiment has."""
    return cases(request, walk(request, chosen, here), here)


def _own_axes(request: Request, one: Combination, cores: int) -> Iterator[dict[str, Any]]:
    """Yield the axes that some combinations alone have, at each of the values asked for.

    PyTorch's input pipeline has worker processes, and augments there.
    """
    mine: Request = applied(request, scopes=one.scope, backends=one.backend, implementations=one.implementation)
    fed, torch = SCOPES[one.scope].reads_storage, one.implementation == "torch"
    threads = mine.threads if one.scope != "input" else ()
    axes: dict[str, Iterable[Any]] = {
        "cache": mine.cold_starts,
        "length": (mine.epochs_times,),
        "workers": mine.workers or (None,),
        "loader": ("processes",) if fed and torch else mine.loaders,
        "augmentation": [place for place in mine.augmentations if one.implementation == "jax" or place != "device"],
        "threads": dict.fromkeys(None if count == cores else count for count in threads) or (None,),
        "layout": mine.layouts if one.about.has_pictures else Request().layouts,
    }
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _allocators(request: Request) -> tuple[Allocator, ...]:
    """Return the allocators that are timed: those named, else all, but without a baseline what serves JAX best.

    Beside a baseline each side's better one counts; without, a second one would only double the time.
    """
    there = request.allocators or children.allocators()
    if request.hosts > 1:
        return validation.HOSTS_ALLOCATORS
    return there if request.allocators or any(name != "jax" for name in request.implementations) else there[:1]


def _kept_out_by(one: Combination, request: Request, here: MachineCapabilities) -> tuple[str, ...] | None:
    """Return the fields of the request without which it is timed, () if it is, None if those do not bring it.

    Named variants count where an implementation has one of them; where it has none it is timed as usual: JAX in its
    plain way, a baseline in all that it has.
    """
    there = variants_of(one.implementation, one.backend)
    usual = ("plain",) if one.implementation == "jax" else there
    named = tuple(name for name in there if name in request.variants)
    if request.variants and one.variant not in {*named, *usual}:
        return None  # without --variant it would be timed as usual
    asked_for = (
        _has(one, request.devices),
        one.variant in (named or usual),
        one.implementation in request.implementations,
        one.backend in here.backends,
        one.implementation == "jax" or one.backend in (request.baseline_backends or get_args(Backend)),
    )
    return tuple(name for name, asked in zip(KEEPING_OUT, asked_for, strict=True) if not asked)


def _has(one: Combination, devices: int) -> bool:
    """Return whether a scope is timed: beside the steady state JAX's alone, since baselines certify no more than that.

    A scan over several steps has no step to start with, and copies no batch; an epoch and its input are there where
    the data is stored, the input on the host alone, and also as PyTorch reads it; a whole run is there where the source
    timed one, on one device, with its data on the host or `resident`, of a search one fit after another, or stacked and
    then on several devices too;
    requests are those to a network that is not trained, answered on one device by JAX's plain way or any of PyTorch's.
    Boosting has one way of its own, and fits are stacked where there is a grid of them.
    """
    about, implementation, variant, scope = one.about, one.implementation, one.variant, one.scope
    if about.family == "trees" and implementation == "jax" and variant != "plain":
        return False
    if variant == "stacked" and about.grid is None:
        return False
    if scope == "step":
        return variant != "resident"
    if SCOPES[scope].reads_storage:
        place = one.backend == "cpu" or SCOPES[scope].computes  # the input is the host's
        mine = place and implementation in SCOPES[scope].implementations
        return mine and about.stored and variant == "plain" and devices == 1
    if scope == "run":
        mine = ("plain", "stacked" if about.grid is not None else "resident")
        here = devices == 1 or variant == "stacked"
        return implementation == "jax" and about.run is not None and variant in mine and here
    if scope == "serve":
        ways = variant == "plain" if implementation == "jax" else implementation == "torch"
        return ways and not about.trained and devices == 1
    return implementation == "jax" and variant not in ("scan", "resident")
