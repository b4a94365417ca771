"""Random photographs of cats and dogs of the documented form, until the data set is there. NumPy only."""

import numpy as np

_CONTRAST = 40.0  # of the noise; between the classes it is twice that


def photographs(rng: np.random.Generator, examples: int, side: int) -> dict[str, np.ndarray]:
    """Return images float32[N,side,side,3] from 0 to 1 and labels float32[N], 0 for a cat and 1 for a dog.

    Cats have a bright upper half and dogs a bright lower half under noise, so that a network has something to learn.
    """
    labels = rng.integers(0, 2, examples)
    upper = np.arange(side) < side // 2
    bright = np.where(upper[None] == (labels[:, None] == 0), 127.5 + _CONTRAST, 127.5 - _CONTRAST)  # N side
    pixels = bright[:, :, None, None] + rng.normal(0, _CONTRAST, (examples, side, side, 3))
    images = pixels.clip(0, 255).astype(np.uint8).astype(np.float32) / np.float32(255)
    return {"images": images, "labels": labels.astype(np.float32)}
