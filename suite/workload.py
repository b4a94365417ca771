"""Workloads: documented models with their sources and claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from suite import families

Data = Literal["embedded", "tfds", "random"]  # random: seeded content of the documented form
CpuKernels = Literal["xla", "onednn", "onednn-alone", "ynn"]  # library of XLA's CPU kernels, if there is a choice
GpuGraph = Literal["xla", "whole", "concurrent"]  # part of a step that XLA puts into a CUDA graph
GpuLayout = Literal["xla", "channels-first"]  # of pictures in the convolutions of full float32
Grade = Literal["A", "B", "C", "A/C", "A/B"]  # provenance of a number
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
]  # ceiling: no network, but a limit of the machine
INPUT_SETS = 4  # batches that a step rotates through


LossTarget = Literal["falls", "halves", "finite"]  # what the loss must do over repeated steps on one batch


@dataclass(frozen=True, kw_only=True)
class LearningTarget:
    """Training on the small stand-in, and the accuracy that it must reach.

    The bound lies below the worst seed, and above the accuracy with random labels or with only the last layer trained:
    `nox -s learning` trains those too, and fails if one of them reaches it.
    """

    steps: int
    bound: float
    batch: int | None = None  # None: the headline batch
    gpu_only: bool = False  # a CPU would take minutes for each seed


class Plain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of immutable plain data that crosses a module or goes into a record."""


class Source(Plain, frozen=True, kw_only=True):
    """The source of a documented model."""

    author: str
    title: str
    year: int
    address: str
    place: str  # place in the source, or how it was found if the source is silent
    way: Literal["", "fit", "train-on-batch"] = (
        ""  # in which its author wrote the timed loop, in Keras; '' if in another
    )


class Claim(Plain, frozen=True, kw_only=True):
    """One documented number, with its definition and hardware."""

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
    """A whole run that an article timed: building and compiling the model, and all epochs with validation."""

    epochs: int
    train: int  # examples in an epoch; the last batch is smaller if they do not divide
    test: int = 0  # examples of the validation after each epoch


class Grid(Plain, frozen=True, kw_only=True):
    """A grid search over all combinations of these hyper-parameters, each point cross-validated."""

    hidden: tuple[tuple[int, ...], ...]  # widths of the hidden layers, one entry per network
    epochs: tuple[int, ...]
    folds: int  # consecutive parts of the examples, each held out once

    @property
    def stack(self) -> int:
        """The number of fits of one network."""
        return len(self.epochs) * self.folds


class Description(Plain, frozen=True, kw_only=True):
    """A workload without its code; part of every record.

    Counts: `parameters` includes batch-norm statistics, `trainable_parameters` does not.
    FLOP: convolutions and matrix products only, one multiply-add is 2 FLOP.
    """

    name: str
    title: str
    family: Family
    source: Source
    claims: tuple[Claim, ...]
    differs: tuple[str, ...]
    inferred: bool  # True if the source does not specify the network
    dataset: str
    preprocessing: str
    optimizer: str
    loss: str
    batch: int  # the headline batch
    parameters: int
    trainable_parameters: int
    forward_flop_per_example: int
    flop_per_example: int  # of the timed step
    examples_per_epoch: _Examples | None = None  # as documented; None without epochs, or if `run` has it
    data: Data = "embedded"  # default data
    run: WholeRun | None = None  # if the source timed one
    augmented: bool = False  # training augments its pictures, on the host or the device
    grid: Grid | None = None  # of a hyper-parameter search, whose fits can be stacked
    headline: bool = False  # one or two models per article; measured by default

    @property
    def stored(self) -> bool:
        """Whether its examples come from a data set, through an input pipeline."""
        return self.data != "random"

    @property
    def documented(self) -> bool:
        """Whether it is a documented model: not a ceiling, and not a member of a family of sizes."""
        return self.family != "ceiling" and not families.family_of(self.name)

    @property
    def has_pictures(self) -> bool:
        """Whether its batches are pictures for convolutions, and so have a memory layout."""
        return self.family in ("convolution", "residual", "inference")

    @property
    def is_network(self) -> bool:
        """Whether it is a network: not trees, ceilings, or the data-parallel model of a few FLOP per step."""
        return self.family not in ("data parallel", "trees", "ceiling")

    @property
    def trained(self) -> bool:
        """Whether its step trains; an inference network is served."""
        return self.family != "inference"

    @property
    def network(self) -> tuple[int, int, str, str]:
        """The key of workloads with one network, which differ only in data or dropout."""
        return self.parameters, self.flop_per_example, self.loss, self.optimizer

    @property
    def epoch_examples(self) -> int | None:
        """The number of examples in an epoch; None if the source has no epochs."""
        return self.run.train if self.run is not None else self.examples_per_epoch


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A documented model with everything needed to train it for a step, or to run it once.

    `model(rngs)` builds the Flax NNX module, `loss(model, batch)` returns a float32 scalar, `optimizer()` returns an
    optax transformation. Without an optimizer a step is an inference, and `loss` is a scalar that needs every output.
    `growth`, a `suite.nn.trees.Growth`, makes a step one round of boosting on a batch of binned rows.
    `network(hidden)` returns the workload of one network of a grid, by the widths of its hidden layers.
    `served(model)` prepares a loaded model for serving, once, in NumPy.
    Batches come from `preparation`, a `suite.data.prepare.Preparation`, or from `draw(rng, examples)` with NumPy's
    generator; exactly one of them is given. At least two `input_sets` are made: a replay needs a second one.
    `augment(key, batch)` does on the device the augmentation that the preparation would do on the host.
    `cpu_kernels`, `gpu_graph` and `gpu_layout` are the fastest measured ones.
    `learning` is what training must reach, if the model trains.
    `cpu_devices` above 1 splits a CPU batch over parts of the cores: for loops of small dependent steps, which XLA runs
    one after another on one core.
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
