"""Crops of small pictures, augmented and standardised, as in TensorFlow's CIFAR-10 tutorial."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from suite.data.prepare import Example, Preparation
from suite.data.prepare.pictures import decoded, one_hot


@dataclass(frozen=True, kw_only=True)
class Crop(Preparation):
    """Crops float32[side,side,C], each with mean 0 and deviation 1, and labels float32[K] one-hot.

    For training the crop is random, mirrored half the time, and its brightness and contrast vary; contrast is about
    each channel's mean, and nothing is clipped. For validation it is central. With `whole` nothing is cropped or
    standardised: pixels float32[H,W,C] from 0 to 255.
    """

    side: int = 24
    classes: int = 10
    brightness: float = 63.0
    contrast: tuple[float, float] = (0.2, 1.8)
    whole: bool = False

    def undistorted(self) -> Self:
        """Return the preparation with whole pictures, for a device that crops them."""
        return replace(self, whole=True)

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return images and labels."""
        image = decoded(record["image"])
        labels = one_hot(record["label"], self.classes)
        if self.whole:
            return {"images": image.astype(np.float32), "labels": labels}
        room = [edge - self.side for edge in image.shape[:2]]
        top, left = (each // 2 if random is None else int(random.integers(each + 1)) for each in room)
        crop = image[top : top + self.side, left : left + self.side].astype(np.float32)
        crop = crop if random is None else self._distorted(crop, random)
        return {"images": standardised(crop), "labels": labels}

    def _distorted(self, crop: np.ndarray, random: np.random.Generator) -> np.ndarray:
        if random.random() < 0.5:
            crop = crop[:, ::-1]
        crop = crop + np.float32(random.uniform(-self.brightness, self.brightness))
        means = crop.mean((0, 1), keepdims=True)
        return (crop - means) * np.float32(random.uniform(*self.contrast)) + means


def standardised(image: np.ndarray) -> np.ndarray:
    """Return a picture float32[H,W,C] with mean 0 and deviation 1.

    The deviation counts as at least 1/sqrt(H W C), as in TensorFlow's per_image_standardization.
    """
    least = np.float32(1 / np.sqrt(image.size))
    return (image - image.mean()) / np.maximum(image.std(), least)
