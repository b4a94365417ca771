"""Drawn objects, 32 x 32 in colour, told apart by shape: classes largely share colours and scenes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suite.data.drawn import animals, scenery, vehicles
from suite.data.drawn.canvas import Canvas, blank
from suite.data.drawn.pictures import pictures
from suite.data.edition import Edition

# The painter of each object and its usual scenes, in the order of the published labels.
OBJECTS: dict[str, tuple[Callable[[Canvas], None], tuple[str, ...]]] = {
    "airplane": (vehicles.airplane, ("sky", "dusk", "road")),
    "automobile": (vehicles.automobile, ("road", "meadow", "sand")),
    "bird": (animals.bird, ("sky", "forest", "meadow", "sea")),
    "cat": (animals.cat, ("room", "meadow", "sand")),
    "deer": (animals.deer, ("forest", "meadow", "snow")),
    "dog": (animals.dog, ("room", "meadow", "sand")),
    "frog": (animals.frog, ("pond", "forest", "sand")),
    "horse": (animals.horse, ("meadow", "forest", "sand")),
    "ship": (vehicles.ship, ("sea", "sea", "dusk")),
    "truck": (vehicles.truck, ("road", "meadow", "sand")),
}
CLASSES = tuple(OBJECTS)
SIZES = {"small": Edition(), "documented": Edition(train=50_000, test=10_000)}


def examples(split: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield records of id, image and label, cycling through the classes."""
    for index, (label, image) in enumerate(pictures(draw, len(CLASSES), split, count, seed)):
        yield {"id": f"{split}_{index:05d}", "image": image, "label": label}


def draw(random: np.random.Generator, label: int, count: int) -> np.ndarray:
    """Return pictures of one class, uint8[count,32,32,3]."""
    paint, scenes = OBJECTS[CLASSES[label]]
    canvas = blank(random, count, 32, 3)
    scenery.behind(canvas, *scenes)
    mirrored = 1 - 2 * canvas.chance(0.5)
    paint(
        canvas.placed(
            x=canvas.between(-0.15, 0.15),
            y=canvas.between(-0.12, 0.15),
            scale=canvas.between(0.68, 0.95),
            turn=canvas.between(-0.2, 0.2),
            stretch=mirrored * canvas.between(0.85, 1.12),
        )
    )
    return scenery.photographed(canvas)
