"""Photographs of random pixels, for networks whose speed does not depend on the content. NumPy only."""

import numpy as np


def photographs(rng: np.random.Generator, examples: int, side: int = 224) -> dict[str, np.ndarray]:
    """Return images float32[N,side,side,3], pixels from 0 to 255 scaled to -1 to 1."""
    pixels = rng.integers(0, 256, (examples, side, side, 3), dtype=np.uint8)
    return {"images": pixels.astype(np.float32) / np.float32(127.5) - np.float32(1)}
