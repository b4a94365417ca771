"""The loops of an LSTM with few kernels per position, since on a GPU each kernel costs more than its work.

A loop's turn covers many positions, whose states are concatenated once. Work that needs no loop is done for all
positions at once: before the backward loop the gates, from the saved states, and all factors made of them.
"""

import math

import jax
import jax.numpy as jnp

_BLOCK = 32  # positions of a turn


@jax.custom_vjp
def last_states(drive: jax.Array, recurrent: jax.Array, bias: jax.Array) -> jax.Array:
    """Return the states [N,K,D] of K LSTMs after the last position; odd ones read backwards.

    drive [N,T,K,4D] is the inputs' part of the gates, recurrent [K,D,4D] the previous state's, and bias [K,4D]; gates
    in the order input, forget, cell, output.
    """
    return forward(drive, recurrent, bias)[0]


def forward(drive: jax.Array, recurrent: jax.Array, bias: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    """Return the last states and their residuals: the drive [T,K,N,4D], and h and c before each position."""
    drive = turned(jnp.transpose(drive + jax.lax.broadcast_to_rank(bias, 4), (1, 2, 0, 3)))  # T K N 4D

    def turn(state: tuple[jax.Array, jax.Array], drives: jax.Array) -> tuple[tuple[jax.Array, jax.Array], tuple]:
        (h, c), seen = state, []
        for drive in drives:
            seen.append((h, c))
            i, f, g, o = gates(drive + h @ recurrent)
            c = f * c + i * g
            h = o * jnp.tanh(c)
        hs, cs = zip(*seen, strict=True)
        return (h, c), (jnp.stack(hs), jnp.stack(cs))

    start = jnp.zeros((*drive.shape[1:3], recurrent.shape[1]), drive.dtype)
    (h, _), (hs, cs) = jax.lax.scan(turn, (start, start), in_blocks(drive))
    return h.swapaxes(0, 1), (drive, hs.reshape(-1, *start.shape), cs.reshape(-1, *start.shape), recurrent)


def backward(saved: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the gradients of drive, recurrent and bias."""
    drive, hs, cs, recurrent = saved
    i, f, g, o = gates(drive + hs @ recurrent)
    t = jnp.tanh(f * cs + i * g)
    from_h = o * (1 - t * t)  # to the cell, and from there to the first three gates
    from_c = jnp.stack([g * i * (1 - i), cs * f * (1 - f), i * (1 - g * g)], 3)  # T K N 3 D
    to_output = t * o * (1 - o)
    transposed = recurrent.swapaxes(1, 2)

    def turn(state: tuple[jax.Array, jax.Array], factors: tuple) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        (dh, dc), seen = state, []
        for from_h, from_c, to_output, f in reversed(list(zip(*factors, strict=True))):
            dc = dc + dh * from_h
            first = (dc[:, :, None] * from_c).reshape(*dh.shape[:2], -1)
            now = jnp.concatenate([first, dh * to_output], axis=-1)
            dh, dc = now @ transposed, dc * f
            seen.append(now)
        return (dh, dc), jnp.stack(seen[::-1])

    factors = tuple(in_blocks(each) for each in (from_h, from_c, to_output, f))
    gradient = gradient.swapaxes(0, 1)
    _, seen = jax.lax.scan(turn, (gradient, jnp.zeros_like(gradient)), factors, reverse=True)
    seen = seen.reshape(drive.shape)
    return turned(seen).transpose(2, 0, 1, 3), jnp.einsum("tknd,tkne->kde", hs, seen), seen.sum((0, 2))


last_states.defvjp(forward, backward)


def turned(drive: jax.Array) -> jax.Array:
    """Return [T,K,N,4D] with the positions of every second LSTM reversed."""
    return jnp.stack([each[::-1] if k % 2 else each for k, each in enumerate(jnp.moveaxis(drive, 1, 0))], 1)


def gates(sums: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return the gates input, forget, cell, output from their concatenated sums."""
    i, f, g, o = jnp.split(sums, 4, axis=-1)
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)


def in_blocks(of: jax.Array) -> jax.Array:
    """Return [T,...] as [T/B,B,...]; B is the largest block that divides T."""
    return of.reshape(-1, math.gcd(len(of), _BLOCK), *of.shape[1:])
