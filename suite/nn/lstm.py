"""A bidirectional LSTM as in Keras, written so that XLA runs it fast.

Products with the inputs are computed for all positions before the loop, kernel gradients after it.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.nn import lstm_gpu
from suite.nn.lstm_cpu import last_state


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
    """One direction's parameters; gates in the order input, forget, cell, output."""

    def __init__(self, inputs: int, features: int) -> None:
        self.kernel = nnx.Param(jnp.zeros((inputs, 4 * features)))
        self.recurrent_kernel = nnx.Param(jnp.zeros((features, 4 * features)), draw=orthogonal)
        self.bias = nnx.Param(jnp.zeros(4 * features), draw=forget_nothing)


class BidirectionalLstm(nnx.Module):
    """One LSTM forwards and one backwards."""

    def __init__(self, inputs: int, features: int) -> None:
        self.forward = Direction(inputs, features)
        self.backward = Direction(inputs, features)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,T,C] to the concatenated last states of both directions, [N,2D]."""
        cells = (self.forward, self.backward)
        kernels, recurrent, biases = (
            [getattr(cell, name).get_value() for cell in cells] for name in ("kernel", "recurrent_kernel", "bias")
        )
        flat = x.reshape(-1, x.shape[-1])  # NT C
        if jax.default_backend() == "cpu":
            drives = [(flat @ kernel).reshape(*x.shape[:-1], -1) for kernel in kernels]  # N T 4D each
            of = zip(drives, recurrent, biases, (False, True), strict=True)
            return jnp.concatenate([last_state(*each) for each in of], axis=1)
        drive = (flat @ jnp.concatenate(kernels, axis=1)).reshape(*x.shape[:-1], len(cells), -1)  # N T 2 4D
        return states_on_gpu(drive)(drive, jnp.stack(recurrent), jnp.stack(biases)).reshape(len(x), -1)


def states_on_gpu(drive: jax.Array) -> Callable[..., jax.Array]:
    """Return the GPU function for all directions of this drive [N,T,K,4D]: one kernel per pass, or loops.

    The kernels use Pallas, whose API changes: `nox -s kernels` compiles them with another jax. They ran on Hopper GPUs
    only.
    """
    hopper = getattr(jax.devices()[0], "compute_capability", "").startswith("9.")
    known = (0, 11) <= jax.__version_info__ < (0, 13)
    if not hopper or not known or drive.dtype not in (jnp.float32, jnp.bfloat16):
        return lstm_gpu.last_states
    from suite.nn import lstm_kernels  # not at the top: jax 0.10 cannot import it

    return lstm_kernels.last_states if drive.shape[-1] == lstm_kernels.WIDTH else lstm_gpu.last_states
