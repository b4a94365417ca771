"""Points on a straight line: the smallest learnable data set."""

import numpy as np

SLOPE, INTERCEPT = 3.0, 2.0


def points_on_a_line(rng: np.random.Generator, examples: int) -> dict[str, np.ndarray]:
    """Return inputs float32[N,1], normally distributed, and labels float32[N] on the line."""
    inputs = rng.standard_normal((examples, 1), np.float32)
    return {"inputs": inputs, "labels": np.float32(SLOPE) * inputs[:, 0] + np.float32(INTERCEPT)}
