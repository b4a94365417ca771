"""The cases that were asked for: those made of scopes, or an experiment's of some scopes."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import get_args

from suite.analysis.capabilities import MachineCapabilities
from suite.case import STARTING, Allocator, Case, Implementation
from suite.driver import validation
from suite.driver.request import Request
from suite.experiments import headline
from suite.processes import children
from suite.scopes import USUAL_SCOPES, Scope
from suite.workload import Description


def timed(request: Request, chosen: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the cases of a request without an experiment."""
    made, scopes = by_scopes(request, chosen, here), request.scopes or USUAL_SCOPES
    if request.variants:
        validation.check_variant_scopes(request.variants, scopes, made(scopes=get_args(Scope)), request.devices)
    return made(scopes=scopes)


def by_scopes(
    request: Request, chosen: Sequence[Description], here: MachineCapabilities
) -> Callable[..., tuple[Case, ...]]:
    """Return what makes the cases of a request without an experiment from scopes."""
    alone = request.allocators or allocators(request.implementations)
    return partial(
        headline.cases,
        chosen,
        here,
        implementations=request.implementations,
        baseline_backends=request.baseline_backends,
        variants=request.variants,
        precisions=request.precisions,
        cold_starts=request.cold_starts,
        epochs_times=request.epochs_times,
        workers=request.workers or (None,),
        loaders=request.loaders,
        augmentations=request.augmentations,
        allocators=validation.HOSTS_ALLOCATORS if request.hosts > 1 else alone,
        starting=request.allocators[0] if request.allocators else STARTING,
        threads=request.threads or (None,),
        layouts=request.layouts,
        batch=request.batch,
        devices=request.devices,
        hosts=request.hosts,
    )


def allocators(implementations: Sequence[Implementation]) -> tuple[Allocator, ...]:
    """Return the allocators that are timed unless some are named: without a baseline only what serves JAX best.

    Beside a baseline each side's better one counts; without, a second one would only double the time.
    """
    there = children.allocators()
    return there if any(name != "jax" for name in implementations) else there[:1]


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
