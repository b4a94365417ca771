"""The scopes, which say how much of the work is counted: a row each, with all that is known of it.

`step` is the steady state with the batch on the device, `transfer` the same with each batch copied there, `epoch` the
same with the input pipeline from storage on, `input` the pipeline alone; `cold` lowers, compiles and takes the first
step, `run` is the documented whole run, `calls` are the first four calls of a fresh process, each with all it takes;
`learning` trains from storage and then counts right answers; `serve` answers requests of one picture each, several of
them always under way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["cold", "step", "transfer", "epoch", "input", "run", "calls", "learning", "serve"]
FEWEST_REQUESTS = 200  # whose latency is kept, in each process of scope `serve`

_Mark = tuple[str, bool]  # a stage of a process, and whether its end is meant


@dataclass(frozen=True, kw_only=True)
class RungWords:
    """What a rung of the clock ladder counts."""

    short: str  # as a sentence needs it
    long: str = ""  # as the ladder's table needs it; '' where each workload has its own


@dataclass(frozen=True, kw_only=True)
class ScopeRow:
    """What is known of a scope."""

    # Words.
    sentence: str  # what one time is of
    heading: str  # of a narrow column of its times
    badge: str  # on a small picture
    unit: str  # what one time is one of, where a column has several scopes; '' says nothing
    progress: str = ""  # what a time is one of, where a process ends; '' says nothing
    title: str = ""  # of its table after a run; '' has none, or another
    rungs: Mapping[str, RungWords] = field(default_factory=dict)  # of the clock ladder, by the compile cache

    # What a process does.
    with_step: bool = False  # shares its process with the steps, and its plan is shortened with theirs
    samples_stage: str = ""  # in which its samples are sent one by one; '' if they are not
    between: tuple[_Mark, _Mark] | None = None  # what its telemetry is of, if not its samples' stage
    computes: bool = True  # runs a program, which has a loss
    compiles: bool = False  # counts compiling
    reads_storage: bool = False  # through an input pipeline
    trains: bool = False  # a training of its own: one round unless more are asked for, no replay

    # What is asked for, and of what.
    usual: bool = False  # where no scope is asked for
    several_hosts: bool = False
    implementations: tuple[str, ...] = ("jax",)
    reference_round: bool = False
    reference: Literal["every model", "headline set"] | None = None  # of which the published results have it

    # How its times are judged.
    steady: bool = False  # no work may go on after its samples, and processes differ as those of a step
    bounded: bool = False  # by the hardware's floor, and its samples may have no trend
    certified: bool = False  # by baselines

    @property
    def streamed(self) -> bool:
        """Whether its samples are sent one by one: it is a rate, and no start counts."""
        return bool(self.samples_stage)

    @property
    def has_baselines(self) -> bool:
        """Whether other implementations than JAX have it."""
        return len(self.implementations) > 1

    @property
    def timed_from_storage(self) -> bool:
        """Whether what storage gives sets its times."""
        return self.streamed and self.reads_storage

    @property
    def window(self) -> tuple[_Mark, _Mark]:
        """From which mark of its process to which its telemetry is taken; no process has one of stage ''."""
        return self.between or ((self.samples_stage, False), (self.samples_stage, True))


# In the order in which they are shown: what counts more comes later.
SCOPES: Mapping[Scope, ScopeRow] = {
    "step": ScopeRow(
        sentence="one step in steady state", heading="step", badge="step", unit="", progress="a step",
        rungs={"empty": RungWords(short="a step", long="step: batch on the device, compiled, steady")},
        with_step=True, samples_stage="samples",
        usual=True, several_hosts=True, implementations=("jax", "torch", "keras", "xgboost"),
        reference_round=True, reference="every model",
        steady=True, bounded=True, certified=True,
    ),
    "transfer": ScopeRow(
        sentence="one step with its batch copied from the host", heading="step, copied", badge="step with copy",
        unit="a step", title="A step with its batch copied from the host",
        rungs={"empty": RungWords(
            short="with its batch copied", long="transfer: a step with its batch copied from the host",
        )},
        with_step=True, samples_stage="transfer_samples",
        usual=True, several_hosts=True, reference="headline set",
        steady=True,
    ),
    "epoch": ScopeRow(
        sentence="one step with its batch brought from storage", heading="step, from storage",
        badge="step from storage", unit="a step", progress="a step from storage on",
        rungs={"empty": RungWords(
            short="from storage on", long="epoch: a step with its input pipeline, from storage on",
        )},
        samples_stage="epoch_samples", reads_storage=True,
        reference="headline set",
    ),
    "input": ScopeRow(
        sentence="one batch of the input pipeline alone", heading="batch, from storage", badge="input",
        unit="a batch", progress="a batch from storage",
        samples_stage="input_samples", computes=False, reads_storage=True,
        implementations=("jax", "torch"),
    ),
    "cold": ScopeRow(
        sentence="a cold start (lowering, compiling and the first step)", heading="cold start", badge="cold",
        unit="in all", progress="for a cold start", title="A cold start: lowering, compiling and the first step",
        rungs={"empty": RungWords(
            short="a cold start", long="cold: lowering, compiling and the first step, no compile cache",
        ), "warm": RungWords(
            short="a cold start from a warm cache", long="cold, but the compile cache holds the program",
        )},
        between=(("lower", False), ("first_step", True)), compiles=True,
        usual=True, several_hosts=True, reference="every model",
    ),
    "run": ScopeRow(
        sentence="the documented whole run", heading="whole run", badge="run",
        unit="in all", progress="for the whole run", title="The documented whole runs",
        rungs={"empty": RungWords(short="the whole run")},
        between=(("init", False), ("run_end", False)), compiles=True, trains=True,
        reference="headline set",
    ),
    "calls": ScopeRow(
        sentence="a later call of a fresh process", heading="later call", badge="calls",
        unit="a call", progress="a later call", title="A later call of a fresh process",
        compiles=True,
    ),
    "learning": ScopeRow(
        sentence="training from storage", heading="training", badge="learning", unit="in all",
        between=(("learning", False), ("learning", True)), reads_storage=True, trains=True,
    ),
    "serve": ScopeRow(
        sentence="a request of one picture, four under way", heading="between answers", badge="serve",
        unit="an answer", progress="between answers, four requests under way",
        samples_stage="serve_samples", implementations=("jax", "torch"),
        steady=True, bounded=True,
    ),
}  # fmt: skip


def scopes_that(fit: Callable[[ScopeRow], object]) -> tuple[Scope, ...]:
    """Return the scopes whose row fits, in the order in which they are shown."""
    return tuple(scope for scope, row in SCOPES.items() if fit(row))


USUAL_SCOPES = scopes_that(lambda row: row.usual)
