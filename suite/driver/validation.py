"""What cannot be measured as it was asked for, said before anything is: an error instead of another measurement."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import get_args

from suite import units, variants
from suite.case import Allocator, Augmentation, Backend, Case, CompileCache, Implementation, Layout, Precision
from suite.processes import children
from suite.results.records.machine import Machine
from suite.results.records.record import Profile
from suite.scopes import SCOPES, Scope
from suite.workload import Data, Description

# Lowest compute capability with the precision in hardware; below it XLA computes in another, silently.
# Source: NVIDIA, CUDA C++ Programming Guide, Arithmetic Instructions.
_LEAST_CAPABILITY: dict[Precision, float] = {"tf32": 8.0, "bfloat16": 8.0}
HOSTS_ALLOCATORS: tuple[Allocator, ...] = ("default-malloc",)
HOSTS_SCOPES: tuple[Scope, ...] = tuple(scope for scope in get_args(Scope) if SCOPES[scope].several_hosts)
HOSTS_VARIANTS = ("plain", "scan")


def check_stopping(within: float | None, rounds: int | None, profile: Profile, experiment: str | None) -> None:
    """Raise ValueError for a half-width asked of a plan that does not add rounds."""
    if within is None:
        return
    if rounds is not None:
        raise ValueError(
            f"--within asked for with --rounds {rounds}, which says exactly how many; leave one of them out"
        )
    if experiment or profile == "smoke":
        what = f"--experiment {experiment}" if experiment else "--profile smoke"
        raise ValueError(f"--within asked for with {what}, which plans its rounds; leave one of them out")


def check_implementations(implementations: Iterable[Implementation], backends: Sequence[Backend]) -> None:
    """Raise RuntimeError if an implementation runs on none of the backends."""
    for implementation in implementations:
        its = [b for b in ("cpu", "gpu") if variants.variants_of(implementation, b)]
        if not set(its) & set(backends):
            raise RuntimeError(
                f"implementation '{implementation}' asked for on backend '{backends[0]}', it runs on '{its[0]}' alone; "
                f"add --backend {its[0]} or leave it out"
            )


def check_same_gpu(seen: Mapping[Implementation, Sequence[str]]) -> None:
    """Raise RuntimeError if a baseline's first GPU is another one than JAX's: of two cards, or of a card and its slice.

    What does not name its devices as CUDA does, says nothing.
    """
    mine = next(iter(seen["jax"]), "")
    for baseline, names in seen.items():
        first = next(iter(names), "")
        if " " in mine and " " in first and first != mine:
            raise RuntimeError(
                f"implementation '{baseline}' asked for, its first GPU is '{first}' and JAX's is '{mine}'; name one "
                "for both in CUDA_VISIBLE_DEVICES, or leave it out"
            )


def check_baseline_backends(
    named: Sequence[Backend], implementations: Collection[Implementation], backends: Collection[Backend]
) -> None:
    """Raise ValueError if there is no baseline to be timed on the backends named for them, or one is not measured."""
    if named and not set(implementations) - {"jax"}:
        raise ValueError(
            "--baseline-backend asked for without a baseline; add --implementation jax,torch, or leave it out"
        )
    for backend in named:
        if backend not in backends:
            raise ValueError(
                f"--baseline-backend {backend} asked for, which is not measured; add --backend {backend}, or leave it "
                "out"
            )


def check_variants(
    named: Iterable[str], implementations: Sequence[Implementation], backends: Sequence[Backend]
) -> None:
    """Raise LookupError if none of the implementations has a named variant on any of the backends."""
    for name in named:
        sides = [(i, b, variants.variants_of(i, b)) for i in implementations for b in backends]
        if not any(name in there for _, _, there in sides):
            words = "; ".join(f"'{i}' on {b} has: {', '.join(there)}" for i, b, there in sides if there)
            raise LookupError(f"variant '{name}' asked for, {words}")


def check_stacked(named: Collection[str], batch: int | None, devices: int, descriptions: Iterable[Description]) -> None:
    """Raise ValueError if fits are to be stacked of a workload without a grid, or if they do not divide."""
    for about in descriptions if "stacked" in named else ():
        variants.fits_of(about, batch or about.batch * (about.grid.stack if about.grid else 1), devices)


def check_variant_scopes(
    named: Iterable[str], scopes: Collection[Scope], every: Collection[Case], devices: int
) -> None:
    """Raise ValueError if a named variant has none of the scopes; `every` are these workloads' cases of all scopes."""
    split = f" with --devices {devices}" if devices > 1 else ""
    for name in named:
        there = tuple(dict.fromkeys(case.scope for case in every if case.variant == name))
        if not there:
            raise ValueError(
                f"variant '{name}' asked for{split}, none of these workloads has it on a backend asked for; name "
                f"others, or leave {'one of the two' if split else 'it'} out"
            )
        if not set(there) & set(scopes):
            raise ValueError(
                f"variant '{name}' asked for in scope {', '.join(scopes)}, these workloads have it{split} in: "
                f"{', '.join(there)}; add --scope {there[0]}, or leave it out"
            )


def check_input_options(options: Iterable[str], scopes: Collection[Scope]) -> None:
    """Raise ValueError if options of the input pipeline are asked for where no scope has one."""
    if not any(SCOPES[scope].reads_storage for scope in scopes):
        for option in options:
            raise ValueError(
                f"{option} asked for without a scope that reads from storage; add --scope epoch or leave it out"
            )


def check_data(data: Data, descriptions: Sequence[Description]) -> None:
    """Raise ValueError if published data is asked for of workloads of which none has any."""
    if data == "tfds" and descriptions and not any(about.stored for about in descriptions):
        names = ", ".join(about.name for about in descriptions)
        raise ValueError(f"--data tfds asked for, none of {names} has a published data set; leave it out")


def check_scope_options(cold_starts: Collection[CompileCache], epochs_times: int, scopes: Collection[Scope]) -> None:
    """Raise ValueError if a warm cache or more epochs are asked for that no scope asked for has."""
    if "warm" in cold_starts and "cold" not in scopes:
        raise ValueError("--cold-start asked for without scope 'cold', the only one it is of; add --scope cold")
    if epochs_times != 1 and "run" not in scopes:
        raise ValueError("--epochs-times asked for without scope 'run', the only one it is of; add --scope run")


def check_serving(
    scopes: Collection[Scope],
    named: Iterable[str],
    descriptions: Iterable[Description],
    batch: int | None,
    implementations: Collection[Implementation],
    devices: int,
) -> None:
    """Raise ValueError if requests are asked for of what cannot answer them: `named` are the workloads asked for.

    A request is one picture, to a network that is not trained, on one device; Keras does not answer requests here.
    """
    if "serve" not in scopes:
        return
    about = tuple(descriptions)
    served = [each.name for each in about if not each.trained]
    trained = [name for name in named if name not in served]
    if trained or not served:
        raise ValueError(
            f"scope 'serve' asked for, only inference is served, and these are trained: "
            f"{', '.join(trained or [each.name for each in about])}; name workloads that begin with 'serve_'"
        )
    if batch not in (None, 1):
        raise ValueError(f"scope 'serve' asked for with batch {batch}, a request is one picture; leave --batch out")
    if devices != 1:
        raise ValueError(
            f"scope 'serve' asked for on {devices} devices, one answers all requests; leave --devices or the scope out"
        )
    if not {"jax", "torch"} & set(implementations):
        raise ValueError(
            f"scope 'serve' asked for of '{', '.join(implementations)}', only 'jax' and 'torch' answer requests; add "
            "one with --implementation"
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
                f"allocator '{allocator}' asked for, which is a setting of glibc, and this system has another C "
                "library; leave it out"
            )


def check_threads(threads: Collection[int], machine: Machine, backends: Collection[Backend]) -> None:
    """Raise ValueError if the CPU is not measured, or has fewer granted cores than threads asked for."""
    for count in threads:
        if "cpu" not in backends:
            raise ValueError(
                f"--threads {count} asked for, which is of the CPU side; add --backend cpu or leave it out"
            )
        if count > machine.cores:
            there = units.pluralize(machine.cores, "core")
            raise ValueError(f"--threads {count} asked for, this process may use {there}; choose at most so many")


def check_layouts(
    layouts: Collection[Layout], implementations: Collection[Implementation], descriptions: Iterable[Description]
) -> None:
    """Raise ValueError if a layout is asked for that none of the implementations and workloads has."""
    if "contiguous" not in layouts:
        return
    if "torch" not in implementations:
        raise ValueError(
            "--layout contiguous asked for, which is PyTorch's; add --implementation torch or leave it out"
        )
    about = tuple(descriptions)
    if not any(each.has_pictures for each in about):
        names = ", ".join(each.name for each in about)
        raise ValueError(f"--layout contiguous asked for, no pictures are in the batches of {names}; leave it out")


def check_augmentations(wanted: Collection[Augmentation], descriptions: Iterable[Description]) -> None:
    """Raise ValueError if a device is to augment what a workload leaves as it is."""
    plain = [about.name for about in descriptions if not about.augmented]
    if "device" in wanted and plain:
        raise ValueError(
            f"augmentation 'device' asked for, training augments nothing in: {', '.join(plain)}; leave it or them out"
        )


def check_hosts(
    hosts: int, devices: int, scopes: Iterable[Scope], variants: Iterable[str], allocators: Iterable[str]
) -> None:
    """Raise ValueError if so many hosts cannot share the devices, or what is asked for is not theirs to do."""
    if hosts == 1:
        return
    if devices % hosts or devices < hosts:
        raise ValueError(
            f"{units.pluralize(devices, 'device')} asked for on {hosts} hosts; each has as many, so choose a multiple "
            f"of {hosts}"
        )
    for asked, there, option in (
        (scopes, HOSTS_SCOPES, "--scope"),
        (variants, HOSTS_VARIANTS, "--variant"),
        (allocators, HOSTS_ALLOCATORS, "--allocator"),
    ):
        if left := sorted(set(asked) - set(there)):
            raise ValueError(f"{option} '{left[0]}' asked for on {hosts} hosts, which have: {', '.join(there)}")


def check_devices(
    count: int,
    batch: int | None,
    descriptions: Iterable[Description],
    implementations: Iterable[Implementation],
    available: dict[Backend, int],
) -> None:
    """Raise RuntimeError if a backend has fewer devices than asked for; ValueError if a batch does not divide.

    `available` counts the devices of each backend asked for; the CPU's are made of its cores. Raises ValueError too
    for an implementation that runs on one device alone.
    """
    if count == 1:
        return
    for implementation in implementations:
        if implementation != "jax":
            raise ValueError(
                f"{count} devices asked for, implementation '{implementation}' runs on one; leave --devices or it out"
            )
    for backend, there in available.items():
        if there < count:
            what = (
                f"{units.pluralize(there, 'core')}, each of which can be one"
                if backend == "cpu"
                else f"{there} that JAX sees"
            )
            raise RuntimeError(
                f"{count} devices asked for on backend '{backend}', there {'is' if there == 1 else 'are'} {what}; "
                f"run --devices {there} or choose the backend that has more with --backend"
            )
    for about in descriptions:
        examples = batch or about.batch
        if examples % count:
            raise ValueError(
                f"batch {examples} of '{about.name}' does not divide over {count} devices; "
                f"choose a multiple of {count} with --batch, or other --devices"
            )
