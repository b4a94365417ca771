"""The request: one table of every option that says what is measured and how.

The command line, the checks and the walk over the cases all read it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from suite.case import Allocator, Augmentation, Backend, CompileCache, Implementation, Layout, Loader, Precision
from suite.results.records.record import Profile
from suite.scopes import SCOPES, Scope
from suite.workload import Data

Decider = Literal["experiment", "reference"]


@dataclass(frozen=True)
class Option:
    """An option's flag and help, and what it applies to; an empty tuple means everything."""

    flag: str
    help: str
    _: KW_ONLY
    metavar: str | None = None
    shows_default: bool = False
    scopes: tuple[Scope, ...] = ()
    backends: tuple[Backend, ...] = ()
    implementations: tuple[Implementation, ...] = ()
    decided_by: tuple[Decider, ...] = ()  # these set it themselves and refuse the user's value
    with_resume: bool = False  # whether it still applies with --resume, instead of the stored plan's value

    @property
    def name(self) -> str:
        """Its name in messages: the first of a flag and its opposite."""
        return self.flag.partition("/")[0]


def axis(flag: str, help: str, **of: Any) -> Option:
    """Return an option for how a case is timed, which experiments and reference rounds decide themselves."""
    return Option(flag, help, decided_by=get_args(Decider), **of)


WITHIN = 0.10
BUDGET_MINUTES = 8.0
_REFERENCE: tuple[Decider, ...] = ("reference",)
_FED = tuple(scope for scope in get_args(Scope) if SCOPES[scope].reads_storage)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The user's request; an empty tuple means the default selection."""

    workloads: tuple[str, ...] = ()
    assigned_workloads: tuple[str, ...] = ()  # the workloads of one cluster job; empty: all
    # fmt: off
    every_workload: Annotated[bool, Option("--all", "Every workload instead of the headline set.")] = False
    backends: Annotated[tuple[Backend, ...], Option("--backend", "Default: every available backend.")] = ()
    profile: Annotated[Profile, Option("--profile", decided_by=_REFERENCE, help=
        "smoke tests that everything runs, and is never published. quick and standard, of older versions, mean the "
        "default."
    )] = "quick"
    budget_minutes: Annotated[float | None, Option("--budget", metavar="MINUTES", with_resume=True, help=
        "Wall time of the command, the site included. Every workload is measured once, cheapest first; the rest of the "
        "budget goes to the widest intervals. Default: 8, and for more than the headline set at least twice one pass; "
        "no limit with --rounds, an experiment or smoke. Not with --cluster."
    )] = None  # BUDGET_MINUTES, or more if one pass takes long
    within: Annotated[float | None, Option("--within", metavar="PERCENT", decided_by=_REFERENCE, with_resume=True, help=
        "Stop when every interval's half-width is at most this. Default: 10. It uses the spread of all processes of a "
        "kind, so do not quote it as an interval."
    )] = None  # the relative half-width, WITHIN
    rounds: Annotated[int | None, Option("--rounds", decided_by=_REFERENCE, help=
        "Exactly this many processes a case, instead of as many as fit the budget."
    )] = None  # as many as fit the budget, or as an experiment plans
    reference: Annotated[bool, Option("--reference", help=
        "One reference round, the evidence for a kind of machine: every workload, JAX and its chosen baseline, each "
        "timed once. JAX is also timed with its batch copied and at a cold start, the headline set from storage and in "
        "its documented runs. First what has the smallest share of the hosts it needs: ten for a step on a CPU, else "
        "three. It says how long it takes; --budget splits it, continued with --resume. --backend and workloads may "
        "be given."
    )] = False  # see suite.driver.reference_round
    batch: Annotated[int | None, axis("--batch", "Examples per step. Default: each workload's headline batch.")] = None
    precisions: Annotated[tuple[Precision, ...], axis("--precision", backends=("gpu",), help=
        "Precision of the GPU side. Default: float32-highest. framework-default: float32 as JAX or PyTorch multiplies "
        "it if nothing is set."
    )] = ("float32-highest",)
    scopes: Annotated[tuple[Scope, ...], Option("--scope", metavar="NAME[,...]", decided_by=_REFERENCE, help=
        "What is timed. Default: step (in steady state), transfer (the step with its batch copied from the host) and "
        "cold (the start). "
        "epoch: steps fed by the input pipeline from storage; input: that pipeline alone; run: the documented whole "
        "run, if any; calls: the first four calls of a fresh process; learning: training from storage and the accuracy "
        "reached; serve: latency and throughput of single requests to inference networks, four in flight, then each "
        "waited for; kernels: how long the GPU is busy in a step, by JAX's profiler, in a process of its own; written: "
        "a step of a loop as people write it, by default in every way. With an experiment: its scopes, by default all."
    )] = ()
    cold_starts: Annotated[tuple[CompileCache, ...], axis("--cold-start", scopes=("cold",), help=
        "Compile cache of scope cold. Default: cold. warm-cache: it holds the program that another process compiled."
    )] = ("empty",)
    epochs_times: Annotated[int, axis("--epochs-times", scopes=("run",), help=
        "This many times the documented epochs of a run."
    )] = 1
    data: Annotated[Data, Option("--data", shows_default=True, decided_by=_REFERENCE, help=
        "embedded: generated stand-ins; tfds: the published data sets, downloaded once."
    )] = "embedded"
    workers: Annotated[tuple[int, ...], axis("--workers", scopes=_FED, help=
        "Workers of the input pipeline. Default: one for each granted core."
    )] = ()
    loaders: Annotated[tuple[Loader, ...], axis("--loader", scopes=_FED, help=
        "Kind of these workers. Default: threads. PyTorch's pipeline always has processes."
    )] = ("threads",)
    augmentations: Annotated[tuple[Augmentation, ...], axis("--augmentation", scopes=_FED, help=
        "Where scope epoch augments its examples. Default: host, in the input pipeline."
    )] = ("host",)
    implementations: Annotated[tuple[Implementation, ...], axis("--implementation", help=
        "Default: jax. Adding torch or keras can certify the CPU side, xgboost that of the boosted trees, openvino "
        "that of inference. Each may have its own Python, named by SUITE_TORCH_PYTHON and so on."
    )] = ("jax",)
    baseline_backends: Annotated[tuple[Backend, ...], axis("--baseline-backend", help=
        "Backends of the baselines. Default: every backend. cpu: enough to certify the CPU side."
    )] = ()
    variants: Annotated[tuple[str, ...], axis("--variant", metavar="NAME[,...]", help=
        "How steps run. Default: plain for JAX, all variants for baselines. JAX has plain, nnx-jit (as in tutorials), "
        "scan (several steps in one call), stacked (a grid search's fits at once: --batch over the headline batch) "
        "and, in scope run, resident (data on the device); PyTorch has plain, compile, and on the GPU graph and "
        "compile-graph; Keras has plain; XGBoost has plain and, on the CPU, one-thread; OpenVINO has plain. In scope "
        "written JAX has nnx-loop, nnx-loop-wait and resident-loop; PyTorch has loop and loop-wait; Keras has fit, "
        "train-on-batch, predict and predict-on-batch, each ending in -jax, -torch or -tensorflow."
    )] = ()
    allocators: Annotated[tuple[Allocator, ...], axis("--allocator", help=
        "Allocator of the CPU side. Default: with a baseline both, and each implementation's faster one counts; else "
        "the one that keeps freed memory. Cold starts and first calls use the system's by default."
    )] = ()
    threads: Annotated[tuple[int, ...], axis("--threads", backends=("cpu",), help=
        "Hardware threads that a process of the CPU side may use, one of each core first. Default: all granted cores."
    )] = ()
    layouts: Annotated[tuple[Layout, ...], axis("--layout", implementations=("torch",), help=
        "Memory layout of pictures in PyTorch. Default: channels-last."
    )] = ("channels-last",)
    devices: Annotated[int, axis("--devices", shows_default=True, help=
        "Split each batch, or stacked fits, over this many GPUs, or CPU devices of one core each. JAX only; scopes "
        "cold, step, transfer and calls, and run with variant stacked."
    )] = 1
    hosts: Annotated[int, axis("--hosts", shows_default=True, with_resume=True, help=
        "Machines that share --devices equally. This one leads; run suite join on the others. Scopes cold, step and "
        "transfer; variants plain and scan."
    )] = 1
    experiment: Annotated[str | None, Option("--experiment", metavar="NAME", decided_by=_REFERENCE, help=
        "One of suite list --experiments. It decides batch, precision, variant and the other axes of its cases, and "
        "the workloads if none is named. --backend, --scope, --profile, --rounds, --budget, --data and --energy still "
        "apply."
    )] = None
    energy: Annotated[bool | None, Option("--energy/--no-energy", decided_by=_REFERENCE, help=
        "Run each JAX step for eleven more seconds, once a case, to read energy and GPU utilisation from hardware "
        "counters, if available. Default: yes; in experiments only if they need GPU utilisation."
    )] = None  # yes, except in experiments that do not need it
    # fmt: on

    @property
    def adaptive(self) -> bool:
        """Whether rounds are added to the widest intervals until the budget is spent.

        Smoke, an experiment, a reference round, --rounds and a cluster's jobs have planned rounds.
        """
        one_command = not (self.experiment is not None or self.reference or self.assigned_workloads)
        return self.profile != "smoke" and self.rounds is None and one_command

    @property
    def headline(self) -> bool:
        """Whether it is the default request for the headline set."""
        every = replace(self, backends=(), profile="quick", within=None, energy=None, budget_minutes=None)
        return every == _USUAL


# The options by field name; they are annotations of the fields.
OPTIONS: Mapping[str, Option] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Request, include_extras=True).items()
    if get_origin(hint) is Annotated
}
_USUAL = Request()


def given(request: Request) -> Iterator[tuple[str, Option]]:
    """Yield name and option of each field whose value is not the default."""
    for name, row in OPTIONS.items():
        if getattr(request, name) != getattr(_USUAL, name):
            yield name, row


def check_decided(request: Request, decider: Decider, words: str, leave: str) -> None:
    """Raise ValueError for a given option that the experiment or reference round decides."""
    for _, row in given(request):
        if decider in row.decided_by:
            raise ValueError(f"{row.name} asked for with {words}, which decides that itself; leave {leave} out")


def check_applies(request: Request, **measured: Collection[str]) -> None:
    """Raise ValueError for a given option that applies to none of the measured scopes, backends or implementations."""
    for _, row in given(request):
        for kind, names in measured.items():
            of: tuple[str, ...] = getattr(row, kind)
            if of and not set(of) & set(names):
                one, all_but_last = kind.removesuffix("s"), ", ".join(of[:-1])
                words = f"{all_but_last} or {of[-1]}" if all_but_last else of[0]
                raise ValueError(f"{row.name} asked for without {one} {words}; add --{one} {of[0]} or leave it out")


def applied(request: Request, **side: str) -> Request:
    """Return the request for one side, such as `backends="cpu"`: options of other sides have their defaults."""
    foreign = dict[str, Any]()
    for name, row in given(request):
        if any((of := getattr(row, kind)) and value not in of for kind, value in side.items()):
            foreign[name] = getattr(_USUAL, name)
    return replace(request, **foreign)
