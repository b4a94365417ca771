"""Photographs of any size as small squares, sheared, zoomed and mirrored as in the cats-and-dogs tutorial."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.data.prepare import Example, Preparation
from suite.data.prepare.pictures import warped

_REDUCED = {2: "IMREAD_REDUCED_COLOR_2", 4: "IMREAD_REDUCED_COLOR_4"}  # of OpenCV
_SMALLEST = 256  # a photograph's shorter side is at least about this


@dataclass(frozen=True, kw_only=True)
class Photograph(Preparation):
    """Pixels float32[side,side,3] from 0 to 1 and the label float32[], 0 for a cat and 1 for a dog.

    The whole picture is resized to the square by nearest pixel, whatever its shape. For training it is sheared by up to
    `shear` radians, zoomed along each axis independently and mirrored half the time, about its centre, with the edge
    repeated. With `scaled` the file is decoded at half or a quarter of its size, which gives other pixels.
    """

    side: int
    augmented: bool = True
    shear: float = 0.2
    zoom: float = 0.2
    scaled: bool = False

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return images, still uint8, and labels."""
        import cv2  # not with the models, whose import is timed

        small = cv2.resize(self._decoded(record["image"]), (self.side, self.side), interpolation=cv2.INTER_NEAREST)
        if random is not None and self.augmented:
            small = self._moved(small, random)
        return {"images": small[..., ::-1], "labels": np.array(record["label"], np.float32)}

    def _decoded(self, image: bytes | np.ndarray) -> np.ndarray:
        """Return BGR uint8[H,W,3]."""
        if isinstance(image, np.ndarray):
            return image[..., ::-1]
        import cv2

        factor = max((f for f in _REDUCED if _SMALLEST // f >= self.side), default=1) if self.scaled else 1
        pixels = cv2.imdecode(np.frombuffer(image, np.uint8), getattr(cv2, _REDUCED.get(factor, "IMREAD_COLOR")))
        if pixels is None:
            raise ValueError("a photograph of the data set cannot be read; remove the data set and prepare it again")
        return pixels

    def _moved(self, image: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return the picture under the shear and zoom of Keras' ImageDataGenerator, mirrored or not."""
        angle = random.uniform(-self.shear, self.shear)
        down, right = random.uniform(1 - self.zoom, 1 + self.zoom, 2)
        # From a place in the result to one in the picture: shear after zoom, rows first as in Keras.
        across, aslant, centre = math.cos(angle) * right, -math.sin(angle) * right, (self.side - 1) / 2
        fixed = centre - across * centre, centre - (aslant + down) * centre  # keeps the centre in place
        matrix = np.array([[across, 0.0, fixed[0]], [aslant, down, fixed[1]]])
        moved = warped(image, matrix, inverse=True)
        return moved[:, ::-1] if random.random() < 0.5 else moved
