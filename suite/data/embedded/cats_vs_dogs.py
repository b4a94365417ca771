"""Cats and dogs as JPEG files of varying size, about 400 x 360, whose backgrounds say nothing about the label."""

from collections.abc import Iterator
from typing import Any

from suite.data.drawn.photographs import ANIMALS, GROUP, draw, jpeg
from suite.data.drawn.pictures import pictures
from suite.data.edition import Edition

CLASSES = ("cat", "dog")
SIZES = {"small": Edition(train=2048, test=0), "documented": Edition(train=10_000, test=0)}  # one split, as published


def examples(split: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield records of image, image/filename and label, alternating classes."""
    drawn = pictures(draw, len(ANIMALS), split, count, seed, encode=jpeg, group=GROUP)
    for index, (label, image) in enumerate(drawn):
        folder = CLASSES[label].capitalize()
        yield {"image": image, "image/filename": f"PetImages/{folder}/{index // 2}.jpg", "label": label}
