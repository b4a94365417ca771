"""Backgrounds of the colour pictures, and the effects of a camera on them."""

import numpy as np

from suite.data.drawn import Canvas, box, ellipse

# RGB colours above and below the horizon, from 0 to 1.
SCENES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "sky": ((0.40, 0.60, 0.88), (0.74, 0.84, 0.94)),
    "dusk": ((0.45, 0.38, 0.52), (0.88, 0.62, 0.45)),
    "sea": ((0.70, 0.80, 0.90), (0.18, 0.38, 0.52)),
    "meadow": ((0.66, 0.78, 0.88), (0.36, 0.56, 0.24)),
    "forest": ((0.16, 0.28, 0.15), (0.36, 0.34, 0.20)),
    "road": ((0.62, 0.60, 0.58), (0.36, 0.36, 0.38)),
    "sand": ((0.72, 0.74, 0.74), (0.78, 0.68, 0.48)),
    "room": ((0.74, 0.66, 0.56), (0.48, 0.34, 0.26)),
    "pond": ((0.26, 0.38, 0.22), (0.24, 0.34, 0.36)),
    "snow": ((0.62, 0.70, 0.80), (0.90, 0.92, 0.95)),
}


def behind(canvas: Canvas, *usual: str, share: float = 0.65) -> None:
    """Paint a scene with some objects: a usual one in about a `share` of the pictures, else any."""
    scenes = np.array(tuple(SCENES.values()), np.float32)
    likely = np.array([tuple(SCENES).index(name) for name in usual])
    count = len(canvas.pixels)
    chosen = np.where(
        canvas.chance(share)[:, 0, 0] > 0,
        likely[canvas.random.integers(len(likely), size=count)],
        canvas.random.integers(len(scenes), size=count),
    )
    jitter = canvas.random.random((count, 2, 3), dtype=np.float32) * np.float32(0.24) - np.float32(0.12)
    above, below = np.moveaxis(np.clip(scenes[chosen] + jitter, 0, 1), 1, 0)[:, :, None, None, :]
    canvas.pixels[...] = above
    horizon = canvas.between(-0.3, 0.6)
    canvas.paint(box(canvas, -2, -2, 2, horizon), below, 0.35 * (canvas.y + 1))
    canvas.paint(box(canvas, -2, horizon, 2, 2), below)
    for base in (above, below, above, below):
        own = canvas.random.random((count, 1, 1, 3), dtype=np.float32)
        heap = canvas.placed(x=canvas.between(-1, 1), y=canvas.between(-1, 1), turn=canvas.between(-1.5, 1.5))
        shape = ellipse(heap, 0, 0, canvas.between(0.1, 0.6), canvas.between(0.05, 0.3))
        canvas.paint(shape, np.float32(0.65) * base + np.float32(0.35) * own, canvas.between(0.2, 0.9))
    mottle(canvas)


def mottle(canvas: Canvas) -> None:
    """Make surfaces uneven in patches of 4x4 pixels."""
    count, height, width, _ = canvas.pixels.shape
    patches = canvas.random.random((count, height // 4, width // 4, 1), dtype=np.float32) - np.float32(0.5)
    canvas.pixels[...] += canvas.between(0, 0.1)[..., None] * patches.repeat(4, axis=1).repeat(4, axis=2)


def photographed(canvas: Canvas) -> np.ndarray:
    """Return the pictures as uint8, as through a lens: some soft, tinted, light or dark, grainy."""
    image = canvas.pixels
    soft = image.copy()
    soft[:, 1:-1, 1:-1] = (image[:, :-2, 1:-1] + image[:, 2:, 1:-1] + image[:, 1:-1, :-2] + image[:, 1:-1, 2:]) / 4
    image = image + canvas.between(0, 0.5)[..., None] * (soft - image)
    cast = canvas.random.random((len(image), 1, 1, 3), dtype=np.float32) * np.float32(0.2) + np.float32(0.9)
    image = (image - np.float32(0.5)) * canvas.between(0.75, 1.2)[..., None] * cast
    grain = canvas.random.random(image.shape, dtype=np.float32) - np.float32(0.5)
    image = image + np.float32(0.5) + canvas.between(-0.1, 0.1)[..., None] + np.float32(0.08) * grain
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)
