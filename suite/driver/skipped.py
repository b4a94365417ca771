"""What is left out of a request, and why: remarks for the user."""

from collections.abc import Collection, Iterator, Sequence

from suite.case import Case
from suite.driver import fitness
from suite.driver.cases import KEEPING_OUT, Walk
from suite.driver.options import given
from suite.driver.request import OPTIONS, Request
from suite.results.records.machine import Machine
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.variants import NAMES
from suite.worker_api.protocol import Offer
from suite.workload import Data, Description


def gpu_skipped(request: Request, machine: Machine, jax: Offer, problem: str = "") -> Iterator[str]:
    """Yield why the GPU is left out, if there is one that JAX does not see and none was asked for.

    `problem` is why none can be used although there is a driver.
    """
    if not request.backends and "gpu" not in jax.backends and (machine.gpus or problem):
        yield fitness.missing_backend("gpu", machine, jax, problem)


def workloads_skipped(chosen: Sequence[Description], scopes: Collection[Scope]) -> Iterator[str]:
    """Yield what is not measured since a scope is not of every workload."""
    if "run" in scopes and (none := [about.name for about in chosen if about.run is None]):
        yield f"no whole run is documented for: {', '.join(none)}; left out of scope 'run'"
    if "serve" in scopes and (none := [about.name for about in chosen if about.trained]):
        yield f"only inference is served: {', '.join(none)}; left out of scope 'serve'"
    read = [f"'{scope}'" for scope in scopes if SCOPES[scope].reads_storage]
    if read and (none := [about.name for about in chosen if not about.stored]):
        yield f"no stored data: {', '.join(none)}; left out of scope {', '.join(read)}"


def drawn_at_random(data: Data, chosen: Sequence[Description]) -> Iterator[str]:
    """Yield which workloads have no published data though it is asked for: their batches are drawn."""
    if data == "tfds" and (none := [about.name for about in chosen if not about.stored]):
        yield f"no published data set: {', '.join(none)}; their batches are drawn at random"


def baselines_skipped(lacking: Sequence[Case]) -> Iterator[str]:
    """Yield, of each baseline, where it cannot run: `lacking` are the cases that it has not."""
    for baseline in dict.fromkeys(case.implementation for case in lacking):
        places = sorted({f"{c.workload} on {c.backend}" for c in lacking if c.implementation == baseline})
        yield f"{baseline} cannot run: {', '.join(places)}; left out"


def workloads_unasked(request: Request, chosen: Sequence[Description], there: Collection[str]) -> Iterator[str]:
    """Yield the workloads that were named and that the experiment does not take: `there` are those that it does."""
    if none := [about.name for about in chosen if about.name in request.workloads and about.name not in there]:
        scopes = f" in scope {', '.join(request.scopes)}" if request.scopes else ""
        yield f"experiment '{request.experiment}' has nothing to ask of {', '.join(none)}{scopes}; left out"


def scopes_skipped(request: Request, walked: Walk) -> Iterator[str]:
    """Yield the scopes asked for that none of the workloads is timed in, and the fewest options that keep them out."""
    can_go = {name for name, _ in given(request)}
    lost: dict[tuple[str, ...], list[Scope]] = {}
    for scope in request.scopes or USUAL_SCOPES:
        reasons = {kept_out_by for one, kept_out_by in walked if one.scope == scope}
        helping = sorted((reason for reason in reasons if can_go.issuperset(reason)), key=_fewest)
        if helping and helping[0]:  # else it is timed, or no option that was given keeps it out
            lost.setdefault(helping[0], []).append(scope)
    for names, scopes in lost.items():
        options = " and ".join(f"{OPTIONS[name].name} {_written(getattr(request, name))}" for name in names)
        yield f"scope {', '.join(scopes)} is not timed with {options}{_but(request, scopes, walked)}; left out"


def _fewest(reason: tuple[str, ...]) -> tuple[int, list[int]]:
    return len(reason), [KEEPING_OUT.index(name) for name in reason]


def _but(request: Request, scopes: Sequence[Scope], walked: Walk) -> str:
    """Return the variant as which scopes are timed though in its usual one none is, in words; '' if there is none."""
    other = {(one.variant, one.scope) for one, kept_out_by in walked if kept_out_by == ("variants",)}
    for name in () if request.variants else NAMES:
        if all((name, scope) in other for scope in scopes):
            return f", but with --variant {name}"
    return ""


def _written(value: int | Sequence[str]) -> str:
    return str(value) if isinstance(value, int) else ",".join(value)
