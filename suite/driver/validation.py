"""Checks that a request is consistent: an error before measuring, never a different measurement."""

from collections.abc import Collection, Iterable, Sequence
from typing import get_args

from suite import units, variants
from suite.case import Allocator, Augmentation, Backend, Implementation, Layout
from suite.driver.options import check_applies
from suite.driver.request import Request
from suite.results.records.record import Profile
from suite.scopes import USUAL_SCOPES, Scope, scopes_that
from suite.workload import Data, Description

HOSTS_ALLOCATORS: tuple[Allocator, ...] = ("default-malloc",)
HOSTS_SCOPES = scopes_that(lambda row: row.several_hosts)
HOSTS_VARIANTS = ("plain", "scan")


def check(request: Request, chosen: Sequence[Description], backends: Collection[Backend]) -> None:
    """Raise LookupError or ValueError if the request's options do not fit together for these workloads and backends."""
    scopes, implementations = request.scopes or USUAL_SCOPES, request.implementations
    check_stopping(request.within, request.rounds, request.profile, request.experiment)
    check_baseline_backends(request.baseline_backends, implementations, backends)
    check_variants(request.variants, implementations, backends)
    check_data(request.data, chosen)
    check_applies(request, scopes=scopes, backends=backends, implementations=implementations)
    check_serving(scopes, request.workloads, chosen, request.batch, implementations, request.devices)
    check_layouts(request.layouts, chosen)
    check_augmentations(request.augmentations, chosen)
    check_hosts(request.hosts, request.devices, scopes, request.variants, request.allocators)
    check_stacked(request.variants, request.batch, request.devices, chosen)


def check_stopping(within: float | None, rounds: int | None, profile: Profile, experiment: str | None) -> None:
    """Raise ValueError for --within with a plan that adds no rounds."""
    if within is None:
        return
    if rounds is not None:
        raise ValueError(f"--within asked for with --rounds {rounds}, which fixes the number; leave one of them out")
    if experiment or profile == "smoke":
        what = f"--experiment {experiment}" if experiment else "--profile smoke"
        raise ValueError(f"--within asked for with {what}, which plans its rounds; leave one of them out")


def check_baseline_backends(
    named: Sequence[Backend], implementations: Collection[Implementation], backends: Collection[Backend]
) -> None:
    """Raise ValueError if baseline backends are named without a baseline, or one of them is not measured."""
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
    named: Iterable[str], implementations: Collection[Implementation], backends: Collection[Backend]
) -> None:
    """Raise LookupError if no implementation has a named variant on any of the backends."""
    for name in named:
        sides = [(i, b, variants.variants_of(i, b)) for i in implementations for b in backends]
        if not any(name in own for _, _, own in sides):
            words = "; ".join(f"'{i}' on {b} has: {', '.join(own)}" for i, b, own in sides if own)
            raise LookupError(f"variant '{name}' asked for, {words}")


def check_stacked(named: Collection[str], batch: int | None, devices: int, descriptions: Iterable[Description]) -> None:
    """Raise ValueError for variant stacked of a workload without a grid, or if its fits do not divide."""
    for about in descriptions if "stacked" in named else ():
        variants.fits_of(about, batch or about.batch * (about.grid.stack if about.grid else 1), devices)


def check_variant_scopes(
    named: Iterable[str], scopes: Collection[Scope], timed: Collection[tuple[str, str]], devices: int
) -> None:
    """Raise ValueError if a named variant has none of the scopes; `timed` are the (variant, scope) pairs available."""
    split = f" with --devices {devices}" if devices > 1 else ""
    for name in named:
        own_scopes = tuple(scope for scope in get_args(Scope) if (name, scope) in timed)
        if not own_scopes:
            raise ValueError(
                f"variant '{name}' asked for{split}, none of these workloads has it on a backend asked for; name "
                f"others, or leave {'one of the two' if split else 'it'} out"
            )
        if not set(own_scopes) & set(scopes):
            raise ValueError(
                f"variant '{name}' asked for in scope {', '.join(scopes)}, these workloads have it{split} in: "
                f"{', '.join(own_scopes)}; add --scope {own_scopes[0]}, or leave it out"
            )


def check_data(data: Data, descriptions: Sequence[Description]) -> None:
    """Raise ValueError if published data is requested and no workload has any."""
    if data == "tfds" and descriptions and not any(about.stored for about in descriptions):
        names = ", ".join(about.name for about in descriptions)
        raise ValueError(f"--data tfds asked for, none of {names} has a published data set; leave it out")


def check_serving(
    scopes: Collection[Scope],
    named: Iterable[str],
    descriptions: Iterable[Description],
    batch: int | None,
    implementations: Collection[Implementation],
    devices: int,
) -> None:
    """Raise ValueError if scope serve is requested of something that cannot serve; `named` are the named workloads.

    A request is one picture to an inference network on one device, with JAX or PyTorch.
    """
    if "serve" not in scopes:
        return
    about = tuple(descriptions)
    served = [each.name for each in about if not each.trained]
    trained = [name for name in named if name not in served]
    if trained or not served:
        raise ValueError(
            f"scope 'serve' asked for, it needs inference, and these are trained: "
            f"{', '.join(trained or [each.name for each in about])}; name workloads that begin with 'serve_'"
        )
    if batch not in (None, 1):
        raise ValueError(f"scope 'serve' asked for with batch {batch}, a request is one picture; leave --batch out")
    if devices != 1:
        raise ValueError(f"scope 'serve' asked for on {devices} devices, it uses one; leave --devices or the scope out")
    if not {"jax", "torch"} & set(implementations):
        raise ValueError(
            f"scope 'serve' asked for with '{', '.join(implementations)}', only 'jax' and 'torch' serve; add one with "
            "--implementation"
        )


def check_layouts(layouts: Collection[Layout], descriptions: Collection[Description]) -> None:
    """Raise ValueError for a picture layout if no workload has pictures."""
    if "contiguous" in layouts and not any(each.has_pictures for each in descriptions):
        names = ", ".join(each.name for each in descriptions)
        raise ValueError(f"--layout contiguous asked for, the batches of {names} have no pictures; leave it out")


def check_augmentations(wanted: Collection[Augmentation], descriptions: Iterable[Description]) -> None:
    """Raise ValueError for augmentation on the device if a workload is not augmented."""
    plain = [about.name for about in descriptions if not about.augmented]
    if "device" in wanted and plain:
        raise ValueError(
            f"augmentation 'device' asked for, these are not augmented: {', '.join(plain)}; leave it or them out"
        )


def check_hosts(
    hosts: int, devices: int, scopes: Iterable[Scope], variants: Iterable[str], allocators: Iterable[str]
) -> None:
    """Raise ValueError if the devices do not divide over the hosts, or an option does not support several hosts."""
    if hosts == 1:
        return
    if devices % hosts or devices < hosts:
        raise ValueError(
            f"{units.pluralize(devices, 'device')} asked for on {hosts} hosts; each needs the same number, so choose a "
            f"multiple of {hosts}"
        )
    for asked, supported, option in (
        (scopes, HOSTS_SCOPES, "--scope"),
        (variants, HOSTS_VARIANTS, "--variant"),
        (allocators, HOSTS_ALLOCATORS, "--allocator"),
    ):
        if left := sorted(set(asked) - set(supported)):
            raise ValueError(f"{option} '{left[0]}' asked for on {hosts} hosts, which have: {', '.join(supported)}")
