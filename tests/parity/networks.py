"""Which networks are compared: every workload that has a control, and smaller versions for planted bugs."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from suite import controls, models
from suite.workload import Workload

EXAMPLES, SETS = 4, 2
SIDES = {"mnist": (28, 28, 1), "cifar10": (32, 32, 3)}  # of the stored pictures


class Small(NamedTuple):
    """A documented network with fewer blocks and smaller pictures."""

    base: str
    model: dict[str, Any]
    pictures: tuple[int, int, int]


SMALL = {"cifar10_resnet9": Small("cifar10_resnet63", {"blocks_per_stage": 1}, (8, 8, 3))}


def names() -> tuple[str, ...]:
    """Return all networks that have a counterpart."""
    return (*sorted(set(models.names()) & set(controls.names())), *SMALL)


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
    rng = np.random.default_rng(0)
    if side.draw is not None:
        return [side.draw(rng, EXAMPLES) for _ in range(SETS)]
    shape = SMALL[name].pictures if name in SMALL else SIDES[models.load(name).description.dataset]
    pictures = rng.integers(0, 256, (SETS, EXAMPLES, *shape), dtype=np.uint8)
    labels = rng.integers(0, 10, (SETS, EXAMPLES))
    return [side.preprocess(*drawn) for drawn in zip(pictures, labels, strict=True)]
