"""MNIST: four gzipped binary files, pictures and labels apart."""

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suite.data.download import Progress
from suite.data.drawn.pictures import png
from suite.data.published import Splits

STOCK = "mnist"
PREFIXES = {"train": "train", "test": "t10k"}
_PICTURES_HEAD, _LABELS_HEAD, _SIDE = 16, 8, 28


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of image, as lossless PNG, and label."""
    return {split: examples(files, prefix) for split, prefix in PREFIXES.items()}


def examples(files: Mapping[str, Path], prefix: str) -> Iterator[dict[str, Any]]:
    """Yield the records of the two files that begin with the prefix."""
    pictures = unpacked(files[f"{prefix}-images-idx3-ubyte.gz"], _PICTURES_HEAD).reshape(-1, _SIDE, _SIDE, 1)
    labels = unpacked(files[f"{prefix}-labels-idx1-ubyte.gz"], _LABELS_HEAD)
    for picture, label in zip(pictures, labels, strict=True):
        yield {"image": png(picture), "label": int(label)}


def unpacked(path: Path, head: int) -> np.ndarray:
    """Return the bytes after a file's header, uint8[N]."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=head)
