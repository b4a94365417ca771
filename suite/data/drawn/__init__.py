"""Many pictures painted at once: each shape is a field of signed distances, which becomes soft coverage.

Only float32 sums, products, quotients, square roots and comparisons touch the pixels. IEEE 754 fixes their results to
the last bit, so a seed gives the same pixels on every machine; sines are rounded before use.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

Field = np.ndarray  # float32[N,H,W], or float32[N,1,1] for one number per picture
Number = float | Field


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """N pictures, and the coordinates of each pixel's centre in the space of shapes.

    On a blank canvas the picture reaches from -1 to 1, x to the right and y downwards.
    """

    pixels: np.ndarray  # float32[N,H,W,C] from 0 to 1, painted in place
    x: Field
    y: Field
    pixel: Field  # float32[N,1,1]: a pixel's width in these coordinates
    random: np.random.Generator

    def between(self, low: float, high: float) -> Field:
        """Return a number between low and high for each picture, float32[N,1,1]."""
        share = self.random.random((len(self.pixels), 1, 1), dtype=np.float32)
        return np.float32(low) + np.float32(high - low) * share

    def chance(self, share: float) -> Field:
        """Return 1 for about a `share` of the pictures, 0 for the others, float32[N,1,1]."""
        return (self.between(0, 1) < share).astype(np.float32)

    def colours(self, *palette: tuple[float, ...], jitter: float = 0.0) -> np.ndarray:
        """Return one palette colour for each picture, each channel moved by up to jitter, float32[N,1,1,C]."""
        count = len(self.pixels)
        chosen = np.array(palette, np.float32)[self.random.integers(len(palette), size=count)]
        moved = chosen + np.float32(jitter) * (2 * self.random.random(chosen.shape, dtype=np.float32) - 1)
        return np.clip(moved, 0, 1)[:, None, None, :]

    def paint(self, distance: Field, colour: np.ndarray | Number, strength: Number = 1.0) -> None:
        """Blend a colour over the pixels with negative distance; the edge is one pixel soft."""
        cover = np.clip(0.5 - distance / self.pixel, 0, 1) * strength
        self.pixels[...] += cover[..., None] * (colour - self.pixels)

    def placed(
        self, *, x: Number = 0.0, y: Number = 0.0, scale: Number = 1.0, turn: Number = 0.0, stretch: Number = 1.0
    ) -> "Canvas":
        """Return the same pictures in the coordinates of an object at x, y, rotated by radians, then scaled.

        `stretch` multiplies the width only; negative mirrors the object.
        """
        cosine, sine = (np.round(f(turn), 5).astype(np.float32) for f in (np.cos, np.sin))
        right, down = (self.x - x) / scale, (self.y - y) / scale
        return replace(
            self,
            x=(right * cosine + down * sine) / stretch,
            y=down * cosine - right * sine,
            pixel=self.pixel / scale,
        )


def blank(random: np.random.Generator, count: int, size: int, channels: int) -> Canvas:
    """Return black pictures float32[count,size,size,channels]."""
    centres = ((2 * np.arange(size, dtype=np.float32) + 1) / size - 1).astype(np.float32)
    shape = (count, size, size)
    return Canvas(
        pixels=np.zeros((*shape, channels), np.float32),
        x=np.broadcast_to(centres, shape),
        y=np.broadcast_to(centres[:, None], shape),
        pixel=np.full((count, 1, 1), 2 / size, np.float32),
        random=random,
    )


def ellipse(canvas: Canvas, x: Number, y: Number, width: Number, height: Number) -> Field:
    """Return distances to an ellipse with these half-axes; exact for a disc, close near any edge."""
    across, along = (canvas.x - x) / width, (canvas.y - y) / height
    return (np.sqrt(across * across + along * along) - 1) * np.minimum(width, height)


def polygon(canvas: Canvas, *corners: tuple[Number, Number]) -> Field:
    """Return distances to a convex polygon, its corners given clockwise as seen."""
    distance = None
    for (x0, y0), (x1, y1) in pairwise((*corners, corners[0])):
        right, down = x1 - x0, y1 - y0
        length = np.sqrt(right * right + down * down)
        beyond = (canvas.x - x0) * (down / length) - (canvas.y - y0) * (right / length)
        distance = beyond if distance is None else np.maximum(distance, beyond)
    if distance is None:
        raise ValueError("a polygon needs corners")
    return distance


def box(canvas: Canvas, left: Number, top: Number, right: Number, bottom: Number) -> Field:
    """Return distances to an upright rectangle."""
    return np.maximum(np.maximum(left - canvas.x, canvas.x - right), np.maximum(top - canvas.y, canvas.y - bottom))


def stroke(canvas: Canvas, points: Sequence[tuple[Number, Number]], width: Number) -> Field:
    """Return distances to a line through the points, drawn with a round pen whose half-width is `width`."""
    nearest = None
    for (x0, y0), (x1, y1) in pairwise(points):
        right, down = x1 - x0, y1 - y0
        from_x, from_y = canvas.x - x0, canvas.y - y0
        along = np.clip((from_x * right + from_y * down) / (right * right + down * down + 1e-6), 0, 1)
        across, below = from_x - along * right, from_y - along * down
        square = across * across + below * below
        nearest = square if nearest is None else np.minimum(nearest, square)
    if nearest is None:
        raise ValueError("a stroke needs two points or more")
    return np.sqrt(nearest) - width
