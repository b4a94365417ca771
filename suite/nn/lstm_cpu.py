"""The loops of an LSTM in a form that XLA runs fast on a CPU: little is kept, nothing copied or cleared."""

from functools import partial

import jax
import jax.numpy as jnp

from suite.nn.elementwise import affine

_OVERWRITES = jax.__version_info__ >= (0, 11)  # jaxlib 0.10 copies the array at each position instead


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def last_state(drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool) -> jax.Array:
    """Return the state [N,D] after the last position, or after the first if read backwards.

    drive [N,T,4D] is the inputs' part of the gates, recurrent [D,4D] the previous state's, and bias [4D]; gates in the
    order input, forget, cell, output.
    """
    return through(drive, recurrent, bias, backwards)[0]


def through(
    drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool
) -> tuple[jax.Array, tuple[jax.Array, jax.Array, jax.Array]]:
    """Return the last state, and for each position the gates [N,T,4D] and the states h and c before it.

    The gates overwrite the drive, so no memory is cleared and loaded for them.
    """
    *batch, positions, width = drive.shape
    features = width // 4
    # A sigmoid is half of a tanh of the half, plus a half: all gates are then one vector.
    half, rise = (
        jnp.repeat(jnp.array(gates, drive.dtype), features) for gates in ((0.5, 0.5, 1.0, 0.5), (0.5, 0.5, 0.0, 0.5))
    )

    def step(turn: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        h, c, gates, hs, cs = state
        at = positions - 1 - turn if backwards else turn
        now, gates = taken(gates, at)
        now = now + h @ recurrent + bias[..., None, :]
        now = affine(jnp.tanh(jax.lax.broadcast_to_rank(half, now.ndim) * now), half, rise)
        i, f, g, o = jnp.split(now, 4, axis=-1)
        hs, cs, gates = put(hs, h, at), put(cs, c, at), put(gates, now, at)
        c = f * c + i * g
        return o * jnp.tanh(c), c, gates, hs, cs

    start, room = jnp.zeros((*batch, features), drive.dtype), jnp.zeros((*batch, positions, features), drive.dtype)
    h, _, *seen = jax.lax.fori_loop(0, positions, step, (start, start, drive, room, room))
    return h, tuple(seen)


def forward(drive: jax.Array, recurrent: jax.Array, bias: jax.Array, backwards: bool) -> tuple[jax.Array, tuple]:
    """Return the last state and what its gradient needs."""
    h, seen = through(drive, recurrent, bias, backwards)
    return h, (*seen, recurrent)


def backward(backwards: bool, saved: tuple, gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the gradients of drive, recurrent and bias.

    The drive's gradient overwrites the gates if XLA can, so no memory is cleared and loaded for it.
    """
    gates, hs, cs, recurrent = saved
    positions, transposed = gates.shape[-2], recurrent.swapaxes(-1, -2)

    def step(turn: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        dh, dc, drive = state
        at = turn if backwards else positions - 1 - turn
        here, drive = taken(drive, at) if _OVERWRITES else (row(gates, at), drive)
        i, f, g, o = jnp.split(here, 4, axis=-1)
        c = row(cs, at)
        t = jnp.tanh(f * c + i * g)
        dc = dc + dh * o * (1 - t * t)
        now = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)]
        now = jnp.concatenate(now, axis=-1)
        return now @ transposed, dc * f, put(drive, now, at)

    start = (gradient, jnp.zeros_like(gradient), gates if _OVERWRITES else jnp.zeros_like(gates))
    *_, drive = jax.lax.fori_loop(0, positions, step, start)
    flat_h, flat = (a.reshape(*a.shape[:-3], -1, a.shape[-1]) for a in (hs, drive))  # ... NT D and ... NT 4D
    return drive, flat_h.swapaxes(-1, -2) @ flat, flat.sum(-2)


last_state.defvjp(forward, backward)


def row(of: jax.Array, at: jax.Array) -> jax.Array:
    """Return position `at` of [...,T,D]."""
    return jax.lax.dynamic_index_in_dim(of, at, of.ndim - 2, keepdims=False)


def taken(of: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return position `at` of [...,T,D], and the array to write into.

    The barrier ends all earlier reads; otherwise XLA copies the array at each position.
    """
    return jax.lax.optimization_barrier((row(of, at), of))


def put(into: jax.Array, what: jax.Array, at: jax.Array) -> jax.Array:
    """Return [...,T,D] with position `at` replaced."""
    return jax.lax.dynamic_update_index_in_dim(into, what, at, into.ndim - 2)
