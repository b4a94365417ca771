"""Photographs of cats and dogs with the size and decoding cost of real ones: varying, cluttered, grainy JPEG."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np

from suite.data.drawn import animals, scenery
from suite.data.drawn.canvas import Canvas, blank

ANIMALS: tuple[Callable[[Canvas], None], ...] = (animals.cat, animals.dog)  # in the order of the published labels
GROUP = 16  # drawn together: as many as fit the processor's caches
SIDE = 80  # of the drawing; finer detail comes from grain and patches
WIDTHS, HEIGHTS = (300, 500), (280, 440)  # as in the published set, whose mean is about 400 x 360
QUALITY = 92
_TILE = 768  # side of the grain from which a group's pictures are cropped
_BLOBS = 6


def draw(random: np.random.Generator, label: int, count: int) -> Iterator[np.ndarray]:
    """Yield pictures of one class, uint8[H,W,3] of varying size."""
    small = drawing(random, label, count)
    grain = cv2.GaussianBlur(random.integers(0, 256, (_TILE, _TILE, 3), np.uint8), (3, 3), 0)
    for image in small:
        yield photograph(random, image, grain)


def drawing(random: np.random.Generator, label: int, count: int) -> np.ndarray:
    """Return the animal in its surroundings, uint8[count,SIDE,SIDE,3]."""
    canvas = blank(random, count, SIDE, 3)
    scenery.behind(canvas, "room", "meadow", "sand", share=0.6)
    ANIMALS[label](
        canvas.placed(
            x=canvas.between(-0.3, 0.3),
            y=canvas.between(-0.2, 0.25),
            scale=canvas.between(0.45, 0.9),
            turn=canvas.between(-0.3, 0.3),
            stretch=(1 - 2 * canvas.chance(0.5)) * canvas.between(0.85, 1.15),
        )
    )
    for _ in range(_BLOBS // 2):  # in the foreground
        clutter = canvas.placed(x=canvas.between(-1, 1), y=canvas.between(0.3, 1), turn=canvas.between(-1.5, 1.5))
        shape = scenery.ellipse(clutter, 0, 0, canvas.between(0.05, 0.3), canvas.between(0.03, 0.12))
        canvas.paint(shape, canvas.colours(*animals.PLUMES, jitter=0.2), canvas.chance(0.4))
    return scenery.photographed(canvas)


def photograph(random: np.random.Generator, image: np.ndarray, grain: np.ndarray) -> np.ndarray:
    """Return the drawing enlarged to a random size, with grain over it, uint8[H,W,3]."""
    width, height = (int(random.integers(low, high + 1)) for low, high in (WIDTHS, HEIGHTS))
    large = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    left, top = (int(random.integers(0, _TILE - side)) for side in (width, height))
    strength = int(random.integers(24, 72))  # of 256
    mine = grain[top : top + height, left : left + width].astype(np.int16) - 128
    return np.clip(large + (mine * strength >> 8), 0, 255).astype(np.uint8)


def jpeg(image: np.ndarray) -> bytes:
    """Return RGB uint8[H,W,3] as a JPEG file."""
    return cv2.imencode(".jpg", image[..., ::-1], (cv2.IMWRITE_JPEG_QUALITY, QUALITY))[1].tobytes()
