"""The scopes: what part of the work a time counts. One row has all properties of a scope.

`step`: steady state with the batch on the device. `transfer`: a step with its batch copied from the host. `epoch`: a
step with the input pipeline, from storage. `input`: the pipeline alone. `cold`: lowering, compiling and the first step.
`written`: a step of a loop as people write it, examples in the host's memory; the variant names the way.
`run`: the documented whole run. `calls`: the first four calls of a fresh process. `learning`: training from storage,
then accuracy. `serve`: requests of one picture each, several in flight. `kernels`: the GPU's busy time of a step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["cold", "step", "transfer", "epoch", "input", "run", "calls", "learning", "serve", "kernels", "written"]
FEWEST_REQUESTS = 200  # with stored latency, in each process of scope `serve`
PROFILED_CHAINS = 2  # chains in the profile of scope `kernels`: of about 0.4 s, some 200,000 kernels at most

_READ_IN_BATCHES = 2  # method 1 read each record by itself
_COLLECTED = 2  # method 1 turned the garbage collector off

_Mark = tuple[str, bool]  # a stage of a process, and whether its end (else its start)


@dataclass(frozen=True, kw_only=True)
class RungWords:
    """The words of a rung of the clock ladder."""

    name: str  # in charts, and at the start of its row in the ladder's table
    short: str  # in a sentence
    long: str = ""  # after its name in the ladder's table; '' if each workload has its own


@dataclass(frozen=True, kw_only=True)
class ScopeRow:
    """All properties of a scope."""

    # Words.
    sentence: str  # what one time measures
    heading: str  # heading of a narrow column
    badge: str  # on a badge
    unit: str  # what one time is per, in a column of several scopes; '' if omitted
    progress: str = ""  # what a time is per, at the end of a process; '' if omitted
    title: str = ""  # of its table after a run; '' if it has none, or another
    rungs: Mapping[str, RungWords] = field(default_factory=dict)  # of the clock ladder, by compile cache

    # What a process does.
    with_step: bool = False  # shares its process with the steps, and its plan is shortened with theirs
    samples_stage: str = ""  # in which its samples are sent one by one; '' if not
    between: tuple[_Mark, _Mark] | None = None  # window of its telemetry, if not its samples' stage
    computes: bool = True  # runs a program with a loss
    collects: bool = False  # Python's garbage collector runs in its samples, as in programs that people write
    compiles: bool = False  # its time includes compilation
    reads_storage: bool = False  # through an input pipeline
    trains: bool = False  # a training of its own: one round by default, no replay

    # What is requested.
    usual: bool = False  # timed by default
    several_hosts: bool = False
    implementations: tuple[str, ...] = ("jax",)
    reference: Literal["every model", "headline set"] | None = None  # models that a reference round times in it

    # How its times are judged.
    method: int = 1  # of timing, raised by hand when it changes; times of different methods are never pooled
    steady: bool = False  # no work may continue after its samples; processes vary as for a step ...
    own_spread: bool = False  # ... unless they vary in a way of their own
    bounded: bool = False  # bounded by the hardware's floor; its samples must have no trend
    certified_by: Scope | None = None  # scope whose baselines say how well its CPU side uses the CPU

    @property
    def streamed(self) -> bool:
        """Whether its samples are sent one by one: a rate without the start."""
        return bool(self.samples_stage)

    @property
    def has_baselines(self) -> bool:
        """Whether implementations other than JAX have it."""
        return len(self.implementations) > 1

    @property
    def waits_for_host(self) -> bool:
        """Whether both sides wait for work of their host, such as its input pipeline: then only one host's compare."""
        return self.reads_storage or self.trains

    @property
    def timed_from_storage(self) -> bool:
        """Whether storage can limit its times."""
        return self.streamed and self.reads_storage

    @property
    def window(self) -> tuple[_Mark, _Mark]:
        """The marks between which its telemetry is taken; no process has a stage ''."""
        return self.between or ((self.samples_stage, False), (self.samples_stage, True))


# In display order: what counts more comes later.
SCOPES: Mapping[Scope, ScopeRow] = {
    "step": ScopeRow(
        sentence="one step in steady state", heading="step", badge="step", unit="", progress="a step",
        rungs={"empty": RungWords(name="a step", short="a step", long="batch on the device, compiled, steady")},
        with_step=True, samples_stage="samples",
        usual=True, several_hosts=True, implementations=("jax", "torch", "keras", "xgboost", "openvino"),
        reference="every model",
        steady=True, bounded=True, certified_by="step",
    ),
    "transfer": ScopeRow(
        sentence="one step with its batch copied from the host", heading="step, copied", badge="step with copy",
        unit="a step", title="A step with its batch copied from the host",
        rungs={"empty": RungWords(
            name="batch copied", short="with its batch copied", long="a step with its batch copied from the host",
        )},
        with_step=True, samples_stage="transfer_samples",
        usual=True, several_hosts=True, reference="every model",
        steady=True, certified_by="step",
    ),
    "written": ScopeRow(
        sentence="one step of a loop as people write it, its examples in the host's memory",
        heading="step, as written", badge="as written", unit="a step", progress="a step as written",
        title="A step of a loop as people write it",
        with_step=True, samples_stage="written_samples",
        collects=True, implementations=("jax", "torch", "keras"),
        method=_COLLECTED, steady=True, own_spread=True, bounded=True,
    ),
    "epoch": ScopeRow(
        sentence="one step with its batch brought from storage", heading="step, from storage",
        badge="step from storage", unit="a step", progress="a step from storage on",
        rungs={"empty": RungWords(
            name="from storage", short="from storage on", long="a step with its input pipeline, from storage on",
        )},
        samples_stage="epoch_samples", reads_storage=True,
        reference="headline set", method=_READ_IN_BATCHES,
    ),
    "input": ScopeRow(
        sentence="one batch of the input pipeline alone", heading="batch, from storage", badge="input",
        unit="a batch", progress="a batch from storage",
        samples_stage="input_samples", computes=False, reads_storage=True,
        implementations=("jax", "torch"), method=_READ_IN_BATCHES,
    ),
    "cold": ScopeRow(
        sentence="a cold start (lowering, compiling and the first step)", heading="cold start", badge="cold",
        unit="in total", progress="for a cold start", title="A cold start: lowering, compiling and the first step",
        rungs={"empty": RungWords(
            name="cold start", short="a cold start",
            long="lowering, compiling and the first step, no compile cache",
        ), "warm": RungWords(
            name="cold start, warm cache", short="a cold start from a warm cache",
            long="the compile cache holds the program",
        )},
        between=(("lower", False), ("first_step", True)), compiles=True,
        usual=True, several_hosts=True, reference="every model",
    ),
    "run": ScopeRow(
        sentence="the documented whole run", heading="whole run", badge="run",
        unit="in total", progress="for the whole run", title="The documented whole runs",
        rungs={"empty": RungWords(name="whole run", short="the whole run")},
        between=(("init", False), ("run_end", False)), compiles=True, trains=True,
        reference="headline set",
    ),
    "calls": ScopeRow(
        sentence="a later call of a fresh process", heading="later call", badge="calls",
        unit="a call", progress="a later call", title="A later call of a fresh process",
        compiles=True,
    ),
    "learning": ScopeRow(
        sentence="training from storage", heading="training", badge="learning", unit="in total",
        between=(("learning", False), ("learning", True)), reads_storage=True, trains=True,
        method=_READ_IN_BATCHES,
    ),
    "serve": ScopeRow(
        sentence="a request of one picture, four under way", heading="between answers", badge="serve",
        unit="an answer", progress="between answers, four requests under way",
        samples_stage="serve_samples", implementations=("jax", "torch", "openvino"),
        steady=True, bounded=True,
    ),
    "kernels": ScopeRow(
        sentence="the time in which the GPU works in one step", heading="kernels", badge="kernels", unit="a step",
        progress="of kernels a step", title="The GPU's busy time of a step",
        between=(("profiling", False), ("profiling", True)), bounded=True,
    ),
}  # fmt: skip


def scopes_that(fit: Callable[[ScopeRow], object]) -> tuple[Scope, ...]:
    """Return the scopes whose row fits, in display order."""
    return tuple(scope for scope, row in SCOPES.items() if fit(row))


USUAL_SCOPES = scopes_that(lambda row: row.usual)


def certifies_itself(scope: Scope) -> bool:
    """Return whether baselines timed in the scope certify it."""
    return SCOPES[scope].certified_by == scope
