"""Initial values from NumPy, as Keras draws them: nothing is compiled to make them."""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

_CONSTANTS = {"bias": 0.0, "mean": 0.0, "scale": 1.0, "var": 1.0}


def filled(state: nnx.State, seed: int) -> nnx.State:
    """Return an abstract state filled with values: each leaf is drawn by its name, from the seed and its path.

    A layer with other initial values stores a hashable `Draw` as `draw` in its variable's metadata.
    """

    def filling(path: tuple, leaf: nnx.Variable) -> nnx.Variable:
        return leaf.replace(_value(path, leaf.get_value(), seed, leaf.get_metadata().get("draw")))

    return nnx.from_flat_state((path, filling(path, leaf)) for path, leaf in nnx.to_flat_state(state))


def started(optimizer: optax.GradientTransformation, params: nnx.State) -> Any:
    """Return the optimizer's state for these parameters, made by one program instead of one per shape."""
    return jax.jit(optimizer.init)(params)


def _value(path: tuple, leaf: jax.ShapeDtypeStruct, seed: int, draw: Draw | None) -> np.ndarray | jax.Array:
    rng = np.random.default_rng([seed, zlib.crc32("/".join(map(str, path)).encode())])
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(rng.integers(2**32, size=2, dtype=np.uint32)))
    if draw is not None:
        return draw(rng, leaf.shape).astype(leaf.dtype)
    name = next(part for part in reversed(path) if isinstance(part, str))
    if name == "kernel":
        return glorot_uniform(rng, leaf.shape).astype(leaf.dtype)
    if name == "embedding":
        return rng.uniform(-0.05, 0.05, leaf.shape).astype(leaf.dtype)
    return np.full(leaf.shape, _CONSTANTS.get(name, 0), leaf.dtype)


def glorot_uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a kernel whose last two axes are inputs and outputs, and whose other axes are its window.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward networks (2010), equation 16.
    """
    window = math.prod(shape[:-2])
    limit = math.sqrt(6 / (window * (shape[-2] + shape[-1])))
    return rng.uniform(-limit, limit, shape)


def depthwise_uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a depthwise kernel [H,W,1,C] that keeps the variance of its input."""
    limit = math.sqrt(3 / math.prod(shape[:2]))
    return rng.uniform(-limit, limit, shape)


@dataclass(frozen=True)
class TruncatedNormal:
    """A normal distribution, redrawn beyond two deviations from zero, as in TensorFlow."""

    deviation: float

    def __call__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return values [shape], none larger than twice the deviation."""
        values = rng.normal(size=shape)
        while (far := abs(values) > 2).any():
            values[far] = rng.normal(size=far.sum())
        return self.deviation * values


@dataclass(frozen=True)
class Constant:
    """The same value everywhere."""

    value: float

    def __call__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return the value [shape]."""
        del rng
        return np.full(shape, self.value)
