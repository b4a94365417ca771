"""How much faster is the GPU? The cases behind the speed-up that each article asks for."""

from collections.abc import Sequence
from itertools import product

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import pooled_point, said_of, words
from suite.case import (
    STARTING,
    Allocator,
    Augmentation,
    Backend,
    Case,
    CompileCache,
    Implementation,
    Layout,
    Loader,
    Precision,
)
from suite.results.pooled.machine_evidence import Evidence, of_one_machine
from suite.results.records.record import Record
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.table import Cell, Table, time_cell, times_cells
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.variants import variants_of
from suite.workload import Description

TITLE = "How much faster is the GPU?"
TESTS = ("O3", "O11", "O12", "O15")
METHOD = (
    "One step of each article's network at its headline batch, float32 at highest precision on both sides, on the GPU "
    "against all granted cores of the same kind of machine. Each side is pooled over hosts."
)
WORKLOADS: tuple[str, ...] = ()  # see `usual`


def usual(catalogue: Sequence[Description]) -> tuple[str, ...]:
    """Return the workloads that are measured when none is named, that of the shortest step first."""
    chosen = sorted(catalogue, key=lambda about: about.batch * about.flop_per_example)
    return tuple(about.name for about in chosen if about.headline)


def cases(
    catalogue: Sequence[Description],
    here: MachineCapabilities,
    *,
    implementations: Sequence[Implementation] = ("jax",),
    variants: Sequence[str] = (),
    precisions: Sequence[Precision] = ("float32-highest",),
    scopes: Sequence[Scope] = USUAL_SCOPES,
    cold_starts: Sequence[CompileCache] = ("empty",),
    epochs_times: int = 1,
    workers: Sequence[int | None] = (None,),
    loaders: Sequence[Loader] = ("threads",),
    augmentations: Sequence[Augmentation] = ("host",),
    allocators: Sequence[Allocator] = (),
    starting: Allocator = STARTING,
    threads: Sequence[int | None] = (None,),
    layouts: Sequence[Layout] = ("channels-last",),
    batch: int | None = None,
    devices: int = 1,
    hosts: int = 1,
    baseline_backends: Sequence[Backend] = (),
) -> tuple[Case, ...]:
    """Return what has to be timed for the speed-ups of these workloads; JAX's baselines on some backends, if named.

    The CPU side is float32 at highest precision, whatever the GPU's is; its cold start and first calls have the
    allocator `starting`, by default the system's, as programs have it, since one that serves steps may make the first
    touch of memory dear.
    Raises ValueError if the CPU alone is asked for a precision that it does not have.
    """
    backends, allocators = here.backends, allocators or (here.allocator,)
    lacking = [precision for precision in precisions if precision != "float32-highest"]
    if lacking and "gpu" not in backends:
        raise ValueError(
            f"precision '{lacking[0]}' asked for on backend 'cpu', which has only 'float32-highest'; "
            "add --backend gpu or leave the precision out"
        )
    return tuple(
        Case(
            workload=about.name,
            backend=backend,
            scope=scope,
            batch=batch or usual_batch(about, variant),
            implementation=implementation,
            variant=variant,
            precision=precision,
            data=here.data_of(about),
            devices=devices,
            threads=cores,
            allocator=starting if scope in ("cold", "calls") and backend == "cpu" else allocator,
            cache=cache,
            length=epochs_times if scope == "run" else 1,
            workers=count,
            loader=loader,
            augmentation=augmentation,
            hosts=hosts,
            layout=layout,
        )
        for about in catalogue
        for backend in backends
        for precision in (("float32-highest",) if backend == "cpu" else precisions)
        for implementation in implementations
        if implementation == "jax" or backend in (baseline_backends or backends)
        for variant, allocator in variants_and_allocators(implementation, backend, variants, allocators)
        for scope in scopes
        if has(scope, about, implementation, variant, devices) and (scope == "step" or allocator == allocators[0])
        if scope != "input" or backend == "cpu"  # it is the host's
        for cache in (cold_starts if scope == "cold" else ("empty",))
        for count, loader, augmentation in fed(scope, implementation, workers, loaders, augmentations)
        for cores in (pools(threads, here.cores) if backend == "cpu" and scope != "input" else (None,))
        for layout in (layouts if implementation == "torch" and about.has_pictures else ("channels-last",))
    )


def fed(
    scope: Scope,
    implementation: Implementation,
    workers: Sequence[int | None],
    loaders: Sequence[Loader],
    augmentations: Sequence[Augmentation],
) -> tuple[tuple[int | None, Loader, Augmentation], ...]:
    """Return how the input pipeline is run where there is one; PyTorch has worker processes, and augments there."""
    if not SCOPES[scope].reads_storage:
        return ((None, "threads", "host"),)
    kinds: Sequence[Loader] = ("processes",) if implementation == "torch" else loaders
    places: Sequence[Augmentation] = augmentations
    if implementation != "jax":
        places = [place for place in augmentations if place != "device"]
    return tuple(product(workers, kinds, places))


def variants_and_allocators(
    implementation: Implementation, backend: Backend, variants: Sequence[str], allocators: Sequence[Allocator]
) -> tuple[tuple[str, Allocator], ...]:
    """Return the variants and allocators in which an implementation is timed; its fastest counts.

    Those named, where it has one of them; else JAX in its plain way, and another implementation in all that it has.
    The allocator is that of the host, so on the GPU the first alone is taken.
    """
    there = variants_of(implementation, backend)
    named = tuple(name for name in there if name in variants)
    chosen = named or (("plain",) if implementation == "jax" else there)
    return tuple((name, allocator) for name in chosen for allocator in allocators[: 1 if backend == "gpu" else None])


def pools(threads: Sequence[int | None], cores: int) -> tuple[int | None, ...]:
    """Return the numbers of threads to time, each once; all granted cores are None."""
    return tuple(dict.fromkeys(None if count == cores else count for count in threads))


def usual_batch(about: Description, variant: str) -> int:
    """Return the headline batch; of variant `stacked` that of each fit of one network."""
    return about.batch * (about.grid.stack if variant == "stacked" and about.grid is not None else 1)


def has(scope: Scope, about: Description, implementation: Implementation, variant: str, devices: int) -> bool:
    """Return whether a scope is timed: beside the steady state JAX's alone, since baselines certify no more than that.

    A scan over several steps has no step to start with, and copies no batch; an epoch and its input are there where
    the data is stored, the input also as PyTorch reads it; a whole run is there where the source
    timed one, on one device, with its data on the host or `resident`, of a search one fit after another, or stacked and
    then on several devices too;
    requests are those to a network that is not trained, answered on one device by JAX's plain way or any of PyTorch's.
    Boosting has one way of its own, and fits are stacked where there is a grid of them.
    """
    if about.family == "trees" and implementation == "jax" and variant != "plain":
        return False
    if variant == "stacked" and about.grid is None:
        return False
    if scope == "step":
        return variant != "resident"
    if SCOPES[scope].reads_storage:
        return implementation in SCOPES[scope].implementations and about.stored and variant == "plain" and devices == 1
    if scope == "run":
        mine = ("plain", "stacked" if about.grid is not None else "resident")
        here = devices == 1 or variant == "stacked"
        return implementation == "jax" and about.run is not None and variant in mine and here
    if scope == "serve":
        ways = variant == "plain" if implementation == "jax" else implementation == "torch"
        return ways and not about.trained and devices == 1
    return implementation == "jax" and variant not in ("scan", "resident")


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return the speed-up of each network; None if there is none."""
    return of_evidence(of_one_machine(records))


def of_evidence(evidence: Evidence) -> ExperimentResult | None:
    """Return what one machine's speed-ups answer, the largest first; None if none is of the headline setting."""
    found = sorted((item for item in evidence.speedups if item.headline), key=lambda item: -item.ratio.value)
    if not found:
        return None
    rows = tuple(
        (
            Cell(text=item.workload),
            Cell(text=units.count(item.case.batch), sort=item.case.batch),
            time_cell(item.cpu),
            time_cell(item.gpu),
            *times_cells(item.ratio.estimate, item.record),
            Cell(text=item.state, remark="; ".join(item.reasons)),
            Cell(text=units.count(item.hosts), sort=item.hosts),
        )
        for item in found
    )
    chart = Chart(
        caption="CPU time over GPU time of one step on the same kind of machine.",
        across="CPU time / GPU time, log scale",
        points=tuple(pooled_point(item, row=item.workload) for item in found),
        level=1.0,
    )
    columns = ("model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "status", "hosts")
    title = "One step in steady state, CPU and GPU of the same kind of machine"
    answers = tuple(
        f"{item.workload}: the GPU is {words(item.ratio.estimate)} as fast.{said_of([item])}" for item in found
    )
    return ExperimentResult(answers=answers, tables=(Table(title=title, columns=columns, rows=rows),), chart=chart)
