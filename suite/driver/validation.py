"""What cannot be measured as it was asked for, said before anything is: an error instead of another measurement."""

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
    """Raise LookupError or ValueError for what does not fit together, of a request for these workloads and backends."""
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
    named: Iterable[str], implementations: Collection[Implementation], backends: Collection[Backend]
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
    named: Iterable[str], scopes: Collection[Scope], timed: Collection[tuple[str, str]], devices: int
) -> None:
    """Raise ValueError if a named variant has none of the scopes; `timed` are variants, each with a scope it has."""
    split = f" with --devices {devices}" if devices > 1 else ""
    for name in named:
        there = tuple(scope for scope in get_args(Scope) if (name, scope) in timed)
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


def check_data(data: Data, descriptions: Sequence[Description]) -> None:
    """Raise ValueError if published data is asked for of workloads of which none has any."""
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


def check_layouts(layouts: Collection[Layout], descriptions: Collection[Description]) -> None:
    """Raise ValueError if a layout is asked for that none of the workloads has."""
    if "contiguous" in layouts and not any(each.has_pictures for each in descriptions):
        names = ", ".join(each.name for each in descriptions)
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
