"""Small pictures: pixels from 0 to 1, shifted and rotated if the source does so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.data.prepare import Example, Preparation


def decoded(image: bytes | np.ndarray) -> np.ndarray:
    """Return a picture file as uint8[H,W,C], grey or RGB, with its pixels unchanged.

    Raises ValueError if the file cannot be read.
    """
    if isinstance(image, np.ndarray):
        return image
    import cv2  # not with the models, whose import is timed

    pixels = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("a picture file of the data set cannot be read; remove the data set and prepare it again")
    return pixels[..., None] if pixels.ndim == 2 else pixels[..., ::-1]


def one_hot(label: int, classes: int) -> np.ndarray:
    """Return float32[K] with a 1 at the label."""
    row = np.zeros(classes, np.float32)
    row[label] = 1
    return row


@dataclass(frozen=True, kw_only=True)
class Pixels(Preparation):
    """Pixels float32[H,W,C] from 0 to 1 and labels float32[K] one-hot."""

    classes: int = 10

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return images, still uint8, and labels, without augmentation."""
        return {"images": decoded(record["image"]), "labels": one_hot(record["label"], self.classes)}


@dataclass(frozen=True, kw_only=True)
class Shifted(Pixels):
    """The same with the picture rotated, shifted and mirrored at random, with the edge repeated."""

    degrees: float = 15.0
    pixels: float = 6.0

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return images, still uint8, and labels."""
        example = super().compact(record, random)
        if random is not None:
            example["images"] = self._moved(example["images"], random)
        return example

    def _moved(self, image: np.ndarray, random: np.random.Generator) -> np.ndarray:
        import cv2

        height, width = image.shape[:2]
        angle, right, down = random.uniform(-1, 1, 3) * (self.degrees, self.pixels, self.pixels)
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1.0)
        matrix[:, 2] += (right, down)
        if random.random() < 0.5:
            image = image[:, ::-1]
        return warped(image, matrix)


def warped(image: np.ndarray, matrix: np.ndarray, inverse: bool = False) -> np.ndarray:
    """Return the picture uint8[H,W,C] under an affine map, by nearest pixels with the edge repeated.

    An inverse map takes places in the result to places in the picture.
    """
    import cv2

    flags = cv2.INTER_NEAREST | (cv2.WARP_INVERSE_MAP if inverse else 0)
    size = (image.shape[1], image.shape[0])
    found = cv2.warpAffine(np.ascontiguousarray(image), matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return found.reshape(image.shape)
