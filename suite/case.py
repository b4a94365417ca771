"""A case: everything that identifies what was timed, and the words of its axes."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import msgspec

from suite import former
from suite.scopes import Scope
from suite.workload import Data, Description, Plain

Backend = Literal["cpu", "gpu"]
Implementation = Literal["jax", "torch", "keras", "xgboost"]
Precision = Literal["float32-highest", "tf32", "bfloat16"]
Allocator = Literal["tuned-malloc", "default-malloc"]
_StoredAllocator = Literal[Allocator, "retaining", "system"]  # see suite.former
CompileCache = Literal["empty", "warm"]
Loader = Literal["threads", "processes"]  # of the input pipeline
Augmentation = Literal["host", "device", "none"]  # where training's distortions are made, as documented
Decoding = Literal["full", "scaled"]  # scaled: photographs at a half or a quarter of their size
Stored = Literal["disk", "memory"]  # where the records are read from
Layout = Literal["channels-last", "contiguous"]  # of pictures and kernels in PyTorch's memory
STARTING: Allocator = "default-malloc"  # of a CPU's process whose start counts: it is what programs have
WAY = ("implementation", "variant", "layout")  # axes that say how a step is taken, not which
QUEUE = 10  # batches that wait in an input pipeline, as in Keras
# What a label says of an axis that is not at its default, in this order: of any value, or of each.
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
    """Everything that identifies what was timed; two results compare when one axis differs."""

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
    cache: CompileCache = "empty"  # at a cold start
    length: int = 1  # of a run: so many times the documented epochs
    workers: int | None = None  # of the input pipeline; None: as many as granted cores
    loader: Loader = "threads"
    queue: int = QUEUE  # batches that wait at most
    augmentation: Augmentation = "host"
    decoding: Decoding = "full"
    stored: Stored = "disk"
    steps: int | None = None  # of scope `learning`; None: as many as an epoch of the data that there is
    hosts: int = 1  # that the devices belong to, each with as many of them
    layout: Layout = "channels-last"  # of pictures, in PyTorch

    def __post_init__(self) -> None:
        """Give values that are stored under a former name their current one."""
        for axis in former.AXES:
            msgspec.structs.force_setattr(self, axis, former.renamed(axis, getattr(self, axis)))

    def non_default_axes(self, usual: Data = "embedded") -> tuple[str, ...]:
        """Return in words what sets it apart from the headline's way: variant, precision, threads, and so on.

        Nothing of its data, if they are its workload's `usual` ones.
        """
        plain = axes() | {"data": usual}
        return tuple(_words(name, value) for name in _WORDS if (value := getattr(self, name)) != plain[name])

    def label(self, about: Description | None = None) -> str:
        """Return a short name, its workload left out; with batch and data if they are told not to be the headline's."""
        batch = [] if about is None or about.batch == self.batch else [f"batch {self.batch:,}"]
        return " ".join(
            [self.backend, self.implementation, *batch, *self.non_default_axes(about.data if about else self.data)]
        )

    def text(self, headline_batch: int) -> str:
        """Return the written form: workload/backend/scope, then each axis that is not at its default."""
        parts = [self.workload, self.backend, self.scope]
        if self.batch != headline_batch:
            parts.append(f"batch={self.batch}")
        parts += [f"{name}={value}" for name, default in axes().items() if (value := getattr(self, name)) != default]
        return "/".join(parts)

    @property
    def timed(self) -> "Case":
        """What its time is of: random content and a stand-in are one, since no speed depends on which it is."""
        return msgspec.structs.replace(self, data="embedded") if self.data == "random" else self

    def taken_as(self, other: "Case") -> "Case":
        """Return the case with its step taken in another's way."""
        return msgspec.structs.replace(self, **{axis: getattr(other, axis) for axis in WAY})

    @property
    def ignoring_allocator(self) -> "Case":
        """The case that stands for it with either allocator, of which the better one counts."""
        return msgspec.structs.replace(self, allocator="tuned-malloc")


def _words(axis: str, value: Any) -> str:
    words = _WORDS[axis]
    return words.format(value, s="" if value == 1 else "s") if isinstance(words, str) else words[value]


@cache
def axes() -> dict[str, Any]:
    """Return the axes of a case beside workload, backend, scope and batch, in their order, each with its default."""
    return {field.name: field.default for field in msgspec.structs.fields(Case)[4:]}
