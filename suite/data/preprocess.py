"""From stored examples to the arrays a model takes, as the sources prepare them. NumPy only."""

import numpy as np


def pixels_and_one_hot(images: np.ndarray, labels: np.ndarray, classes: int = 10) -> dict[str, np.ndarray]:
    """Return images float32[N,H,W,C] from 0 to 1 and labels float32[N,K] one-hot."""
    return {
        "images": images.astype(np.float32) / np.float32(255),
        "labels": np.eye(classes, dtype=np.float32)[labels],
    }
