"""Cats and dogs: photographs as JPEG files of varying size, about 400 x 360.

The stand-in's have the size and decoding cost of real ones, cluttered and grainy; their backgrounds say nothing about
the label. The published set is a zip file of JPEG files, some of them damaged. Its pictures are re-encoded with quality
95, as TFDS' own builder does through TensorFlow; pixels may differ by a step or two, since the library is another.
"""

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from suite.data.datasets import Records, Splits
from suite.data.download import Progress
from suite.data.drawn import Canvas, animals, blank, ellipse, scenery
from suite.data.edition import Edition
from suite.data.streams import ahead, pictures

CLASSES = ("cat", "dog")
SIZES = {"small": Edition(train=2048, test=0), "documented": Edition(train=10_000, test=0)}  # one split, as published
ANIMALS: tuple[Callable[[Canvas], None], ...] = (animals.cat, animals.dog)  # in the order of the published labels
GROUP = 16  # drawn together: as many as fit the processor's caches
SIDE = 80  # of the drawing; finer detail comes from grain and patches
WIDTHS, HEIGHTS = (300, 500), (280, 440)  # as in the published set, whose mean is about 400 x 360
QUALITY = 92
_TILE = 768  # side of the grain from which a group's pictures are cropped
_BLOBS = 6

STOCK = "cats_vs_dogs"
ARCHIVE = "kagglecatsanddogs_5340.zip"
PARTS = ("train[:8000]", "train[8000:10000]")  # as many as the article has
DAMAGED = 1738  # files without JFIF in their header; TFDS skips and counts them too
_NAME = re.compile(r"PetImages[\\/](Cat|Dog)[\\/]\d+\.jpg")
_QUALITY = 95
_HEAD = 10


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of image, image/filename and label, alternating classes."""
    drawn = pictures(draw, len(ANIMALS), split, count, seed, encode=jpeg, group=GROUP)
    for index, (label, image) in enumerate(drawn):
        folder = CLASSES[label].capitalize()
        yield {"image": image, "image/filename": f"PetImages/{folder}/{index // 2}.jpg", "label": label}


def draw(random: np.random.Generator, label: int, count: int) -> Iterator[np.ndarray]:
    """Yield pictures of one class, uint8[H,W,3] of varying size."""
    small = drawing(random, label, count)
    grain = cv2.GaussianBlur(random.integers(0, 256, (_TILE, _TILE, 3), np.uint8), (3, 3), 0)
    for image in small:
        yield photograph(random, image, grain)


def drawing(random: np.random.Generator, label: int, count: int) -> np.ndarray:
    """Return the animal in its surroundings, uint8[count,SIDE,SIDE,3]."""
    canvas = blank(random, count, SIDE, 3)
    scenery.behind(canvas, "room", "meadow", "sand", share=0.6)
    ANIMALS[label](
        canvas.placed(
            x=canvas.between(-0.3, 0.3),
            y=canvas.between(-0.2, 0.25),
            scale=canvas.between(0.45, 0.9),
            turn=canvas.between(-0.3, 0.3),
            stretch=(1 - 2 * canvas.chance(0.5)) * canvas.between(0.85, 1.15),
        )
    )
    for _ in range(_BLOBS // 2):  # in the foreground
        clutter = canvas.placed(x=canvas.between(-1, 1), y=canvas.between(0.3, 1), turn=canvas.between(-1.5, 1.5))
        shape = ellipse(clutter, 0, 0, canvas.between(0.05, 0.3), canvas.between(0.03, 0.12))
        canvas.paint(shape, canvas.colours(*animals.PLUMES, jitter=0.2), canvas.chance(0.4))
    return scenery.photographed(canvas)


def photograph(random: np.random.Generator, image: np.ndarray, grain: np.ndarray) -> np.ndarray:
    """Return the drawing enlarged to a random size, with grain over it, uint8[H,W,3]."""
    width, height = (int(random.integers(low, high + 1)) for low, high in (WIDTHS, HEIGHTS))
    large = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    left, top = (int(random.integers(0, _TILE - side)) for side in (width, height))
    strength = int(random.integers(24, 72))  # of 256
    mine = grain[top : top + height, left : left + width].astype(np.int16) - 128
    return np.clip(large + (mine * strength >> 8), 0, 255).astype(np.uint8)


def jpeg(image: np.ndarray) -> bytes:
    """Return RGB uint8[H,W,3] as a JPEG file."""
    return cv2.imencode(".jpg", image[..., ::-1], (cv2.IMWRITE_JPEG_QUALITY, QUALITY))[1].tobytes()


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of image, image/filename and label; there is one split."""
    return {"train": read(files[ARCHIVE])}


def read(path: Path, threads: int | None = None) -> Records:
    """Yield the records in the order of the archive.

    Raises RuntimeError if a picture cannot be read, or if the number of damaged ones is unexpected.
    """
    damaged = 0
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if _NAME.fullmatch(name)]

        def record(name: str) -> dict[str, Any] | None:
            content = archive.read(name)
            if b"JFIF" not in content[:_HEAD]:
                return None
            label = 0 if "Cat" in name else 1
            return {"image": reencoded(content, name), "image/filename": name, "label": label}

        for example in ahead(record, names, threads or os.cpu_count() or 1):
            if example is None:
                damaged += 1
            else:
                yield example
    if damaged != DAMAGED:
        raise RuntimeError(
            f"'{path}' has {damaged} pictures without a JFIF head, known are {DAMAGED}: it is not the published "
            "archive; remove it and run again"
        )


def reencoded(content: bytes, name: str) -> bytes:
    """Return a JPEG file re-encoded. Raises RuntimeError if it cannot be read."""
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise RuntimeError(f"picture '{name}' cannot be read; remove the archive and run again")
    return cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, _QUALITY))[1].tobytes()
