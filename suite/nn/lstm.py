"""A bidirectional LSTM as Keras has it, written so that XLA runs it fast.

The products with the inputs are done for all positions before the loop, those for the gradients of kernels after it.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


def orthogonal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a matrix whose shorter side is orthonormal.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear neural networks (2013).
    """
    long, short = max(shape), min(shape)
    q, r = np.linalg.qr(rng.normal(size=(long, short)))
    q = q * np.sign(np.diag(r))
    return q if shape[0] == long else q.T


def forget_nothing(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return the biases of the gates input, forget, cell, output: 1 for the forget gate, 0 for the others."""
    del rng
    return np.repeat([0.0, 1.0, 0.0, 0.0], shape[0] // 4)


class Direction(nnx.Module):
    """The parameters of one direction; gates in the order input, forget, cell, output."""

    def __init__(self, inputs: int, features: int) -> None:
        self.kernel = nnx.Param(jnp.zeros((inputs, 4 * features)))
        self.recurrent_kernel = nnx.Param(jnp.zeros((features, 4 * features)), draw=orthogonal)
        self.bias = nnx.Param(jnp.zeros(4 * features), draw=forget_nothing)


class BidirectionalLstm(nnx.Module):
    """One LSTM reading forwards and one backwards."""

    def __init__(self, inputs: int, features: int) -> None:
        self.forward = Direction(inputs, features)
        self.backward = Direction(inputs, features)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,T,C] to the last states of both directions side by side, [N,2D]."""
        cells = (self.forward, self.backward)
        kernels, recurrent, biases = (
            [getattr(cell, name).get_value() for cell in cells] for name in ("kernel", "recurrent_kernel", "bias")
        )
        flat = x.reshape(-1, x.shape[-1])  # NT C
        drives = [(flat @ kernel).reshape(*x.shape[:-1], -1) for kernel in kernels]  # N T 4D each
        ends: Any
        if jax.default_backend() == "cpu":
            ends = [last_state(*of, way) for *of, way in zip(drives, recurrent, biases, (False, True), strict=True)]
        else:  # A GPU waits for the start of its kernels: one loop with half as many of them serves both directions.
            drives[1] = drives[1][:, ::-1]
            ends = last_state(*(jnp.stack(each) for each in (drives, recurrent, biases)), False)  # 2 N D
        return jnp.concatenate([ends[0], ends[1]], axis=1)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def last_state(drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool) -> jax.Array:
    """Return the state [...,N,D] after the last position, or after the first if it is read backwards.

    drive [...,N,T,4D] is what the inputs add to the gates, recurrent [...,D,4D] what the state before does, and bias
    [...,4D]; gates in the order input, forget, cell, output.
    """
    return through(drive, recurrent, bias, backwards)[0]


def through(
    drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool
) -> tuple[jax.Array, tuple[jax.Array, jax.Array, jax.Array]]:
    """Return the last state; and for each position the gates [...,N,T,4D] and the states h and c before it.

    The gates are written over the drive, so that no room is cleared and filled for them.
    """
    *batch, positions, width = drive.shape
    features = width // 4
    # A sigmoid is half of a tanh of the half, plus a half: all gates then are one vector.
    half, rise = (
        jnp.repeat(jnp.array(gates, drive.dtype), features) for gates in ((0.5, 0.5, 1.0, 0.5), (0.5, 0.5, 0.0, 0.5))
    )

    def step(turn: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        h, c, gates, hs, cs = state
        at = positions - 1 - turn if backwards else turn
        now, gates = taken(gates, at)
        now = half * jnp.tanh(half * (now + h @ recurrent + bias[..., None, :])) + rise
        i, f, g, o = jnp.split(now, 4, axis=-1)
        hs, cs, gates = put(hs, h, at), put(cs, c, at), put(gates, now, at)
        c = f * c + i * g
        return o * jnp.tanh(c), c, gates, hs, cs

    start, room = jnp.zeros((*batch, features), drive.dtype), jnp.zeros((*batch, positions, features), drive.dtype)
    h, _, *seen = jax.lax.fori_loop(0, positions, step, (start, start, drive, room, room), unroll=unroll())
    return h, tuple(seen)


def forward(drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool) -> tuple[jax.Array, tuple]:
    """Return the last state and what its gradient needs."""
    h, seen = through(drive, recurrent, bias, backwards)
    return h, (*seen, recurrent)


def backward(backwards: bool, saved: tuple, gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the gradients of drive, recurrent and bias; that of the drive is written over the gates."""
    gates, hs, cs, recurrent = saved
    positions, transposed = gates.shape[-2], recurrent.swapaxes(-1, -2)

    def step(turn: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        dh, dc, gates = state
        at = turn if backwards else positions - 1 - turn
        now, gates = taken(gates, at)
        i, f, g, o = jnp.split(now, 4, axis=-1)
        c = row(cs, at)
        t = jnp.tanh(f * c + i * g)
        dc = dc + dh * o * (1 - t * t)
        now = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)]
        now = jnp.concatenate(now, axis=-1)
        return now @ transposed, dc * f, put(gates, now, at)

    start = (gradient, jnp.zeros_like(gradient), gates)
    *_, drive = jax.lax.fori_loop(0, positions, step, start, unroll=unroll())
    flat_h, flat = (a.reshape(*a.shape[:-3], -1, a.shape[-1]) for a in (hs, drive))  # ... NT D and ... NT 4D
    return drive, flat_h.swapaxes(-1, -2) @ flat, flat.sum(-2)


last_state.defvjp(forward, backward)


def row(of: jax.Array, at: jax.Array) -> jax.Array:
    """Return position `at` of [...,T,D]."""
    return jax.lax.dynamic_index_in_dim(of, at, of.ndim - 2, keepdims=False)


def taken(of: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return position `at` of [...,T,D], and the whole to write on.

    The barrier ends all reading before that; otherwise XLA copies the whole at each position.
    """
    return jax.lax.optimization_barrier((row(of, at), of))


def put(into: jax.Array, what: jax.Array, at: jax.Array) -> jax.Array:
    """Return [...,T,D] with position `at` replaced."""
    return jax.lax.dynamic_update_index_in_dim(into, what, at, into.ndim - 2)


def unroll() -> int:
    """Return how many positions one turn of a loop does: on a GPU several, as each turn costs as much as a kernel."""
    return 1 if jax.default_backend() == "cpu" else 8
