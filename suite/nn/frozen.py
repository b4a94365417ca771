"""Convolutions for inference: batch norm by stored statistics, which folds into the kernel."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from suite.nn.depthwise import depthwise
from suite.nn.dtypes import alike, wide
from suite.nn.elementwise import affine
from suite.nn.initial import depthwise_uniform

Padding = str | Sequence[tuple[int, int]]


class Norm(nnx.Module):
    """Batch normalisation by the moving statistics."""

    def __init__(self, features: int, epsilon: float) -> None:
        self.scale = nnx.Param(jnp.ones(features))
        self.bias = nnx.Param(jnp.zeros(features))
        self.mean = nnx.BatchStat(jnp.zeros(features))
        self.var = nnx.BatchStat(jnp.ones(features))
        self.epsilon = epsilon

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalise x [...,C], in at least float32."""
        dtype = wide(x.dtype)
        scale, bias, mean, var = (v.get_value().astype(dtype) for v in (self.scale, self.bias, self.mean, self.var))
        factor = scale * lax.rsqrt(var + self.epsilon)
        return affine(x, factor, bias - mean * factor)


class Conv(nnx.Module):
    """A square convolution, with or without bias."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, padding: Padding = "SAME", bias: bool = False
    ) -> None:
        self.kernel: nnx.Param[Any] = nnx.Param(jnp.zeros((kernel, kernel, inputs, outputs)))
        self.bias: nnx.Param[Any] | None = nnx.data(nnx.Param(jnp.zeros(outputs)) if bias else None)
        self.stride, self.padding = stride, padding

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H',W',outputs]."""
        x = self.convolved(*alike(x, self.kernel.get_value()))
        return x if self.bias is None else x + lax.broadcast_to_rank(self.bias.get_value().astype(x.dtype), x.ndim)

    def convolved(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        """Return the convolution without bias; a 1x1 one is a matrix product, faster than cuDNN's convolution."""
        if kernel.shape[:2] == (1, 1) and self.stride == 1:
            return x @ kernel[0, 0]
        strides, axes = (self.stride, self.stride), ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, kernel, strides, self.padding, dimension_numbers=axes)


class Depthwise(Conv):
    """A square depthwise convolution with same padding."""

    def __init__(self, channels: int, kernel: int, stride: int = 1) -> None:
        super().__init__(1, channels, kernel, stride)
        self.kernel = nnx.Param(self.kernel.get_value(), draw=depthwise_uniform)

    def convolved(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        """Return the convolution without bias."""
        return depthwise(x, kernel, self.stride)


class ConvNorm(nnx.Module):
    """A convolution with a batch norm."""

    def __init__(self, conv: Conv, epsilon: float) -> None:
        self.conv = conv
        self.norm = nnx.data(Norm(conv.kernel.get_value().shape[-1], epsilon))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,C] to [N,H',W',D]."""
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)

    def fold(self) -> None:
        """Fold the norm into the convolution's kernel and bias."""
        assert self.norm is not None
        norm, conv = self.norm, self.conv
        scale, offset, mean, var = (_wide(v) for v in (norm.scale, norm.bias, norm.mean, norm.var))
        factor = scale / np.sqrt(var + norm.epsilon)
        bias = 0.0 if conv.bias is None else _wide(conv.bias)
        dtype = conv.kernel.get_value().dtype
        kernel: Any = nnx.Param((_wide(conv.kernel) * factor).astype(dtype))  # NumPy arrays: nothing is compiled
        offsets: Any = nnx.Param(((bias - mean) * factor + offset).astype(dtype))
        conv.kernel, conv.bias = kernel, offsets
        self.norm = None


def folded(model: Any) -> Any:
    """Return the model with its norms folded, as a server does once on loading; NumPy only."""
    for _, module in list(nnx.iter_modules(model)):
        if isinstance(module, ConvNorm):
            module.fold()
    return model


def _wide(variable: nnx.Variable) -> np.ndarray:
    return np.asarray(variable.get_value(), np.float64)
