"""Handwritten digits, 28 x 28 grey."""

from collections.abc import Iterator
from typing import Any

from suite.data.drawn.digits import draw
from suite.data.drawn.pictures import pictures
from suite.data.edition import Edition

CLASSES = None  # the published set only numbers its labels
SIZES = {"small": Edition(), "documented": Edition(train=60_000, test=10_000)}


def examples(split: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield records of image and label, cycling through the digits."""
    for label, image in pictures(draw, 10, split, count, seed):
        yield {"image": image, "label": label}
