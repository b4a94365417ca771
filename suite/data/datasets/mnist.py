"""MNIST: handwritten digits, 28 x 28 grey.

The stand-in is written with a round pen: a few shapes for each digit, bent, slanted, stretched and thickened at random.
The published set is four gzipped binary files, pictures and labels apart; they may come unpacked.
"""

import gzip
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from suite.data.datasets import Records, Splits
from suite.data.download import GZIPPED, Content, Progress
from suite.data.drawn import Canvas, Number, blank, stroke
from suite.data.edition import Edition
from suite.data.streams import pictures, png

CLASSES = None  # the published set only numbers its labels
SIZES = {"small": Edition(), "documented": Edition(train=60_000, test=10_000)}
STOCK = "mnist"
PREFIXES = {"train": "train", "test": "t10k"}
UNPACKED = {
    "train-images-idx3-ubyte.gz": Content(
        size=47_040_016, sha256="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    ),
    "train-labels-idx1-ubyte.gz": Content(
        size=60_008, sha256="65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
    ),
    "t10k-images-idx3-ubyte.gz": Content(
        size=7_840_016, sha256="0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
    ),
    "t10k-labels-idx1-ubyte.gz": Content(
        size=10_008, sha256="ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
    ),
}
_PICTURES_HEAD, _LABELS_HEAD, _SIDE = 16, 8, 28

Point = tuple[Number, Number]

# Each shape of a digit is one or more strokes, given as corner points that are rounded when drawn. A digit's box
# reaches from -1 to 1 downwards and from about -0.65 to 0.65 to the right.
WAYS: tuple[tuple[tuple[tuple[tuple[float, float], ...], ...], ...], ...] = (
    (  # 0
        (
            ((0.1, -1), (-0.5, -0.9), (-0.65, 0), (-0.5, 0.9), (0.05, 1), (0.55, 0.85), (0.65, 0), (0.5, -0.85),
            (0, -1)),
        ),
        (((0.2, -0.95), (-0.4, -0.95), (-0.55, 0.2), (-0.3, 1), (0.3, 0.95), (0.5, 0.1), (0.45, -0.9), (-0.1, -0.95)),),
    ),
    (  # 1
        (((0, -1), (0, 0), (0, 1)),),
        (((-0.35, -0.6), (-0.1, -0.8), (0.08, -1)), ((0.08, -1), (0.05, 0), (0, 1))),
        (((-0.35, -0.6), (0.05, -1)), ((0.05, -1), (0, 1)), ((-0.4, 1), (0.4, 1))),
    ),
    (  # 2
        (((-0.55, -0.6), (-0.3, -1), (0.45, -1), (0.6, -0.4), (0.1, 0.3), (-0.6, 0.95)), ((-0.6, 0.95), (0.65, 0.9))),
        (
            ((-0.5, -0.7), (-0.1, -1.05), (0.6, -0.85), (0.45, 0), (-0.1, 0.7), (-0.6, 1), (-0.6, 0.55), (-0.1, 0.65)),
            ((-0.1, 0.65), (0.25, 0.95), (0.65, 0.8)),
        ),
    ),
    (  # 3
        (
            ((-0.5, -0.8), (0, -1.1), (0.6, -0.9), (0.5, -0.15), (-0.15, -0.05)),
            ((-0.15, -0.05), (0.5, 0), (0.75, 0.6), (0.3, 1.1), (-0.55, 0.85)),
        ),
        (
            ((-0.5, -0.95), (0.5, -0.95)),
            ((0.5, -0.95), (0.2, -0.5), (-0.05, -0.15)),
            ((-0.05, -0.15), (0.6, -0.1), (0.75, 0.65), (0.2, 1.1), (-0.55, 0.8)),
        ),
    ),
    (  # 4
        (((-0.45, -0.95), (-0.5, -0.3), (-0.55, 0.05)), ((-0.55, 0.05), (0.65, 0)), ((0.4, -0.9), (0.35, 0), (0.3, 1))),
        (((0.35, -1), (-0.1, -0.4), (-0.65, 0.3)), ((-0.65, 0.3), (0.65, 0.3)), ((0.35, -1), (0.35, 0), (0.3, 1))),
    ),
    (  # 5
        (
            ((0.55, -0.95), (-0.4, -0.95)),
            ((-0.4, -0.95), (-0.5, -0.15)),
            ((-0.5, -0.15), (0.2, -0.4), (0.7, 0.1), (0.6, 0.9), (0, 1.1), (-0.6, 0.8)),
        ),
        (
            ((0.6, -1), (-0.2, -0.9)),
            ((-0.2, -0.9), (-0.4, -0.1)),
            ((-0.4, -0.1), (0.5, -0.15), (0.55, 0.6), (0.1, 1), (-0.55, 0.95)),
        ),
    ),
    (  # 6
        (
            ((0.35, -1), (-0.3, -0.7), (-0.6, 0.2), (-0.5, 0.9), (0.05, 1.05), (0.6, 0.8), (0.55, 0.1), (0, 0.05),
            (-0.5, 0.4)),
        ),
        (
            ((0.05, -1), (-0.4, -0.4), (-0.55, 0.4), (-0.35, 1), (0.3, 1.05), (0.5, 0.5), (0.2, 0.1), (-0.2, 0.3),
            (-0.5, 0.65)),
        ),
    ),
    (  # 7
        (((-0.6, -0.9), (0.6, -0.9)), ((0.6, -0.9), (0.25, -0.1), (-0.15, 1))),
        (((-0.6, -0.85), (0.55, -0.95)), ((0.55, -0.95), (0.2, 0), (0, 1)), ((-0.2, 0.05), (0.5, 0))),
        (((-0.55, -0.6), (-0.55, -0.95)), ((-0.55, -0.95), (0.55, -0.95)), ((0.55, -0.95), (0.1, 0.1), (0, 1))),
    ),
    (  # 8
        (
            ((0.05, 0), (-0.5, -0.3), (-0.45, -0.95), (0.1, -1.05), (0.55, -0.75), (0.35, -0.2), (-0.2, 0.1),
            (-0.6, 0.5), (-0.35, 1.05), (0.35, 1.05), (0.6, 0.5), (0.3, 0.15), (-0.05, -0.05)),
        ),
        (
            ((0.45, -0.8), (0, -1.1), (-0.5, -0.75), (-0.2, -0.2), (0.35, 0.2), (0.55, 0.7), (0.05, 1.1),
            (-0.5, 0.75), (-0.25, 0.2), (0.3, -0.2), (0.5, -0.75)),
        ),
    ),
    (  # 9
        (
            ((0.5, -0.5), (0.3, -1), (-0.3, -1), (-0.6, -0.5), (-0.3, -0.05), (0.25, -0.15), (0.5, -0.55)),
            ((0.5, -0.6), (0.45, 0.2), (0.35, 1)),
        ),
        (
            ((0.45, -0.75), (-0.05, -1.1), (-0.6, -0.7), (-0.4, -0.05), (0.2, -0.1), (0.5, -0.75)),
            ((0.5, -0.75), (0.5, 0.3), (0.2, 0.95), (-0.4, 0.85)),
        ),
    ),
)  # fmt: skip


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of image and label, cycling through the digits."""
    for label, image in pictures(draw, 10, split, count, seed):
        yield {"image": image, "label": label}


def draw(random: np.random.Generator, digit: int, count: int) -> np.ndarray:
    """Return pictures of one digit, white on black, uint8[count,28,28,1]."""
    canvas = blank(random, count, 28, 1)
    page = canvas.placed(
        x=canvas.between(-0.1, 0.1),
        y=canvas.between(-0.1, 0.1),
        scale=canvas.between(0.56, 0.74),
        turn=canvas.between(-0.22, 0.22),
        stretch=canvas.between(0.75, 1.2),
    )
    slant, bend, arch = page.between(-0.15, 0.35), page.between(-0.1, 0.1), page.between(-0.1, 0.1)
    page.x[...] += slant * page.y + bend * page.y * page.y
    page.y[...] += arch * page.x * page.x
    width = page.between(0.09, 0.21)
    way = random.integers(len(WAYS[digit]), size=(count, 1, 1))
    distance = np.full_like(page.x, 9)
    for number, strokes in enumerate(WAYS[digit]):
        for points in strokes:
            line = stroke(page, rounded(wobbled(page, points, 0.08)), width)
            distance = np.where(way == number, np.minimum(distance, line), distance)
    page.paint(distance, page.between(0.75, 1)[..., None])
    return inked(canvas)


def wobbled(page: Canvas, points: Sequence[tuple[float, float]], reach: float) -> list[Point]:
    """Return the points, each moved by up to reach, independently in every picture."""
    return [(x + page.between(-reach, reach), y + page.between(-reach, reach)) for x, y in points]


def rounded(points: Sequence[Point]) -> list[Point]:
    """Return the line with its inner corners cut twice.

    Source: Chaikin, An algorithm for high-speed curve generation (1974).
    """
    for _ in range(2 if len(points) > 2 else 0):
        cut = [
            (near * x0 + (1 - near) * x1, near * y0 + (1 - near) * y1)
            for (x0, y0), (x1, y1) in pairwise(points)
            for near in (0.75, 0.25)
        ]
        points = [points[0], *cut[1:-1], points[-1]]
    return list(points)


def inked(canvas: Canvas) -> np.ndarray:
    """Return the pictures as uint8, with uneven ink and a few specks on the paper."""
    grain = canvas.random.random(canvas.pixels.shape, dtype=np.float32)
    specks = np.maximum(grain - np.float32(0.97), 0) * canvas.between(0, 6)[..., None]
    return np.rint(255 * np.clip(canvas.pixels * (1 - np.float32(0.25) * grain) + specks, 0, 1)).astype(np.uint8)


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of image, as lossless PNG, and label."""
    return {split: read(files, prefix) for split, prefix in PREFIXES.items()}


def read(files: Mapping[str, Path], prefix: str) -> Records:
    """Yield the records of the two files that begin with the prefix."""
    pictures = unpacked(files[f"{prefix}-images-idx3-ubyte.gz"], _PICTURES_HEAD).reshape(-1, _SIDE, _SIDE, 1)
    labels = unpacked(files[f"{prefix}-labels-idx1-ubyte.gz"], _LABELS_HEAD)
    for picture, label in zip(pictures, labels, strict=True):
        yield {"image": png(picture), "label": int(label)}


def unpacked(path: Path, head: int) -> np.ndarray:
    """Return the bytes after the header of a file, gzipped or not, uint8[N]."""
    content = path.read_bytes()
    return np.frombuffer(gzip.decompress(content) if content.startswith(GZIPPED) else content, np.uint8, offset=head)
