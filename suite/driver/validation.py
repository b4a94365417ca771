"""Checks that a request is consistent and that this machine can measure it: an error, never a different measurement."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import get_args

from suite import units, variants
from suite.case import FRAMEWORK_DEFAULT, Allocator, Backend, Implementation, Precision
from suite.driver.request import Request, check_applies
from suite.processes import children
from suite.results.records.machine import Machine
from suite.scopes import SCOPES, USUAL_SCOPES, Scope, scopes_that
from suite.worker_api.protocol import Offer
from suite.workload import Description

HOSTS_ALLOCATORS: tuple[Allocator, ...] = ("default-malloc",)
HOSTS_SCOPES = scopes_that(lambda row: row.several_hosts)
HOSTS_VARIANTS = ("plain", "scan")
# Lowest compute capability with the precision in hardware; below it XLA silently computes in another.
# Source: NVIDIA, CUDA C++ Programming Guide, Arithmetic Instructions.
_LEAST_CAPABILITY: dict[Precision, float] = {"tf32": 8.0, "bfloat16": 8.0}


def check(request: Request, chosen: Sequence[Description], backends: Collection[Backend]) -> None:
    """Raise LookupError or ValueError if the request's options do not fit together for these workloads and backends."""
    scopes, implementations = request.scopes or USUAL_SCOPES, request.implementations
    names = ", ".join(about.name for about in chosen)
    check_stopping(request)
    check_baseline_backends(request, backends)
    check_variants(request.variants, implementations, backends, scopes)
    if request.data == "tfds" and chosen and not any(about.stored for about in chosen):
        raise ValueError(f"--data tfds asked for, none of {names} has a published data set; leave it out")
    check_applies(request, scopes=scopes, backends=backends, implementations=implementations)
    check_serving(request, chosen)
    if "contiguous" in request.layouts and not any(about.has_pictures for about in chosen):
        raise ValueError(f"--layout contiguous asked for, the batches of {names} have no pictures; leave it out")
    if "device" in request.augmentations and (plain := [about.name for about in chosen if not about.augmented]):
        raise ValueError(
            f"augmentation 'device' asked for, these are not augmented: {', '.join(plain)}; leave it or them out"
        )
    check_hosts(request)
    for about in chosen if "stacked" in request.variants else ():
        variants.fits_of(about, request.batch or variants.usual_batch(about, "stacked"), request.devices)


def check_stopping(request: Request) -> None:
    """Raise ValueError for --within with a plan that adds no rounds."""
    if request.within is None:
        return
    if request.rounds is not None:
        raise ValueError(
            f"--within asked for with --rounds {request.rounds}, which fixes the number; leave one of them out"
        )
    if request.experiment or request.profile == "smoke":
        what = f"--experiment {request.experiment}" if request.experiment else "--profile smoke"
        raise ValueError(f"--within asked for with {what}, which plans its rounds; leave one of them out")


def check_baseline_backends(request: Request, backends: Collection[Backend]) -> None:
    """Raise ValueError if baseline backends are named without a baseline, or one of them is not measured."""
    if request.baseline_backends and not set(request.implementations) - {"jax"}:
        raise ValueError(
            "--baseline-backend asked for without a baseline; add --implementation jax,torch, or leave it out"
        )
    for backend in request.baseline_backends:
        if backend not in backends:
            raise ValueError(
                f"--baseline-backend {backend} asked for, which is not measured; add --backend {backend}, or leave it "
                "out"
            )


def check_variants(
    named: Iterable[str],
    implementations: Collection[Implementation],
    backends: Collection[Backend],
    scopes: Collection[Scope] = USUAL_SCOPES,
) -> None:
    """Raise LookupError if no implementation has a named variant on any of the backends, naming those of the scopes."""
    sides: list[tuple[Implementation, Backend]] = [(i, b) for i in implementations for b in backends]
    for name in named:
        if not any(name in variants.every_variant_of(*side) for side in sides):
            those = [(i, b, dict.fromkeys(v for s in scopes for v in variants.variants_of(i, b, s))) for i, b in sides]
            words = "; ".join(f"'{i}' on {b} has: {', '.join(own)}" for i, b, own in those if own)
            raise LookupError(f"variant '{name}' asked for, {words}")


def check_variant_scopes(request: Request, timed: Collection[tuple[str, str]]) -> None:
    """Raise ValueError if a named variant has none of the scopes; `timed` are the (variant, scope) pairs available."""
    scopes, several = request.scopes or USUAL_SCOPES, request.devices > 1
    split = f" with --devices {request.devices}" if several else ""
    for name in request.variants:
        own_scopes = tuple(scope for scope in get_args(Scope) if (name, scope) in timed)
        if not own_scopes:
            raise ValueError(
                f"variant '{name}' asked for{split}, none of these workloads has it on a backend asked for; name "
                f"others, or leave {'one of the two' if several else 'it'} out"
            )
        if not set(own_scopes) & set(scopes):
            raise ValueError(
                f"variant '{name}' asked for in scope {', '.join(scopes)}, these workloads have it{split} in: "
                f"{', '.join(own_scopes)}; add --scope {own_scopes[0]}, or leave it out"
            )


def check_serving(request: Request, chosen: Iterable[Description]) -> None:
    """Raise ValueError if scope serve is requested of something that cannot serve.

    A request is one picture to an inference network on one device, with an implementation that has the scope.
    """
    if "serve" not in request.scopes:
        return
    about, batch, devices = tuple(chosen), request.batch, request.devices
    served = [each.name for each in about if not each.trained]
    trained = [name for name in request.workloads if name not in served]
    if trained or not served:
        raise ValueError(
            f"scope 'serve' asked for, it needs inference, and these are trained: "
            f"{', '.join(trained or [each.name for each in about])}; name workloads that begin with 'serve_'"
        )
    if batch not in (None, 1):
        raise ValueError(f"scope 'serve' asked for with batch {batch}, a request is one picture; leave --batch out")
    if devices != 1:
        raise ValueError(f"scope 'serve' asked for on {devices} devices, it uses one; leave --devices or the scope out")
    able = SCOPES["serve"].implementations
    if not set(able) & set(request.implementations):
        raise ValueError(
            f"scope 'serve' asked for with '{', '.join(request.implementations)}', only {', '.join(able)} serve; add "
            "one with --implementation"
        )


def check_hosts(request: Request) -> None:
    """Raise ValueError if the devices do not divide over the hosts, or an option does not support several hosts."""
    hosts, devices = request.hosts, request.devices
    if hosts == 1:
        return
    if devices % hosts or devices < hosts:
        raise ValueError(
            f"{units.pluralize(devices, 'device')} asked for on {hosts} hosts; each needs the same number, so choose a "
            f"multiple of {hosts}"
        )
    for asked, supported, option in (
        (request.scopes or USUAL_SCOPES, HOSTS_SCOPES, "--scope"),
        (request.variants, HOSTS_VARIANTS, "--variant"),
        (request.allocators, HOSTS_ALLOCATORS, "--allocator"),
    ):
        if left := sorted(set(asked) - set(supported)):
            raise ValueError(f"{option} '{left[0]}' asked for on {hosts} hosts, which have: {', '.join(supported)}")


def check_machine(
    request: Request,
    machine: Machine,
    offers: Mapping[Implementation, Offer],
    chosen: Sequence[Description],
    backends: Sequence[Backend],
) -> None:
    """Raise RuntimeError or ValueError if this machine cannot measure the workloads on the backends as requested."""
    if "gpu" in backends:
        check_same_gpu({name: offer.backends.get("gpu", ()) for name, offer in offers.items()})
    wanted = request.baseline_backends or backends
    for implementation in request.implementations:
        scopes = request.scopes or USUAL_SCOPES
        supported = [b for b in ("cpu", "gpu") if any(variants.variants_of(implementation, b, s) for s in scopes)]
        if not set(supported) & set(wanted):
            raise RuntimeError(
                f"implementation '{implementation}' asked for on backend '{wanted[0]}', it runs only on "
                f"'{supported[0]}'; add --backend {supported[0]} or leave it out"
            )
    check_precisions(request.precisions, machine if "gpu" in backends else None)
    for allocator in request.allocators:
        if allocator not in children.allocators():
            raise ValueError(
                f"allocator '{allocator}' asked for, which needs glibc, and this system has another C library; leave "
                "it out"
            )
    for count in request.threads:
        if count > machine.cores:
            cores = units.pluralize(machine.cores, "core")
            raise ValueError(f"--threads {count} asked for, this process may use {cores}; choose at most that many")
    each: dict[Backend, int] = {b: machine.cores if b == "cpu" else len(offers["jax"].backends[b]) for b in backends}
    check_devices(request, chosen, {backend: request.hosts * count for backend, count in each.items()})


def check_same_gpu(seen: Mapping[Implementation, Sequence[str]]) -> None:
    """Raise RuntimeError if a baseline's first GPU differs from JAX's: another card, or a card and its slice.

    Names without a blank are not CUDA's and are not compared.
    """
    jax_gpu = next(iter(seen["jax"]), "")
    for baseline, names in seen.items():
        first = next(iter(names), "")
        if " " in jax_gpu and " " in first and first != jax_gpu:
            raise RuntimeError(
                f"implementation '{baseline}' asked for, its first GPU is '{first}' and JAX's is '{jax_gpu}'; set "
                "CUDA_VISIBLE_DEVICES to one for both, or leave it out"
            )


def precisions(machine: Machine) -> tuple[Precision, ...]:
    """Return the precisions that all of the machine's GPUs have in hardware, without the frameworks' default."""
    weakest = min((float(gpu.compute_capability) for gpu in machine.gpus), default=0.0)
    named = (name for name in get_args(Precision) if name != FRAMEWORK_DEFAULT)
    return tuple(name for name in named if weakest >= _LEAST_CAPABILITY.get(name, 0.0))


def check_precisions(precisions: Iterable[Precision], machine: Machine | None) -> None:
    """Raise ValueError if a GPU of the machine lacks a precision."""
    for precision in precisions:
        least = _LEAST_CAPABILITY.get(precision, 0.0)
        for gpu in machine.gpus if machine else ():
            if float(gpu.compute_capability) < least:
                raise ValueError(
                    f"precision '{precision}' asked for on backend 'gpu', '{gpu.name}' has compute capability "
                    f"{gpu.compute_capability} and '{precision}' needs {least}; leave the precision out"
                )


def check_devices(request: Request, chosen: Iterable[Description], available: Mapping[Backend, int]) -> None:
    """Raise RuntimeError if a backend has too few devices; `available` counts them, and each CPU core can be one.

    Raises ValueError if a batch does not divide over the devices, or if an implementation runs on one device only.
    """
    count = request.devices
    if count == 1:
        return
    for implementation in request.implementations:
        if implementation != "jax":
            raise ValueError(
                f"{count} devices asked for, implementation '{implementation}' runs on one; leave out --devices or "
                "the implementation"
            )
    for backend, most in available.items():
        if most < count:
            what = f"{units.pluralize(most, 'core')}, one device each" if backend == "cpu" else f"{most} that JAX sees"
            raise RuntimeError(
                f"{count} devices asked for on backend '{backend}', there {'is' if most == 1 else 'are'} {what}; "
                f"use --devices {most} or choose a backend with more with --backend"
            )
    for about in chosen:
        examples = request.batch or about.batch
        if examples % count:
            raise ValueError(
                f"batch {examples} of '{about.name}' does not divide over {count} devices; "
                f"choose a multiple of {count} with --batch, or other --devices"
            )
