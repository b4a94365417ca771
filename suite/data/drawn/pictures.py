"""Labelled pictures in a fixed order, the same for any number of threads."""

import os
from collections.abc import Callable, Iterable, Iterator

import cv2
import numpy as np

from suite.data.streams import SPLITS, ahead

Draw = Callable[[np.random.Generator, int, int], Iterable[np.ndarray]]  # random, label, count -> uint8[H,W,C] each
Encode = Callable[[np.ndarray], bytes]  # uint8[H,W,C] -> a picture file

GROUP = 64  # small pictures of one class that share a random stream and are drawn together


def pictures(
    draw: Draw,
    classes: int,
    split: str,
    count: int,
    seed: int,
    threads: int | None = None,
    encode: Encode | None = None,
    group: int = GROUP,
) -> Iterator[tuple[int, bytes]]:
    """Yield each picture's label and file, cycling through the classes; files are PNG unless `encode` is given.

    A group depends only on seed, split, label and its own number. Threads None: one for each core.
    """

    def drawn(number: int) -> list[list[bytes]]:
        streams = (np.random.default_rng((seed, SPLITS.index(split), label, number)) for label in range(classes))
        return [[file(image) for image in draw(random, label, group)] for label, random in enumerate(streams)]

    file, left = encode or png, count
    for columns in ahead(drawn, range(-(-count // (group * classes))), threads or os.cpu_count() or 1):
        for row in zip(*columns, strict=True):
            yield from list(enumerate(row))[:left]
            left = max(0, left - classes)


def png(image: np.ndarray) -> bytes:
    """Return uint8[H,W,1], or RGB uint8[H,W,3], as a PNG file."""
    return cv2.imencode(".png", image[..., ::-1])[1].tobytes()
