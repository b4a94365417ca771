"""Examples of the stand-ins: sheets of pictures, before and after augmentation."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import cv2
import numpy as np

from suite.data import datasets
from suite.data.prepare import Preparation
from suite.data.prepare.crops import Crop
from suite.data.prepare.photographs import Photograph
from suite.data.prepare.pictures import Shifted, decoded

SEED, EXAMPLES = 0, 12
CELL = (120, 108)  # width and height of a shown photograph, near the mean shape
AFTER = 6  # augmented pictures beside each original
_GAP = 4
_GREY, _DEVIATION = 128, 48  # of a standardised picture as shown

# Each documented augmentation: data set, preparation, and which of the first examples show it.
AUGMENTATIONS: dict[str, tuple[str, Preparation, tuple[int, ...]]] = {
    "shear-zoom-flip": ("cats_vs_dogs", Photograph(side=64), (0, 1)),
    "crop-flip-light": ("cifar10", Crop(), (0, 8)),
    "rotate-shift-flip": ("cifar10", Shifted(), (1, 7)),
}


def records(dataset: str, count: int = EXAMPLES) -> list[dict[str, Any]]:
    """Return the first training examples of a stand-in."""
    return list(islice(datasets.load(dataset).examples("train", count, SEED), count))


def digest(some: Iterable[Mapping[str, Any]]) -> str:
    """Return the sha256 of the records' names and values."""
    total = hashlib.sha256()
    for record in some:
        for name, value in record.items():
            total.update(f"{name} {value.tolist() if isinstance(value, np.ndarray) else value!r}\n".encode())
    return total.hexdigest()


def shown(image: bytes) -> np.ndarray:
    """Return a stored picture as shown, uint8[H,W,3]; one larger than a cell is cropped to fill it."""
    pixels = np.broadcast_to(found := decoded(image), (*found.shape[:2], 3))
    width, height = CELL
    if pixels.shape[1] <= width:
        return pixels
    scale = max(width / pixels.shape[1], height / pixels.shape[0])
    size = (max(width, round(pixels.shape[1] * scale)), max(height, round(pixels.shape[0] * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    return small[top : top + height, left : left + width]


def distorted(name: str) -> list[np.ndarray]:
    """Return rows of a picture before augmentation and six after, uint8[H,W,3]."""
    dataset, preparation, chosen = AUGMENTATIONS[name]
    originals = records(dataset)
    pictures = []
    for number in chosen:
        pictures.append(visible(preparation.undistorted().example(originals[number])["images"]))
        for index in range(AFTER):
            random = np.random.default_rng((SEED, number, index))
            pictures.append(visible(preparation.example(originals[number], random)["images"]))
    return pictures


def visible(image: np.ndarray) -> np.ndarray:
    """Return float32[H,W,3] as uint8, from a range of 0 to 1, of 0 to 255, or standardised, with values below 0."""
    if image.min() < 0:
        image = _GREY + _DEVIATION * image
    elif image.max() <= 1:
        image = 255 * image
    return np.rint(np.clip(image, 0, 255)).astype(np.uint8)


def sheet(pictures: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """Return pictures side by side, centred in their cells on transparent ground, uint8[H,W,4]."""
    height, width = (max(picture.shape[axis] for picture in pictures) for axis in (0, 1))
    rows = -(-len(pictures) // columns)
    canvas = np.zeros((rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 4), np.uint8)
    for index, picture in enumerate(pictures):
        top = index // columns * (height + _GAP) + (height - picture.shape[0]) // 2
        left = index % columns * (width + _GAP) + (width - picture.shape[1]) // 2
        canvas[top : top + picture.shape[0], left : left + picture.shape[1]] = np.dstack(
            [picture, np.full(picture.shape[:2], 255, np.uint8)]
        )
    return canvas
