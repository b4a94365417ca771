"""Checks before measuring that this machine and its software support the request."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import get_args

from suite import units, variants
from suite.case import Allocator, Backend, Implementation, Precision
from suite.driver.request import Request
from suite.processes import children
from suite.results.records.machine import Machine
from suite.worker_api.protocol import Offer
from suite.workload import Description

# Lowest compute capability with the precision in hardware; below it XLA silently computes in another.
# Source: NVIDIA, CUDA C++ Programming Guide, Arithmetic Instructions.
_LEAST_CAPABILITY: dict[Precision, float] = {"tf32": 8.0, "bfloat16": 8.0}


def check(
    request: Request,
    machine: Machine,
    offers: Mapping[Implementation, Offer],
    chosen: Sequence[Description],
    backends: Sequence[Backend],
) -> None:
    """Raise RuntimeError or ValueError if this machine cannot measure the workloads on the backends as requested."""
    if "gpu" in backends:
        check_same_gpu({name: offer.backends.get("gpu", ()) for name, offer in offers.items()})
    check_implementations(request.implementations, request.baseline_backends or backends)
    check_precisions(request.precisions, backends, machine)
    check_allocators(request.allocators)
    check_threads(request.threads, machine)
    each: dict[Backend, int] = {b: machine.cores if b == "cpu" else len(offers["jax"].backends[b]) for b in backends}
    devices: dict[Backend, int] = {backend: request.hosts * count for backend, count in each.items()}
    check_devices(request.devices, request.batch, chosen, request.implementations, devices)


def check_implementations(implementations: Iterable[Implementation], backends: Sequence[Backend]) -> None:
    """Raise RuntimeError if an implementation runs on none of the backends."""
    for implementation in implementations:
        supported = [b for b in ("cpu", "gpu") if variants.variants_of(implementation, b)]
        if not set(supported) & set(backends):
            raise RuntimeError(
                f"implementation '{implementation}' asked for on backend '{backends[0]}', it runs only on "
                f"'{supported[0]}'; add --backend {supported[0]} or leave it out"
            )


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
    """Return the precisions that all of the machine's GPUs have in hardware."""
    weakest = min((float(gpu.compute_capability) for gpu in machine.gpus), default=0.0)
    return tuple(name for name in get_args(Precision) if weakest >= _LEAST_CAPABILITY.get(name, 0.0))


def check_precisions(precisions: Iterable[Precision], backends: Collection[Backend], machine: Machine) -> None:
    """Raise ValueError if the GPU lacks a precision."""
    for precision in precisions:
        least = _LEAST_CAPABILITY.get(precision, 0.0)
        for gpu in machine.gpus if "gpu" in backends else ():
            if float(gpu.compute_capability) < least:
                raise ValueError(
                    f"precision '{precision}' asked for on backend 'gpu', '{gpu.name}' has compute capability "
                    f"{gpu.compute_capability} and '{precision}' needs {least}; leave the precision out"
                )


def check_allocators(allocators: Iterable[Allocator]) -> None:
    """Raise ValueError if this system lacks an allocator."""
    for allocator in allocators:
        if allocator not in children.allocators():
            raise ValueError(
                f"allocator '{allocator}' asked for, which needs glibc, and this system has another C library; leave "
                "it out"
            )


def check_threads(threads: Collection[int], machine: Machine) -> None:
    """Raise ValueError if this process has fewer granted cores than threads asked for."""
    for count in threads:
        if count > machine.cores:
            cores = units.pluralize(machine.cores, "core")
            raise ValueError(f"--threads {count} asked for, this process may use {cores}; choose at most that many")


def check_devices(
    count: int,
    batch: int | None,
    descriptions: Iterable[Description],
    implementations: Iterable[Implementation],
    available: Mapping[Backend, int],
) -> None:
    """Raise RuntimeError if a backend has fewer devices than `count`.

    `available` counts the devices of each requested backend; each CPU core can be one. Raises ValueError if a batch
    does not divide over the devices, or if an implementation runs on one device only.
    """
    if count == 1:
        return
    for implementation in implementations:
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
    for about in descriptions:
        examples = batch or about.batch
        if examples % count:
            raise ValueError(
                f"batch {examples} of '{about.name}' does not divide over {count} devices; "
                f"choose a multiple of {count} with --batch, or other --devices"
            )
