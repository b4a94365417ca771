"""Augmentation of a batch of pictures on the device; `suite.data.prepare` does the same on the host.

Each draws its numbers from a key, separately for every example, and applies them; both parts are pure.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

Batch = dict[str, jax.Array]
Numbers = dict[str, jax.Array]  # the drawn values: an array [N] by name

_IMPLEMENTATION = "threefry2x32"  # of random numbers, with keys uint32[2]


@dataclass(frozen=True, kw_only=True)
class Distortion:
    """A random distortion of pictures float32[N,H,W,C]."""

    def __call__(self, key: jax.Array, batch: Batch) -> Batch:
        """Return the batch with its images distorted by the key's numbers."""
        images = batch["images"]
        return batch | {"images": self.apply(images, self.draw(key, images.shape[0]))}

    def draw(self, key: jax.Array, count: int) -> Numbers:
        """Return the random numbers of `count` examples."""
        raise NotImplementedError

    def apply(self, images: jax.Array, drawn: Numbers) -> jax.Array:
        """Return the images distorted by these numbers, float32[N,H',W',C]."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ShearZoomFlip(Distortion):
    """Keras' shear, in radians, and zoom along each axis, mirrored half the time; `Photograph` does it on the host."""

    shear: float
    zoom: float

    def draw(self, key: jax.Array, count: int) -> Numbers:
        """Return angle, down, right and mirrored."""
        angle, down, right, mirrored = jax.random.split(key, 4)
        return {
            "angle": between(angle, count, -self.shear, self.shear),
            "down": between(down, count, 1 - self.zoom, 1 + self.zoom),
            "right": between(right, count, 1 - self.zoom, 1 + self.zoom),
            "mirrored": jax.random.bernoulli(mirrored, shape=(count,)),
        }

    def apply(self, images: jax.Array, drawn: Numbers) -> jax.Array:
        """Return float32[N,H,W,C], by nearest pixel with the edge repeated."""
        angle, down, right, mirrored = (aligned(drawn[name]) for name in ("angle", "down", "right", "mirrored"))
        y, x, centre = grid(images)
        x = jnp.where(mirrored, -x, x)
        return nearest(
            images, down * y - jnp.sin(angle) * right * x + centre[0], jnp.cos(angle) * right * x + centre[1]
        )


@dataclass(frozen=True, kw_only=True)
class RotateShiftFlip(Distortion):
    """Mirrored half the time, then rotated and shifted within limits; `Shifted` does it on the host."""

    degrees: float
    pixels: float

    def draw(self, key: jax.Array, count: int) -> Numbers:
        """Return angle in degrees, right and down in pixels, and mirrored."""
        angle, right, down, mirrored = jax.random.split(key, 4)
        return {
            "angle": between(angle, count, -self.degrees, self.degrees),
            "right": between(right, count, -self.pixels, self.pixels),
            "down": between(down, count, -self.pixels, self.pixels),
            "mirrored": jax.random.bernoulli(mirrored, shape=(count,)),
        }

    def apply(self, images: jax.Array, drawn: Numbers) -> jax.Array:
        """Return float32[N,H,W,C], by nearest pixel with the edge repeated."""
        angle, right, down, mirrored = (aligned(drawn[name]) for name in ("angle", "right", "down", "mirrored"))
        images = jnp.where(mirrored[..., None], images[:, :, ::-1], images)
        y, x, centre = grid(images)
        y, x = y - down, x - right
        sine, cosine = jnp.sin(jnp.deg2rad(angle)), jnp.cos(jnp.deg2rad(angle))
        return nearest(images, sine * x + cosine * y + centre[0], cosine * x - sine * y + centre[1])


@dataclass(frozen=True, kw_only=True)
class CropFlipLight(Distortion):
    """A random crop, mirrored half the time, its light changed, then standardised; `Crop` does it on the host."""

    side: int
    brightness: float
    contrast: tuple[float, float]
    whole: int  # side of the pictures that crops are cut from

    def draw(self, key: jax.Array, count: int) -> Numbers:
        """Return top, left, mirrored, brightness and contrast."""
        top, left, mirrored, brightness, contrast = jax.random.split(key, 5)
        places = self.whole - self.side + 1
        return {
            "top": jax.random.randint(top, (count,), 0, places),
            "left": jax.random.randint(left, (count,), 0, places),
            "mirrored": jax.random.bernoulli(mirrored, shape=(count,)),
            "brightness": between(brightness, count, -self.brightness, self.brightness),
            "contrast": between(contrast, count, *self.contrast),
        }

    def apply(self, images: jax.Array, drawn: Numbers) -> jax.Array:
        """Return float32[N,side,side,C], each with mean 0 and deviation 1."""
        steps = jnp.arange(self.side, dtype=jnp.int32)
        rows = aligned(drawn["top"]) + steps[None, :, None]
        columns = aligned(drawn["left"]) + jnp.where(aligned(drawn["mirrored"]), steps[None, None, ::-1], steps)
        light, contrast = (aligned(drawn[name])[..., None] for name in ("brightness", "contrast"))
        crops = gathered(images, rows, columns) + light  # N side side C
        means = crops.mean((1, 2), keepdims=True)
        return standardised((crops - means) * contrast + means)


def standardised(images: jax.Array) -> jax.Array:
    """Return images float32[N,H,W,C], each with mean 0 and deviation 1, which counts as at least 1/sqrt(H W C)."""
    least = (images.shape[1] * images.shape[2] * images.shape[3]) ** -0.5
    mean, deviation = (of(images, axis=(1, 2, 3), keepdims=True) for of in (jnp.mean, jnp.std))
    return (images - mean) / jnp.maximum(deviation, least)


def between(key: jax.Array, count: int, low: float, high: float) -> jax.Array:
    """Return float32[count], uniform between `low` and `high`."""
    return jax.random.uniform(key, (count,), jnp.float32, low, high)


def aligned(numbers: jax.Array) -> jax.Array:
    """Return numbers [N] as [N,1,1], to broadcast over rows and columns."""
    return numbers[:, None, None]


def grid(images: jax.Array) -> tuple[jax.Array, jax.Array, tuple[float, float]]:
    """Return rows and columns relative to the centre, float32[1,H,1] and float32[1,1,W], and the centre."""
    height, width = images.shape[1:3]
    centre = ((height - 1) / 2, (width - 1) / 2)
    rows, columns = (jnp.arange(n, dtype=jnp.float32) - c for n, c in zip((height, width), centre, strict=True))
    return rows[None, :, None], columns[None, None, :], centre


def nearest(images: jax.Array, rows: jax.Array, columns: jax.Array) -> jax.Array:
    """Return the pixels of [N,H,W,C] nearest to float places [N,H',W'], with the edge repeated."""
    height, width = images.shape[1:3]
    row, column = (jnp.floor(place + 0.5).astype(jnp.int32) for place in (rows, columns))
    return gathered(images, jnp.clip(row, 0, height - 1), jnp.clip(column, 0, width - 1))


def gathered(images: jax.Array, rows: jax.Array, columns: jax.Array) -> jax.Array:
    """Return the pixels of [N,H,W,C] at int32 rows and columns that broadcast to [N,H',W']; all must be inside."""
    count, height, width, channels = images.shape
    firsts = aligned(jnp.arange(count, dtype=jnp.int32) * (height * width))
    pixels = images.reshape(count * height * width, channels)
    return pixels.at[firsts + rows * width + columns].get(mode="promise_in_bounds")


def first_key(seed: int) -> np.ndarray:
    """Return the data of a key, uint32[2], from NumPy: nothing is compiled."""
    return np.array(divmod(seed, 2**32), np.uint32)


def advanced(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the key data for the next step, and the key of this one."""
    after, now = jax.random.split(jax.random.wrap_key_data(data, impl=_IMPLEMENTATION))
    return jax.random.key_data(after), now
