"""Cats and dogs: a zip file of JPEG files, some of them damaged.

Pictures are re-encoded with quality 95, as TFDS' own builder does through TensorFlow; pixels may differ by a step or
two, since the library is another.
"""

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from suite.data.download import Progress
from suite.data.published import Splits
from suite.data.streams import ahead

STOCK = "cats_vs_dogs"
ARCHIVE = "kagglecatsanddogs_5340.zip"
PARTS = ("train[:8000]", "train[8000:10000]")  # as many as the article has
DAMAGED = 1738  # files without JFIF in their header; TFDS skips and counts them too
_NAME = re.compile(r"PetImages[\\/](Cat|Dog)[\\/]\d+\.jpg")
_QUALITY = 95
_HEAD = 10


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of image, image/filename and label; there is one split."""
    return {"train": examples(files[ARCHIVE])}


def examples(path: Path, threads: int | None = None) -> Iterator[dict[str, Any]]:
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
