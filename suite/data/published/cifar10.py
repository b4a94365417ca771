"""CIFAR-10: a tar file of binary files; a record is a label and 32 x 32 bytes in red, green and blue."""

import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suite.data.download import Progress
from suite.data.drawn.pictures import png
from suite.data.published import Splits

STOCK = "cifar10"
ARCHIVE = "cifar-10-binary.tar.gz"
FOLDER = "cifar-10-batches-bin"
BATCHES = {"train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)), "test": ("test_batch.bin",)}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SIDE, _CHANNELS = 32, 3
_RECORD = 1 + _SIDE * _SIDE * _CHANNELS


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of id, image, as lossless PNG, and label."""
    return {split: examples(files[ARCHIVE], split) for split in BATCHES}


def examples(path: Path, split: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a split."""
    with tarfile.open(path) as archive:
        inside = [archive.extractfile(f"{FOLDER}/{name}") for name in BATCHES[split]]
        data = b"".join(file.read() for file in inside if file is not None)
    records = np.frombuffer(data, np.uint8).reshape(-1, _RECORD)
    for index, record in enumerate(records):
        picture = record[1:].reshape(_CHANNELS, _SIDE, _SIDE).transpose(1, 2, 0)
        yield {"id": f"{split}_{index:05d}", "image": png(picture), "label": int(record[0])}
