"""Remarks for the user on the skipped parts of a request."""

from collections.abc import Collection, Iterator, Sequence

from suite.case import Case
from suite.driver import fitness
from suite.driver.cases import KEEPING_OUT, Walk
from suite.driver.request import OPTIONS, Request, given
from suite.results.records.machine import Machine
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.system.machine import why_no_gpu
from suite.variants import NAMES
from suite.worker_api.protocol import Offer
from suite.workload import Description


def parts_skipped(
    request: Request, machine: Machine, jax: Offer, chosen: Sequence[Description], scopes: Collection[Scope]
) -> Iterator[str]:
    """Yield why an unseen GPU is skipped if no backend was requested, and the workloads that lack a scope or data."""
    problem = why_no_gpu(wanted_one=False)  # although there is a driver
    if not request.backends and "gpu" not in jax.backends and (machine.gpus or problem):
        yield fitness.missing_backend("gpu", machine, jax, problem)
    if "run" in scopes and (none := [about.name for about in chosen if about.run is None]):
        yield f"no whole run is documented for: {', '.join(none)}; skipped in scope 'run'"
    if "serve" in scopes and (none := [about.name for about in chosen if about.trained]):
        yield f"only inference is served: {', '.join(none)}; skipped in scope 'serve'"
    read = [f"'{scope}'" for scope in scopes if SCOPES[scope].reads_storage]
    if read and (none := [about.name for about in chosen if not about.stored]):
        yield f"no stored data: {', '.join(none)}; skipped in scope {', '.join(read)}"
    if request.data == "tfds" and (none := [about.name for about in chosen if not about.stored]):
        yield f"no published data set: {', '.join(none)}; their batches are drawn at random"


def baselines_skipped(lacking: Sequence[Case]) -> Iterator[str]:
    """Yield where each baseline cannot run, from the cases that it lacks."""
    for baseline in dict.fromkeys(case.implementation for case in lacking):
        places = sorted({f"{c.workload} on {c.backend}" for c in lacking if c.implementation == baseline})
        yield f"{baseline} cannot run: {', '.join(places)}; skipped"


def workloads_unasked(request: Request, chosen: Sequence[Description], measured: Collection[str]) -> Iterator[str]:
    """Yield the named workloads of which the experiment measures nothing; `measured` are the others."""
    if none := [about.name for about in chosen if about.name in request.workloads and about.name not in measured]:
        scopes = f" in scope {', '.join(request.scopes)}" if request.scopes else ""
        yield f"experiment '{request.experiment}' has no case of {', '.join(none)}{scopes}; skipped"


def scopes_skipped(request: Request, walked: Walk) -> Iterator[str]:
    """Yield the requested scopes in which no workload is timed, and the fewest options that exclude them."""
    can_go = {name for name, _ in given(request)}
    lost: dict[tuple[str, ...], list[Scope]] = {}
    for scope in request.scopes or USUAL_SCOPES:
        reasons = {kept_out_by for one, kept_out_by in walked if one.scope == scope}
        order = {reason: (len(reason), [KEEPING_OUT.index(name) for name in reason]) for reason in reasons}
        helping = sorted((reason for reason in reasons if can_go.issuperset(reason)), key=order.__getitem__)
        if helping and helping[0]:  # else it is timed, or no given option excludes it
            lost.setdefault(helping[0], []).append(scope)
    for names, scopes in lost.items():
        options = " and ".join(f"{OPTIONS[name].name} {_written(getattr(request, name))}" for name in names)
        yield f"scope {', '.join(scopes)} is not timed with {options}{_but(request, scopes, walked)}; skipped"


def _but(request: Request, scopes: Sequence[Scope], walked: Walk) -> str:
    """Return, in words, a variant in which the scopes are timed though the default one is not; '' if there is none."""
    other = {(one.variant, one.scope) for one, kept_out_by in walked if kept_out_by == ("variants",)}
    for name in () if request.variants else NAMES:
        if all((name, scope) in other for scope in scopes):
            return f", but with --variant {name}"
    return ""


def _written(value: int | Sequence[str]) -> str:
    return str(value) if isinstance(value, int) else ",".join(value)
