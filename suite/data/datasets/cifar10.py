"""CIFAR-10: objects, 32 x 32 in colour.

The stand-in's are drawn, and told apart by shape: classes largely share colours and scenes. The published set is a tar
file of binary files; a record is a label and 32 x 32 bytes in red, green and blue.
"""

import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from suite.data.datasets import Records, Splits
from suite.data.download import Progress
from suite.data.drawn import Canvas, animals, blank, scenery, vehicles
from suite.data.edition import Edition
from suite.data.streams import pictures, png

# The painter of each object and its usual scenes, in the order of the published labels.
OBJECTS: dict[str, tuple[Callable[[Canvas], None], tuple[str, ...]]] = {
    "airplane": (vehicles.airplane, ("sky", "dusk", "road")),
    "automobile": (vehicles.automobile, ("road", "meadow", "sand")),
    "bird": (animals.bird, ("sky", "forest", "meadow", "sea")),
    "cat": (animals.cat, ("room", "meadow", "sand")),
    "deer": (animals.deer, ("forest", "meadow", "snow")),
    "dog": (animals.dog, ("room", "meadow", "sand")),
    "frog": (animals.frog, ("pond", "forest", "sand")),
    "horse": (animals.horse, ("meadow", "forest", "sand")),
    "ship": (vehicles.ship, ("sea", "sea", "dusk")),
    "truck": (vehicles.truck, ("road", "meadow", "sand")),
}
CLASSES = tuple(OBJECTS)
SIZES = {"small": Edition(), "documented": Edition(train=50_000, test=10_000)}
STOCK = "cifar10"
ARCHIVE = "cifar-10-binary.tar.gz"
FOLDER = "cifar-10-batches-bin"
BATCHES = {"train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)), "test": ("test_batch.bin",)}
_SIDE, _CHANNELS = 32, 3
_RECORD = 1 + _SIDE * _SIDE * _CHANNELS


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of id, image and label, cycling through the classes."""
    for index, (label, image) in enumerate(pictures(draw, len(CLASSES), split, count, seed)):
        yield {"id": f"{split}_{index:05d}", "image": image, "label": label}


def draw(random: np.random.Generator, label: int, count: int) -> np.ndarray:
    """Return pictures of one class, uint8[count,32,32,3]."""
    paint, scenes = OBJECTS[CLASSES[label]]
    canvas = blank(random, count, 32, 3)
    scenery.behind(canvas, *scenes)
    mirrored = 1 - 2 * canvas.chance(0.5)
    paint(
        canvas.placed(
            x=canvas.between(-0.15, 0.15),
            y=canvas.between(-0.12, 0.15),
            scale=canvas.between(0.68, 0.95),
            turn=canvas.between(-0.2, 0.2),
            stretch=mirrored * canvas.between(0.85, 1.12),
        )
    )
    return scenery.photographed(canvas)


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of id, image, as lossless PNG, and label."""
    return {split: read(files[ARCHIVE], split) for split in BATCHES}


def read(path: Path, split: str) -> Records:
    """Yield the records of a split."""
    with tarfile.open(path) as archive:
        inside = [archive.extractfile(f"{FOLDER}/{name}") for name in BATCHES[split]]
        data = b"".join(file.read() for file in inside if file is not None)
    records = np.frombuffer(data, np.uint8).reshape(-1, _RECORD)
    for index, record in enumerate(records):
        picture = record[1:].reshape(_CHANNELS, _SIDE, _SIDE).transpose(1, 2, 0)
        yield {"id": f"{split}_{index:05d}", "image": png(picture), "label": int(record[0])}
