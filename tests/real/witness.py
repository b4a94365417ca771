"""Compares a prepared set with the IDX files it is of, which are read here by their own headers."""

import gzip
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from suite.data.datasets.mnist import PREFIXES


def differences(name: str, home: Path, files: Mapping[str, Path]) -> str:
    """Return what TFDS reads otherwise than the files have it, as text; '' if nothing is. The order is free."""
    import tensorflow_datasets as tfds

    said = []
    for split, prefix in PREFIXES.items():
        source = tfds.data_source(name, split=split, data_dir=home, download=False)
        written = Counter(digest(example["image"], example["label"]) for example in source)
        wanted = Counter(examples(files, prefix))
        if written != wanted:
            said.append(f"{(wanted - written).total():,} of {wanted.total():,} examples of {split} are others")
    return "; ".join(said)


def examples(files: Mapping[str, Path], prefix: str) -> Iterator[bytes]:
    """Yield the digest of each example of two IDX files."""
    pictures, labels = (idx(files[f"{prefix}-{kind}-ubyte.gz"]) for kind in ("images-idx3", "labels-idx1"))
    return (digest(picture[..., None], label) for picture, label in zip(pictures, labels, strict=True))


def digest(picture: np.ndarray, label: int) -> bytes:
    """Return the digest of a picture, uint8[28,28,1], and its label."""
    return hashlib.sha256(bytes([int(label)]) + np.ascontiguousarray(picture).tobytes()).digest()


def idx(path: Path) -> np.ndarray:
    """Return the array of an IDX file, gzipped or not, whose shape its header gives."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    sizes = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)
