"""A case: all axes that identify what was timed, and their words."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import msgspec

from suite import former
from suite.scopes import Scope
from suite.workload import Data, Description, Plain

Backend = Literal["cpu", "gpu"]
Implementation = Literal["jax", "torch", "keras", "xgboost", "openvino"]
Precision = Literal["float32-highest", "framework-default", "tf32", "bfloat16"]
Allocator = Literal["tuned-malloc", "default-malloc"]
_StoredAllocator = Literal[Allocator, "retaining", "system"]  # see suite.former
CompileCache = Literal["empty", "warm"]
Loader = Literal["threads", "processes"]  # of the input pipeline
Augmentation = Literal["host", "device", "none"]  # where training's documented augmentation runs
Decoding = Literal["full", "scaled"]  # scaled: photographs at half or a quarter of their size
Stored = Literal["disk", "memory"]  # source of the records
Layout = Literal["channels-last", "contiguous"]  # of pictures and kernels in PyTorch's memory
STARTING: Allocator = "default-malloc"  # of a CPU process whose start counts: the default of programs
FRAMEWORK_DEFAULT: Precision = "framework-default"  # float32 as the framework multiplies it if nothing is set
WAY = ("implementation", "variant", "layout")  # axes of how a step runs, not of which step
QUEUE = 10  # batches that wait in an input pipeline, as in Keras
# Label of each non-default axis, in this order: one template for all values, or a word for each value.
_WORDS: Mapping[str, str | Mapping[str, str]] = {
    "variant": "{}",
    "precision": "{}",
    "data": {"embedded": "stand-in", "tfds": "real data", "random": "random data"},
    "threads": "{} thread{s}",
    "devices": "{} devices",
    "allocator": "{}",
    "cache": "{} cache",
    "length": "{} times as long",
    "workers": "{} worker{s}",
    "loader": "{}",
    "queue": "queue of {}",
    "augmentation": {"none": "no augmentation", "device": "augmentation on the device"},
    "decoding": "{} decoding",
    "stored": "records in {}",
    "steps": "{} step{s}",
    "hosts": "{} hosts",
    "layout": "{}",
}


class Case(Plain, frozen=True, kw_only=True):
    """Everything that identifies what was timed; two results are comparable if one axis differs."""

    workload: str
    backend: Backend
    scope: Scope
    batch: int
    implementation: Implementation = "jax"
    variant: str = "plain"
    precision: Precision = "float32-highest"
    data: Data = "embedded"
    devices: int = 1
    threads: int | None = None  # None: all granted cores
    allocator: _StoredAllocator = "tuned-malloc"  # of the worker process
    cache: CompileCache = "empty"  # at the start of a process
    length: int = 1  # of a run, in documented epoch counts
    workers: int | None = None  # of the input pipeline; None: one per granted core
    loader: Loader = "threads"
    queue: int = QUEUE  # most batches that wait
    augmentation: Augmentation = "host"
    decoding: Decoding = "full"
    stored: Stored = "disk"
    steps: int | None = None  # of scope `learning`; None: one epoch
    hosts: int = 1  # each with the same number of devices
    layout: Layout = "channels-last"  # of pictures in PyTorch

    def __post_init__(self) -> None:
        """Replace stored former values by the current ones."""
        for axis in former.AXES:
            msgspec.structs.force_setattr(self, axis, former.renamed(axis, getattr(self, axis)))

    def non_default_axes(self, usual: Data = "embedded") -> tuple[str, ...]:
        """Return the non-default axes in words, such as variant, precision and threads.

        Data equal to `usual`, the workload's own, is omitted.
        """
        plain = axes() | {"data": usual}
        return tuple(_words(name, value) for name in _WORDS if (value := getattr(self, name)) != plain[name])

    def label(self, about: Description | None = None) -> str:
        """Return a short name without the workload; given `about`, with batch and data if not the headline's."""
        batch = [] if about is None or about.batch == self.batch else [f"batch {self.batch:,}"]
        return " ".join(
            [self.backend, self.implementation, *batch, *self.non_default_axes(about.data if about else self.data)]
        )

    def text(self, headline_batch: int) -> str:
        """Return the text form: workload/backend/scope, then each non-default axis."""
        parts = [self.workload, self.backend, self.scope]
        if self.batch != headline_batch:
            parts.append(f"batch={self.batch}")
        parts += [f"{name}={value}" for name, default in axes().items() if (value := getattr(self, name)) != default]
        return "/".join(parts)

    @property
    def timed(self) -> "Case":
        """The case whose time this is: random content becomes the stand-in, since speed does not depend on it."""
        return msgspec.structs.replace(self, data="embedded") if self.data == "random" else self

    def taken_as(self, other: "Case") -> "Case":
        """Return the case with the other's implementation, variant and layout."""
        return msgspec.structs.replace(self, **{axis: getattr(other, axis) for axis in WAY})

    @property
    def cpu_side(self) -> "Case":
        """The CPU's case of a speed-up that has this case on one side, whatever the allocator."""
        return msgspec.structs.replace(self, backend="cpu", precision="float32-highest").ignoring_allocator

    @property
    def ignoring_allocator(self) -> "Case":
        """The case that stands for both allocators, of which the faster one counts."""
        return msgspec.structs.replace(self, allocator="tuned-malloc")


def _words(axis: str, value: Any) -> str:
    words = _WORDS[axis]
    return words.format(value, s="" if value == 1 else "s") if isinstance(words, str) else words[value]


@cache
def axes() -> dict[str, Any]:
    """Return the axes of a case except workload, backend, scope and batch, in order, with their defaults."""
    return {field.name: field.default for field in msgspec.structs.fields(Case)[4:]}
