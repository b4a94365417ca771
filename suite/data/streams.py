"""Random streams of the stand-ins: pictures in a fixed order, the same for any number of threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")
Draw = Callable[[np.random.Generator, int, int], Iterable[np.ndarray]]  # random, label, count -> uint8[H,W,C] each
Encode = Callable[[np.ndarray], bytes]  # uint8[H,W,C] -> a picture file

SPLITS = ("train", "test")  # a split's index is part of each stream's seed
GROUP = 64  # small pictures of one class that share a random stream and are drawn together


def png(image: np.ndarray) -> bytes:
    """Return uint8[H,W,1], or RGB uint8[H,W,3], as a PNG file."""
    import cv2  # not with the models, whose import is timed

    return cv2.imencode(".png", image[..., ::-1])[1].tobytes()


def pictures(
    draw: Draw,
    classes: int,
    split: str,
    count: int,
    seed: int,
    threads: int | None = None,
    encode: Encode = png,
    group: int = GROUP,
) -> Iterator[tuple[int, bytes]]:
    """Yield each picture's label and file, cycling through the classes.

    A group depends only on seed, split, label and its own number. Threads None: one for each core.
    """

    def drawn(number: int) -> list[list[bytes]]:
        streams = (np.random.default_rng((seed, SPLITS.index(split), label, number)) for label in range(classes))
        return [[encode(image) for image in draw(random, label, group)] for label, random in enumerate(streams)]

    left = count
    for columns in ahead(drawn, range(-(-count // (group * classes))), threads or os.cpu_count() or 1):
        for row in zip(*columns, strict=True):
            yield from list(enumerate(row))[:left]
            left = max(0, left - classes)


def ahead(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """Yield function(item) in the order of the items, computed by `threads` threads, each at most one result ahead."""
    with ThreadPoolExecutor(threads) as pool:
        left = iter(items)
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in islice(left, 2 * threads))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(left, 1))
