"""NASNet-A (6 @ 4032) answering one photograph at a time.

Computes: the probability of the likeliest of 1,000 classes; batch norms are folded into their convolutions beforehand.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning"; network of
    Zoph et al., "Learning Transferable Architectures for Scalable Image Recognition" (2018), figure 4, as
    keras.applications has it.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python serve_nasnet_large.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

BATCH, EPSILON = 1, 1e-3
WARM_UP, SAMPLES, STEPS = 5, 9, 5  # requests of a sample
STEM, FILTERS, CELLS = 96, 168, 6  # cells at each of three sizes
# XLA's options (jaxlib 0.11), the fastest measured: on a CPU oneDNN's convolutions, on a GPU one CUDA graph.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    },
    "gpu": {
        "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONVOLUTION",
    },
}

Batch = dict[str, jax.Array]


class ConvNorm(nnx.Module):
    """A convolution and the batch norm after it, which uses its stored statistics."""

    def __init__(self, conv: nnx.Conv, rngs: nnx.Rngs) -> None:
        self.conv = conv
        self.norm = nnx.data(nnx.BatchNorm(conv.out_features, use_running_average=True, epsilon=EPSILON, rngs=rngs))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,C] to [N,H',W',D]."""
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)

    def fold(self) -> None:
        """Put the norm into kernel and bias of the convolution, once, as a server does when it loads a network."""
        norm, conv = self.norm, self.conv
        factor = norm.scale[...] / np.sqrt(norm.var[...] + EPSILON)
        bias = 0.0 if conv.bias is None else conv.bias[...]
        conv.kernel = nnx.Param(conv.kernel[...] * factor)
        conv.bias = nnx.Param((bias - norm.mean[...]) * factor + norm.bias[...])
        conv.use_bias, self.norm = True, None


def unit(inputs: int, features: int, rngs: nnx.Rngs) -> ConvNorm:
    """Return a 1x1 convolution without bias and its norm."""
    return ConvNorm(nnx.Conv(inputs, features, (1, 1), use_bias=False, rngs=rngs), rngs)


def depthwise(channels: int, kernel: int, stride: int, rngs: nnx.Rngs) -> nnx.Conv:
    """Return a convolution of each channel by itself."""
    size = (kernel, kernel)
    return nnx.Conv(channels, channels, size, strides=stride, feature_group_count=channels, use_bias=False, rngs=rngs)


class Separable(nnx.Module):
    """ReLU, a convolution of each channel by itself, one across them, norm; twice, the first time perhaps strided."""

    def __init__(self, inputs: int, filters: int, kernel: int, rngs: nnx.Rngs, stride: int = 1) -> None:
        self.depthwise1 = depthwise(inputs, kernel, stride, rngs)
        self.pointwise1 = unit(inputs, filters, rngs)
        self.depthwise2 = depthwise(filters, kernel, 1, rngs)
        self.pointwise2 = unit(filters, filters, rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,filters]."""
        x = self.pointwise1(self.depthwise1(nnx.relu(x)))
        return self.pointwise2(self.depthwise2(nnx.relu(x)))


class Adjust(nnx.Module):
    """Brings what the cell before was given to this cell's number of channels, and to half its size if need be."""

    def __init__(self, before: int, filters: int, halves: bool, rngs: nnx.Rngs) -> None:
        self.even = unit(before, filters // 2, rngs) if halves else None
        self.odd = unit(before, filters // 2, rngs) if halves else None
        self.project = unit(before, filters, rngs) if before != filters and not halves else None

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,before] to [N,H,W,filters], or half of H and W."""
        if self.even is not None:
            x = nnx.relu(x)
            moved = jnp.pad(x[:, 1:, 1:], ((0, 0), (0, 1), (0, 1), (0, 0)))
            # Some versions of XLA fail to fuse these slices into the products on a GPU.
            even, odd = jax.lax.optimization_barrier((x[:, ::2, ::2], moved[:, ::2, ::2]))
            return jnp.concatenate([self.even(even), self.odd(odd)], -1)
        return x if self.project is None else self.project(nnx.relu(x))


def same_mean(x: jax.Array) -> jax.Array:
    """Return the mean of each pixel and the neighbours that it has."""
    return nnx.avg_pool(x, (3, 3), (1, 1), "SAME", count_include_pad=False)


class Normal(nnx.Module):
    """The cell that keeps the size; takes what the cell before gave and what it was given."""

    def __init__(self, inputs: int, before: int, filters: int, halves: bool, rngs: nnx.Rngs) -> None:
        self.adjust = Adjust(before, filters, halves, rngs)
        self.reduce = unit(inputs, filters, rngs)
        self.left1, self.right1 = Separable(filters, filters, 5, rngs), Separable(filters, filters, 3, rngs)
        self.left2, self.right2 = Separable(filters, filters, 5, rngs), Separable(filters, filters, 3, rngs)
        self.left5 = Separable(filters, filters, 3, rngs)

    def __call__(self, x: jax.Array, before: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] and what came before it to [N,H,W,6*filters]."""
        p, h = self.adjust(before), self.reduce(nnx.relu(x))
        first = self.left1(h) + self.right1(p)
        second = self.left2(p) + self.right2(p)
        third = same_mean(h) + p
        fourth = 2 * same_mean(p)
        fifth = self.left5(h) + h
        return jnp.concatenate([p, first, second, third, fourth, fifth], -1)


class Reduction(nnx.Module):
    """The cell that halves the size; the first leaves the channels of what came before it as they are."""

    def __init__(self, inputs: int, before: int, filters: int, halves: bool, first: bool, rngs: nnx.Rngs) -> None:
        p = before if first else filters
        self.adjust = Adjust(before, p, halves, rngs)
        self.reduce = unit(inputs, filters, rngs)
        self.left1, self.right1 = Separable(filters, filters, 5, rngs, 2), Separable(p, filters, 7, rngs, 2)
        self.right2, self.right3 = Separable(p, filters, 7, rngs, 2), Separable(p, filters, 5, rngs, 2)
        self.left5 = Separable(filters, filters, 3, rngs)

    def __call__(self, x: jax.Array, before: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] and what came before it to [N,H/2,W/2,4*filters]."""
        p, h = self.adjust(before), self.reduce(nnx.relu(x))
        edge = (h.shape[1] % 2, 1)  # of zeros, as many as halving with same padding needs
        padded = jnp.pad(h, ((0, 0), edge, edge, (0, 0)))
        largest = nnx.max_pool(padded, (3, 3), (2, 2))
        first = self.left1(h) + self.right1(p)
        second = largest + self.right2(p)
        third = nnx.avg_pool(padded, (3, 3), (2, 2)) + self.right3(p)
        fourth = second + same_mean(first)
        fifth = self.left5(first) + largest
        return jnp.concatenate([second, third, fourth, fifth], -1)


class Model(nnx.Module):
    """Stem, two small reductions, normal cells at three sizes with reductions between, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        conv = nnx.Conv(3, STEM, (3, 3), strides=2, padding="VALID", use_bias=False, rngs=rngs)
        self.stem = ConvNorm(conv, rngs)
        self.cells, inputs, before, halves = nnx.List(), STEM, STEM, False
        for filters in (FILTERS // 4, FILTERS // 2):
            self.cells.append(Reduction(inputs, before, filters, halves, not self.cells, rngs))
            inputs, before, halves = 4 * filters, inputs, True
        for filters in (FILTERS, 2 * FILTERS, 4 * FILTERS):
            if filters > FILTERS:
                self.cells.append(Reduction(inputs, before, filters, halves, False, rngs))
                inputs, halves = 4 * filters, True  # what comes before it comes before the next cell too
            for _ in range(CELLS):
                self.cells.append(Normal(inputs, before, filters, halves, rngs))
                inputs, before, halves = 6 * filters, inputs, False
        self.output = nnx.Linear(inputs, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,331,331,3] to logits float32[N,1000]."""
        x = before = self.stem(x)  # N 165 165 96
        for index, cell in enumerate(self.cells):
            skipped = index > 1 and isinstance(cell, Reduction)
            x, before = cell(x, before), before if skipped else x  # by and by N 11 11 4032
        return self.output(nnx.relu(x).mean((1, 2)))  # N 1000


def inference_step(model: Model) -> Callable[..., jax.Array]:
    """Return infer(batch) -> the probability float32[] of the likeliest class; weights are constants of the program."""
    for _, unit in list(nnx.iter_modules(model)):
        if isinstance(unit, ConvNorm):
            unit.fold()

    @partial(jax.jit, compiler_options=OPTIONS.get(jax.default_backend()))
    def infer(batch: Batch) -> jax.Array:
        return jax.nn.softmax(model(batch["images"])).max(-1).mean()

    return infer


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return photographs float32[N,331,331,3] from -1 to 1."""
    images = np.random.default_rng(0).uniform(-1, 1, (examples, 331, 331, 3))
    return {"images": images.astype(np.float32)}


def seconds_per_answer(infer: Callable[..., jax.Array], batch: Batch) -> float:
    """Return the median over samples, each of many requests of which every one waits for its answer."""
    for _ in range(WARM_UP):
        infer(batch).block_until_ready()
    samples = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(STEPS):
            infer(batch).block_until_ready()
        samples.append((time.perf_counter() - start) / STEPS)
    return statistics.median(samples)


def main() -> None:
    """Print the time of an answer on JAX's default backend."""
    jax.config.update("jax_default_matmul_precision", "highest")  # full float32; without it a GPU may take TF32
    infer = inference_step(Model(nnx.Rngs(0)))
    seconds = seconds_per_answer(infer, jax.device_put(random_batch(BATCH)))
    print(f"{1e3 * seconds:.3f} ms a photograph, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
