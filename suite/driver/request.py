"""What the user asked for: every option that says what is measured and how, in one table.

The command line, the checks and the walk over the cases read their options from here.
"""

from dataclasses import dataclass, replace
from typing import Annotated, get_args

from suite.case import Allocator, Augmentation, Backend, CompileCache, Implementation, Layout, Loader, Precision
from suite.driver.options import Decider, Option, axis, table
from suite.results.records.record import Profile
from suite.scopes import SCOPES, Scope
from suite.workload import Data

WITHIN = 0.10
BUDGET_MINUTES = 8.0
_REFERENCE: tuple[Decider, ...] = ("reference",)
_FED = tuple(scope for scope in get_args(Scope) if SCOPES[scope].reads_storage)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for; an empty tuple means: as much of it as there is."""

    workloads: tuple[str, ...] = ()
    assigned_workloads: tuple[str, ...] = ()  # of these workloads those that one job of a cluster measures; empty: all
    # fmt: off
    every_workload: Annotated[bool, Option("--all", "Every workload, not the headline set alone.")] = False
    backends: Annotated[tuple[Backend, ...], Option("--backend", "Default: every backend that is there.")] = ()
    profile: Annotated[Profile, Option("--profile", decided_by=_REFERENCE, help=
        "smoke shows that everything runs, and nothing of it is published. quick and standard, of older versions, are "
        "accepted and mean the default."
    )] = "quick"
    budget_minutes: Annotated[float | None, Option("--budget", metavar="MINUTES", with_resume=True, help=
        "Wall time until the prompt is back, the site included. Every workload is measured once, cheapest first; what "
        "is left of the budget goes where a number is least certain. Default: 8, and for more than the headline set at "
        "least twice what one pass takes; with --rounds, an experiment or smoke no limit. Not with --cluster."
    )] = None  # BUDGET_MINUTES, and more where one pass takes long
    within: Annotated[float | None, Option("--within", metavar="PERCENT", decided_by=_REFERENCE, with_resume=True, help=
        "Stop when every number is known so well, as a half-width. Default: 10. It is judged by the spread of all "
        "processes of a kind and is no interval to quote."
    )] = None  # the relative half-width, WITHIN
    rounds: Annotated[int | None, Option("--rounds", decided_by=_REFERENCE, help=
        "Exactly so many processes a case, instead of as many as the budget has time for."
    )] = None  # as many as the budget has time for, or an experiment plans
    reference: Annotated[bool, Option("--reference", help=
        "One reference round, the evidence that numbers for a kind of machine are made of: every workload, JAX and its "
        "chosen baseline, a process a case. First the CPU, then the GPU, last what torch.compile makes. Takes about "
        "half an hour with a GPU and 20 minutes without; --budget cuts it into parts that --resume joins. --backend "
        "and workloads may be named."
    )] = False  # see suite.driver.reference_round
    batch: Annotated[int | None, axis("--batch", "Examples a step. Default: each workload's headline batch.")] = None
    precisions: Annotated[tuple[Precision, ...], axis("--precision", backends=("gpu",), help=
        "Of the GPU side. Default: float32-highest."
    )] = ("float32-highest",)
    scopes: Annotated[tuple[Scope, ...], Option("--scope", decided_by=_REFERENCE, help=
        "What is timed. Default: the steady step, the step with its batch copied from the host, and the cold start. "
        "epoch: steps with the input pipeline from storage on; input: that pipeline alone; run: the documented whole "
        "run, where there is one; calls: the first four calls of a fresh process; learning: training from storage and "
        "the accuracy that it comes to; serve: latency and rate of single requests to networks that only infer, four "
        "always under way. Of an experiment: those of its cases, all by default."
    )] = ()
    cold_starts: Annotated[tuple[CompileCache, ...], axis("--cold-start", scopes=("cold",), help=
        "Of scope cold. Default: cold. warm-cache: the compile cache holds what another process has compiled."
    )] = ("empty",)
    epochs_times: Annotated[int, axis("--epochs-times", scopes=("run",), help=
        "So many times the documented epochs of a run."
    )] = 1
    data: Annotated[Data, Option("--data", shows_default=True, decided_by=_REFERENCE, help=
        "embedded: stand-ins that the project makes; tfds: the published data sets, downloaded once."
    )] = "embedded"
    workers: Annotated[tuple[int, ...], axis("--workers", scopes=_FED, help=
        "Of the input pipeline. Default: as many as granted cores."
    )] = ()
    loaders: Annotated[tuple[Loader, ...], axis("--loader", scopes=_FED, help=
        "What these workers are. Default: threads. PyTorch's pipeline has processes alone."
    )] = ("threads",)
    augmentations: Annotated[tuple[Augmentation, ...], axis("--augmentation", scopes=_FED, help=
        "Where scope epoch distorts its examples as documented. Default: host, in the input pipeline."
    )] = ("host",)
    implementations: Annotated[tuple[Implementation, ...], axis("--implementation", help=
        "Default: jax. With torch or keras beside it the CPU side can be certified, that of the boosted trees with "
        "xgboost; each may have a Python of its own, named by SUITE_TORCH_PYTHON and so on."
    )] = ("jax",)
    baseline_backends: Annotated[tuple[Backend, ...], axis("--baseline-backend", help=
        "Where implementations beside JAX are timed. Default: on every backend. cpu: enough to certify the CPU side."
    )] = ()
    variants: Annotated[tuple[str, ...], axis("--variant", help=
        "How steps are taken. Default: plain for JAX, for baselines every way they have. JAX has plain, nnx-jit (as "
        "tutorials write it), scan (a scan in one call), stacked (of a grid search: as many fits at once as "
        "--batch has headline batches) and, of scope run, resident (the data on the device); PyTorch has plain, "
        "compile, and on the GPU graph and compile-graph; Keras has plain; XGBoost has plain and, on the CPU, "
        "one-thread."
    )] = ()
    allocators: Annotated[tuple[Allocator, ...], axis("--allocator", help=
        "Of the CPU side. Default: beside a baseline both for each implementation, whose better one counts; else the "
        "one that keeps its memory. A cold start and the first calls have by default the system's."
    )] = ()
    threads: Annotated[tuple[int, ...], axis("--threads", backends=("cpu",), help=
        "Cores that a process of the CPU side may use, one hardware thread of each core first. Default: all granted "
        "cores."
    )] = ()
    layouts: Annotated[tuple[Layout, ...], axis("--layout", implementations=("torch",), help=
        "Of pictures in PyTorch's memory. Default: channels-last."
    )] = ("channels-last",)
    devices: Annotated[int, axis("--devices", shows_default=True, help=
        "Split each batch, or stacked fits, over so many GPUs, or devices made of the CPU's cores. JAX only; scopes "
        "cold, step, transfer and calls, and with variant stacked run."
    )] = 1
    hosts: Annotated[int, axis("--hosts", shows_default=True, with_resume=True, help=
        "Machines that --devices belong to, each with as many. This one drives; run suite join on the others. Scopes "
        "cold, step and transfer; variants plain and scan."
    )] = 1
    experiment: Annotated[str | None, Option("--experiment", metavar="NAME", decided_by=_REFERENCE, help=
        "What suite list --experiments shows: it decides on batch, precision, variant and how else a case is timed, "
        "and on the workloads where none is named. --backend, --scope, --profile, --rounds, --budget, --data and "
        "--energy stay yours."
    )] = None
    energy: Annotated[bool | None, Option("--energy/--no-energy", decided_by=_REFERENCE, help=
        "Whether a case of JAX goes on with its step, once, for the eleven seconds in which counters of the hardware "
        "tell its energy and how busy a GPU is, where there are some. Default: it does; of experiments in those alone "
        "that look at how busy a GPU is."
    )] = None  # it does, but for experiments that can do without
    # fmt: on

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


OPTIONS = table(Request)
