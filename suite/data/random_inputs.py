"""Random inputs, for models whose speed does not depend on what they are shown. NumPy only."""

import numpy as np

SLOPE, INTERCEPT = 3.0, 2.0  # of the line


def photographs(rng: np.random.Generator, examples: int, side: int = 224) -> dict[str, np.ndarray]:
    """Return images float32[N,side,side,3], pixels from 0 to 255 brought to -1 to 1."""
    pixels = rng.integers(0, 256, (examples, side, side, 3), dtype=np.uint8)
    return {"images": pixels.astype(np.float32) / np.float32(127.5) - np.float32(1)}


def points_on_a_line(rng: np.random.Generator, examples: int) -> dict[str, np.ndarray]:
    """Return inputs float32[N,1], normally distributed, and labels float32[N] on the line."""
    inputs = rng.standard_normal((examples, 1), np.float32)
    return {"inputs": inputs, "labels": np.float32(SLOPE) * inputs[:, 0] + np.float32(INTERCEPT)}


def labelled_rows(rng: np.random.Generator, examples: int, width: int, classes: int) -> dict[str, np.ndarray]:
    """Return inputs float32[N,width], normally distributed, and one-hot labels float32[N,classes], equally likely."""
    labels = rng.integers(classes, size=examples)
    inputs = rng.standard_normal((examples, width), np.float32)
    return {"inputs": inputs, "labels": np.eye(classes, dtype=np.float32)[labels]}
