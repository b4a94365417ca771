"""From stored examples to the arrays a model takes, as the sources prepare them. NumPy only."""

import numpy as np


def pixels_and_one_hot(images: np.ndarray, labels: np.ndarray, classes: int = 10) -> dict[str, np.ndarray]:
    """Return images float32[N,H,W,C] from 0 to 1 and labels float32[N,K] one-hot."""
    return {
        "images": images.astype(np.float32) / np.float32(255),
        "labels": np.eye(classes, dtype=np.float32)[labels],
    }


def standardised_centre(
    images: np.ndarray, labels: np.ndarray, side: int = 24, classes: int = 10
) -> dict[str, np.ndarray]:
    """Return the centres float32[N,side,side,C] of pictures, each with mean 0 and deviation 1, and labels one-hot.

    The deviation counts as at least 1/sqrt(side * side * C), as in TensorFlow's per_image_standardization.
    """
    top, left = (images.shape[1] - side) // 2, (images.shape[2] - side) // 2
    centres = images[:, top : top + side, left : left + side].astype(np.float32)
    axes = (1, 2, 3)
    least = np.float32(1 / np.sqrt(np.prod(centres.shape[1:])))
    deviations = np.maximum(centres.std(axes, keepdims=True), least)
    return {
        "images": (centres - centres.mean(axes, keepdims=True)) / deviations,
        "labels": np.eye(classes, dtype=np.float32)[labels],
    }
