"""Which networks are compared with PyTorch: those that are trained, and smaller versions for planted bugs.

Those that are only used are compared with keras.applications.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import synthetic

from parity.keras_applications import APPLICATIONS as SERVED
from suite import controls, models
from suite.workload import Workload

EXAMPLES, SETS = 4, 2
HEAVY_FLOP = 1_000_000_000  # of a network above it two examples make a batch


class Small(NamedTuple):
    """A documented network with fewer blocks and smaller pictures."""

    base: str
    model: dict[str, Any]
    pictures: tuple[int, int, int]


SMALL = {"cifar10_resnet9": Small("cifar10_resnet63", {"blocks_per_stage": 1}, (8, 8, 3))}


def names() -> tuple[str, ...]:
    """Return all networks that are compared with PyTorch."""
    mine = (name for name in models.names() if name not in SERVED and models.load(name).growth is None)
    return (*mine, *SMALL)


def heavy(name: str) -> bool:
    """Return whether a network takes seconds for a single example."""
    return name not in SMALL and models.load(name).description.flop_per_example > HEAVY_FLOP


def examples(name: str) -> int:
    """Return how many examples a batch of the comparison has."""
    return EXAMPLES // 2 if heavy(name) else EXAMPLES


def workload(name: str) -> Workload:
    """Return the side in JAX."""
    return made(name, models.load)


def control(name: str) -> Any:
    """Return the side in PyTorch."""
    return made(name, controls.load)


def made(name: str, load: Any) -> Any:
    """Return what `load` gives for the name, or for its base with the smaller model."""
    if name not in SMALL:
        return load(name)
    small = SMALL[name]
    whole = load(small.base)
    return replace(whole, model=partial(whole.model, **small.model))


def batches(name: str, side: Any) -> list[dict[str, np.ndarray]]:
    """Return two batches of seeded content as a side, workload or control, prepares it."""
    rng, wanted = np.random.default_rng(0), examples(name)
    if (first := synthetic.drawn(side, rng, wanted)) is not None:
        return [first, *(synthetic.drawn(side, rng, wanted) for _ in range(SETS - 1))]
    shape = SMALL[name].pictures if name in SMALL else synthetic.SIDES[models.load(name).description.dataset]
    pictures = rng.integers(0, 256, (SETS, wanted, *shape), dtype=np.uint8)
    labels = rng.integers(0, 10, (SETS, wanted))
    return [synthetic.pictured(side.preparation, *drawn) for drawn in zip(pictures, labels, strict=True)]
