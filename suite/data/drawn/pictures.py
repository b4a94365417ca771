"""Labelled pictures in a fixed order, drawn by any number of threads with the same result."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np

Draw = Callable[[np.random.Generator, int, int], np.ndarray]  # random, label, count -> uint8[count,H,W,C]

SPLITS = ("train", "test")
GROUP = 64  # pictures of one class that share a random stream and are drawn together


def pictures(
    draw: Draw, classes: int, split: str, count: int, seed: int, threads: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield label and PNG of picture after picture, the classes in turn.

    A group depends on seed, split, label and its own number only. None: a thread for each core.
    """

    def group(number: int) -> list[list[bytes]]:
        streams = (np.random.default_rng((seed, SPLITS.index(split), label, number)) for label in range(classes))
        return [[png(image) for image in draw(random, label, GROUP)] for label, random in enumerate(streams)]

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        left = count
        for columns in pool.map(group, range(-(-count // (GROUP * classes)))):
            for row in zip(*columns, strict=True):
                yield from list(enumerate(row))[:left]
                left = max(0, left - classes)


def png(image: np.ndarray) -> bytes:
    """Return uint8[H,W,1] or red-green-blue uint8[H,W,3] as a PNG file."""
    return cv2.imencode(".png", image[..., ::-1])[1].tobytes()
