"""One walk over all combinations of a request: each is timed, or names the options that exclude it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, get_args

from suite.analysis.capabilities import MachineCapabilities
from suite.case import STARTING, Allocator, Backend, Case, Implementation, Precision
from suite.driver import validation
from suite.driver.request import Request, applied
from suite.processes import children
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.variants import can_write, every_variant_of, usual_batch, variants_of
from suite.workload import Description

# Fields of a request that may exclude a combination, in the order in which remarks prefer them.
KEEPING_OUT = ("devices", "variants", "implementations", "backends", "baseline_backends")


class Combination(NamedTuple):
    """A workload, backend, precision, implementation, variant, allocator and scope that may be timed."""

    about: Description
    backend: Backend
    precision: Precision
    implementation: Implementation
    variant: str
    allocator: Allocator
    scope: Scope


Walk = tuple[tuple[Combination, tuple[str, ...]], ...]  # with the fields that exclude it; () if it is timed


def walk(request: Request, chosen: Sequence[Description], here: MachineCapabilities) -> Walk:
    """Return these workloads' combinations in every scope, requested scopes first, with the fields that exclude them.

    Backends and implementations are the requested ones and the default ones, so that a remark can say what excludes a
    scope. Combinations that no option allows are skipped.
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
        for variant in every_variant_of(implementation, backend)
        for number, allocator in enumerate(_allocators(request)[: 1 if backend == "gpu" else None])
        for scope in (("step",) if number else scopes)  # a second allocator serves comparisons of steps only
        if _has(one := Combination(about, backend, precision, implementation, variant, allocator, scope), devices=1)
        if (kept_out_by := _kept_out_by(one, request, here)) is not None
    )


def cases(request: Request, walked: Walk, here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cases of a walk that are timed in the requested scopes, each with the axes of its side.

    The CPU side always has float32-highest. Its cold start and first calls use the system's allocator by default: the
    tuned one makes the first touch of memory slower.
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
    """Return the cases of these workloads for a request without an experiment."""
    return cases(request, walk(request, chosen, here), here)


def _own_axes(request: Request, one: Combination, cores: int) -> Iterator[dict[str, Any]]:
    """Yield the values of the axes that apply to a combination only, in each requested combination.

    PyTorch's input pipeline uses worker processes and augments in them.
    """
    own: Request = applied(request, scopes=one.scope, backends=one.backend, implementations=one.implementation)
    fed, torch = SCOPES[one.scope].reads_storage, one.implementation == "torch"
    threads = own.threads if one.scope != "input" else ()
    axes: dict[str, Iterable[Any]] = {
        "cache": own.cold_starts,
        "length": (own.epochs_times,),
        "workers": own.workers or (None,),
        "loader": ("processes",) if fed and torch else own.loaders,
        "augmentation": [place for place in own.augmentations if one.implementation == "jax" or place != "device"],
        "threads": dict.fromkeys(None if count == cores else count for count in threads) or (None,),
        "layout": own.layouts if one.about.has_pictures else Request().layouts,
    }
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _allocators(request: Request) -> tuple[Allocator, ...]:
    """Return the allocators to time: the requested ones; else all beside a baseline, and JAX's best without.

    Beside a baseline each side's faster allocator counts; without one, a second would only double the time.
    """
    if request.hosts > 1:
        return validation.HOSTS_ALLOCATORS
    has_baseline = any(name != "jax" for name in request.implementations)
    return request.allocators or (children.allocators() if has_baseline else children.allocators()[:1])


def _kept_out_by(one: Combination, request: Request, here: MachineCapabilities) -> tuple[str, ...] | None:
    """Return the request's fields that exclude a combination: () if it is timed, None if dropping them does not help.

    Named variants apply to implementations that have one of them. The others keep their default: JAX plain, a baseline
    all that it has, and in scope written so does JAX.
    """
    variants_here = variants_of(one.implementation, one.backend, one.scope)
    usual = ("plain",) if one.implementation == "jax" and one.scope != "written" else variants_here
    named = tuple(name for name in variants_here if name in request.variants)
    if request.variants and one.variant not in {*named, *usual}:
        return None  # it would be timed only without --variant
    asked_for = (
        _has(one, request.devices),
        one.variant in (named or usual),
        one.implementation in request.implementations,
        one.backend in here.backends,
        one.implementation == "jax" or one.backend in (request.baseline_backends or get_args(Backend)),
    )
    return tuple(name for name, asked in zip(KEEPING_OUT, asked_for, strict=True) if not asked)


def _has(one: Combination, devices: int) -> bool:
    """Return whether a combination can be timed on `devices` devices.

    Baselines are timed in the steady step, and in the scopes that name them below. Epoch and input need stored data,
    the plain variant and one device; input runs on the host, and also with PyTorch. A whole run needs a documented one:
    plain or `resident` on one device, or PyTorch's loop or Keras' fit; a grid search plain on one, or stacked on
    several. Serving needs inference on one device, JAX plain or any of PyTorch's variants. A scan has no single step to
    start with and copies no batch. Boosted trees have JAX plain only, and only a grid is stacked. A loop as written
    runs on one device. Kernels are those of any step on one GPU.
    """
    about, variant, scope = one.about, one.variant, one.scope
    is_jax, row = one.implementation == "jax", SCOPES[scope]
    if variant not in variants_of(one.implementation, one.backend, scope):
        return False
    if scope == "written":
        return devices == 1 and can_write(about, one.implementation, variant)
    if scope == "run" and one.implementation in ("torch", "keras"):
        return about.run is not None and about.grid is None and devices == 1
    if one.implementation not in row.implementations or (variant == "stacked" and about.grid is None):
        return False
    if about.family == "trees" and is_jax and variant != "plain":
        return False
    if row.reads_storage:
        on_backend = one.backend == "cpu" or row.computes  # the input pipeline runs on the host only
        return on_backend and about.stored and variant == "plain" and devices == 1
    if scope == "run":
        ways = ("plain", "stacked" if about.grid is not None else "resident")
        return about.run is not None and variant in ways and (devices == 1 or variant == "stacked")
    if scope == "kernels" and (one.backend, devices) != ("gpu", 1):
        return False
    if scope == "serve":
        return (variant == "plain" or not is_jax) and not about.trained and devices == 1
    return variant != "resident" and (variant != "scan" or scope in ("step", "kernels"))
