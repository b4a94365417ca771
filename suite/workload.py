"""What can be timed: workloads, their sources and documented claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

Data = Literal["embedded", "tfds", "random"]  # random: seeded content of the documented form
CpuKernels = Literal["xla", "onednn", "onednn-alone", "ynn"]  # what XLA compiles to on the CPU, where there is a choice
GpuGraph = Literal["xla", "whole", "concurrent"]  # what of a step XLA puts into a CUDA graph
GpuLayout = Literal["xla", "channels-first"]  # of pictures in the convolutions of full float32
Grade = Literal["A", "B", "C", "A/C", "A/B"]  # how a number is known
KNOWN: dict[Grade, str] = {
    "A": "reported",
    "B": "from a cited source",
    "C": "inferred",
    "A/C": "reported, partly inferred",
    "A/B": "reported, times from a cited source",
}
_Examples = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
Family = Literal[
    "dense", "convolution", "residual", "text", "trees", "inference", "data parallel", "ceiling"
]  # ceiling: no network, but what the machine can do at most
INPUT_SETS = 4  # that a step is timed on, in turn


LossTarget = Literal["falls", "halves", "finite"]  # what a network's loss has to do on one batch, again and again


@dataclass(frozen=True, kw_only=True)
class LearningTarget:
    """How long a network trains on the small stand-in, and the share of right answers that it has to reach by then.

    The bound lies below the worst seed that was seen, and above what the network reaches with labels that mean nothing
    or with a last layer that learns alone: `nox -s learning` trains those too, and fails if one of them reaches it.
    """

    steps: int
    bound: float
    batch: int | None = None  # None: the headline one
    gpu_only: bool = False  # a CPU would take minutes for each seed


class Plain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything that crosses a module or goes into a record: immutable plain data."""


class Source(Plain, frozen=True, kw_only=True):
    """Where a model was documented."""

    author: str
    title: str
    year: int
    address: str
    place: str  # where in the source, or how it was found when the source is silent


class Claim(Plain, frozen=True, kw_only=True):
    """One documented number, with the words it is defined by and the hardware it was obtained on."""

    metric: str
    definition: str
    unit: str
    cpu_device: str | None = None
    cpu_value: float | None = None
    gpu_device: str | None = None
    gpu_value: float | None = None
    speedup: float | None = None
    grade: Grade = "A"


class WholeRun(Plain, frozen=True, kw_only=True):
    """What an article timed as one run: building and compiling the model, and all epochs with their validation."""

    epochs: int
    train: int  # examples in an epoch; the last batch is smaller if they do not divide
    test: int = 0  # examples of the validation after each epoch


class Grid(Plain, frozen=True, kw_only=True):
    """The hyper-parameters that a grid search tries, each with each, every point cross-validated."""

    hidden: tuple[tuple[int, ...], ...]  # widths of the hidden layers: a network each
    epochs: tuple[int, ...]
    folds: int  # consecutive parts of the examples, each held out once

    @property
    def stack(self) -> int:
        """How many fits one network has."""
        return len(self.epochs) * self.folds


class Description(Plain, frozen=True, kw_only=True):
    """All of a workload that is not code; travels inside every record.

    Counts: `parameters` includes batch-norm statistics, `trainable_parameters` does not.
    FLOP: convolutions and matrix products only, one multiply-add is 2 FLOP.
    """

    name: str
    title: str
    family: Family
    source: Source
    claims: tuple[Claim, ...]
    differs: tuple[str, ...]
    inferred: bool  # True where the source leaves the network open
    dataset: str
    preprocessing: str
    optimizer: str
    loss: str
    batch: int  # the headline batch
    parameters: int
    trainable_parameters: int
    forward_flop_per_example: int
    flop_per_example: int  # of the timed step
    examples_per_epoch: _Examples | None = (
        None  # as documented; None where the source knows no epochs, or `run` says it
    )
    data: Data = "embedded"  # what is measured unless something else is asked for
    run: WholeRun | None = None  # where the source timed one
    augmented: bool = False  # training distorts its pictures, which the device can do too
    grid: Grid | None = None  # of a search over hyper-parameters, whose fits can be trained side by side
    headline: bool = False  # one or two models an article; measured when none is named

    @property
    def stored(self) -> bool:
        """Whether its examples come from a data set, through an input pipeline."""
        return self.data != "random"

    @property
    def has_pictures(self) -> bool:
        """Whether its batches are pictures for convolutions, which a layout in memory is of."""
        return self.family in ("convolution", "residual", "inference")

    @property
    def is_network(self) -> bool:
        """Whether it counts among networks: trees are none, nor is the data-parallel model of a few FLOP a step."""
        return self.family not in ("data parallel", "trees", "ceiling")

    @property
    def trained(self) -> bool:
        """Whether its step trains; a network that only infers is served."""
        return self.family != "inference"

    @property
    def network(self) -> tuple[int, int, str, str]:
        """What workloads share that are one network, as they differ in data or dropout alone."""
        return self.parameters, self.flop_per_example, self.loss, self.optimizer

    @property
    def epoch_examples(self) -> int | None:
        """How many examples an epoch has; None where the source knows no epochs."""
        return self.run.train if self.run is not None else self.examples_per_epoch


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A documented model with all that is needed to train it for one step, or to use it once.

    `model(rngs)` builds the Flax NNX module, `loss(model, batch)` maps a batch to a float32 scalar,
    `optimizer()` gives an optax transformation; without one a step is an inference, and `loss` is a scalar that needs
    every output. `growth`, a `suite.nn.trees.Growth`, makes a step one round of boosting on a batch of binned rows.
    `network(hidden)` is the workload of one network of a grid, by the widths of its hidden layers.
    `served(model)` is what is done once to a loaded model before it is used, in NumPy.
    Batches come from a data set by a `suite.data.prepare.Preparation`, or where there is none from
    `draw(rng, examples)`, which takes NumPy's generator; exactly one of the two is given. `input_sets` are made, two at
    least: a replay takes another than the first. `augment(key, batch)` does on the device what the preparation does on
    the host, to a batch of pictures that it left as they are. `cpu_kernels`, `gpu_graph` and `gpu_layout` are those
    that were measured to be fastest.
    `learning` is what a training has to reach, if it trains.
    `cpu_devices` above 1 splits a CPU's batch between so many parts of its cores: for loops of small dependent steps,
    which XLA runs one after another on one core.
    """

    description: Description
    model: Callable[..., Any]
    loss: Callable[[Any, Any], Any]
    optimizer: Callable[[], Any] | None = None
    growth: Any = None
    network: Callable[[tuple[int, ...]], "Workload"] | None = None
    served: Callable[[Any], Any] | None = None
    preparation: Any = None
    draw: Callable[..., dict[str, Any]] | None = None
    input_sets: int = INPUT_SETS
    augment: Callable[[Any, Any], dict[str, Any]] | None = None
    cpu_kernels: CpuKernels = "onednn"
    gpu_graph: GpuGraph = "xla"
    gpu_layout: GpuLayout = "xla"
    cpu_devices: int = 1
    learning: LearningTarget | LossTarget = "falls"
