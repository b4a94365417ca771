"""Depthwise convolution: sums of moved pictures, or oneDNN's for large kernels on a CPU that has it."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn.compiler import has_onednn
from suite.nn.window import grown, moved, same_padding

_WIDE, _MANY = 5, 2_000_000  # kernel side, and multiplications, from which oneDNN's form pays


def depthwise(x: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    """Return [N,H/stride,W/stride,C] from x [N,H,W,C] and a square kernel [K,K,1,C], with same padding.

    XLA's own CPU form works channel by channel and takes 4 to 20 times as long as the sums; on an H100 whole networks
    take a sixth more with it. The sums fuse with what comes before and after, which pays for small kernels and
    pictures. A workload with others asks for oneDNN's kernels; without them XLA's are used.
    """
    size, multiplications = kernel.shape[0], kernel.shape[0] ** 2 * x.size // stride**2
    large = size >= _WIDE and multiplications >= _MANY and x.dtype == jnp.float32
    if not (large and jax.default_backend() == "cpu" and has_onednn()):
        return moved_sums(x, kernel, stride)
    axes, strides = ("NHWC", "HWIO", "NHWC"), (stride, stride)
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=axes, feature_group_count=x.shape[3])


@partial(jax.jit, static_argnums=2)
def moved_sums(x: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    """Return the same as a sum of moved and weighted pictures, which XLA fuses into one loop."""
    size = kernel.shape[0]
    pads = [same_padding(side, size, stride) for side in x.shape[1:3]]
    weights = [lax.broadcast_to_rank(weight, x.ndim) for weight in kernel.reshape(size * size, -1)]  # 1 1 1 C each
    return grown(jnp.add, [one * weight for one, weight in zip(moved(x, size, stride, pads), weights, strict=True)])
