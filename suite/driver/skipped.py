"""What is left out of a request, and why: remarks for the user."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case
from suite.driver import fitness
from suite.driver.cases import by_scopes
from suite.driver.request import Request
from suite.results.records.machine import Machine
from suite.scopes import SCOPES, USUAL_SCOPES, Scope
from suite.variants import NAMES
from suite.worker_api.offer import Offer
from suite.workload import Data, Description

# What may leave a scope without a case.
_NARROWING = {
    "devices": "--devices", "variants": "--variant", "implementations": "--implementation", "backends": "--backend",
}  # fmt: skip


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


def scopes_skipped(request: Request, chosen: Sequence[Description], here: MachineCapabilities) -> Iterator[str]:
    """Yield the scopes asked for that none of the workloads is timed in, and the options that keep them out."""
    lost: dict[str, list[Scope]] = {}
    for scope in request.scopes or USUAL_SCOPES:
        if not by_scopes(request, chosen, here)(scopes=(scope,)):
            lost.setdefault(_in_the_way(request, scope, chosen, here), []).append(scope)
    for options, scopes in lost.items():
        if options:
            but = _but(request, scopes, chosen, here)
            yield f"scope {', '.join(scopes)} is not timed with {options}{but}; left out"


def _in_the_way(request: Request, scope: Scope, chosen: Sequence[Description], here: MachineCapabilities) -> str:
    """Return the option without which a scope is timed, all that narrow it if it takes them, or '' if none helps."""
    usual = Request()
    given = [name for name in _NARROWING if getattr(request, name) != getattr(usual, name)]
    for names in (*((name,) for name in given), given):
        freed = replace(request, **{name: getattr(usual, name) for name in names})
        place = replace(here, backends=get_args(Backend)) if "backends" in names else here
        if by_scopes(freed, chosen, place)(scopes=(scope,)):
            return " and ".join(f"{_NARROWING[name]} {_written(getattr(request, name))}" for name in names)
    return ""


def _but(request: Request, scopes: Sequence[Scope], chosen: Sequence[Description], here: MachineCapabilities) -> str:
    """Return the variant as which scopes are timed though in its usual one none is, in words; '' if there is none."""
    for name in () if request.variants else NAMES:
        made = by_scopes(replace(request, variants=(name,)), chosen, here)
        if all(made(scopes=(scope,)) for scope in scopes):
            return f", but with --variant {name}"
    return ""


def _written(value: int | Sequence[str]) -> str:
    return str(value) if isinstance(value, int) else ",".join(value)
