"""What the user asked for, and the experiment and the workloads that it names."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from suite import experiments
from suite.case import Allocator, Augmentation, Backend, CompileCache, Implementation, Layout, Loader, Precision
from suite.results.records.record import Profile
from suite.scopes import Scope
from suite.workload import Data

WITHIN = 0.10
BUDGET_MINUTES = 8.0

# What an experiment decides on itself: names in a request, and the options that set them.
OPTIONS = {
    "batch": "--batch", "precisions": "--precision", "variants": "--variant",
    "implementations": "--implementation", "allocators": "--allocator", "devices": "--devices", "hosts": "--hosts",
    "cold_starts": "--cold-start", "epochs_times": "--epochs-times", "workers": "--workers", "loaders": "--loader",
    "augmentations": "--augmentation", "baseline_backends": "--baseline-backend", "threads": "--threads",
    "layouts": "--layout",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for; an empty tuple means: as much of it as there is."""

    workloads: tuple[str, ...] = ()
    every_workload: bool = False
    assigned_workloads: tuple[str, ...] = ()  # of these workloads those that one job of a cluster measures; empty: all
    backends: tuple[Backend, ...] = ()
    profile: Profile = "quick"
    rounds: int | None = None  # exactly so many; None: as many as the budget has time for, or an experiment plans
    within: float | None = None  # the relative half-width at which a number is known well enough; None: WITHIN
    batch: int | None = None
    precisions: tuple[Precision, ...] = ("float32-highest",)
    scopes: tuple[Scope, ...] = ()  # empty: the usual ones, all of an experiment's
    cold_starts: tuple[CompileCache, ...] = ("empty",)
    epochs_times: int = 1
    data: Data = "embedded"
    workers: tuple[int, ...] = ()  # empty: as many as cores
    loaders: tuple[Loader, ...] = ("threads",)
    augmentations: tuple[Augmentation, ...] = ("host",)
    implementations: tuple[Implementation, ...] = ("jax",)
    variants: tuple[str, ...] = ()
    allocators: tuple[Allocator, ...] = ()
    threads: tuple[int, ...] = ()  # of the CPU side; empty: all granted cores
    layouts: tuple[Layout, ...] = ("channels-last",)  # of PyTorch
    baseline_backends: tuple[Backend, ...] = ()
    devices: int = 1
    hosts: int = 1
    energy: bool | None = None  # None: but for experiments that can do without
    budget_minutes: float | None = None  # None: BUDGET_MINUTES, and more where one pass takes long
    experiment: str | None = None  # decides on what is in OPTIONS; all else stays the user's
    reference: bool = False  # one round of every workload and its chosen baseline, see suite.driver.reference_round

    @property
    def adaptive(self) -> bool:
        """Whether rounds are added where a number is not known well enough, until the budget is spent.

        Smoke, an experiment, a reference round and a cluster's jobs have planned rounds.
        """
        planned = (
            self.rounds is not None or self.experiment is not None or self.reference or bool(self.assigned_workloads)
        )
        return self.profile != "smoke" and not planned

    @property
    def headline(self) -> bool:
        """Whether it is the headline set as everybody measures it."""
        every = replace(self, backends=(), profile="quick", within=None, energy=None, budget_minutes=None)
        return every == Request()


def asked(request: Request, names: Iterable[str]) -> tuple[str, ...]:
    """Return the options of these names that differ from what is usual."""
    usual = Request()
    return tuple(OPTIONS[name] for name in names if getattr(request, name) != getattr(usual, name))


def chosen_by(experiment: str, request: Request) -> experiments.Experiment:
    """Return the experiment.

    Raises LookupError if there is none of that name, ValueError for an option that it decides on itself.
    """
    found = experiments.load(experiment)
    for option in asked(request, OPTIONS):
        raise ValueError(f"{option} asked for with experiment '{experiment}', which decides that itself; leave it out")
    return found


def check_reference_options(request: Request) -> None:
    """Raise ValueError for an option that a reference round decides on itself."""
    usual = Request()
    named = {"rounds": "--rounds", "within": "--within", "scopes": "--scope", "data": "--data", "energy": "--energy"}
    given = [option for name, option in named.items() if getattr(request, name) != getattr(usual, name)]
    given += asked(request, OPTIONS)
    given += ["--profile smoke"] if request.profile == "smoke" else []
    given += ["--experiment"] if request.experiment is not None else []
    for option in given if request.reference else ():
        raise ValueError(f"{option} asked for with --reference, which decides that itself; leave one of them out")


def _known(wanted: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the workloads asked for.

    Raises LookupError, naming what there is and the nearest match, for one that does not exist.
    """
    wanted = tuple(dict.fromkeys(wanted))
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name.lower(), names, 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise LookupError(f"no workload '{name}'{hint}; there are: {', '.join(names)}")
    return wanted


def workloads(
    request: Request, networks: Sequence[str], limits: Sequence[str], usual: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the workloads asked for; where none is named the usual ones that there are, or all networks.

    Raises LookupError for one that is neither a network nor a limit of machines, ValueError for names beside all.
    """
    if request.every_workload and request.workloads:
        raise ValueError(f"--all asked for beside {', '.join(request.workloads)}; leave out --all, or the names")
    there = {*networks, *limits}
    wanted = _known(request.workloads, sorted(there))
    usual = tuple(name for name in usual if name in there)
    every = request.every_workload or request.reference or not usual
    return wanted or (tuple(networks) if every else usual)
