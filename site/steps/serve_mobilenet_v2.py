"""MobileNetV2 answering one photograph at a time.

Computes: the probability of the likeliest of 1,000 classes; batch norms are folded into their convolutions beforehand.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning"; network of
    Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), as keras.applications has it.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python serve_mobilenet_v2.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from flax import nnx

BATCH = 1
EPSILON = 1e-3
WARM_UP, SAMPLES, STEPS = 5, 9, 20  # requests of a sample
STEM, LAST = 32, 1280
# Expansion, channels, repeats, stride of the first.
ROWS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
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


def unit(inputs: int, features: int, kernel: int, stride: int, groups: int, rngs: nnx.Rngs) -> ConvNorm:
    """Return a convolution without bias and its norm; with a group for each channel it is depthwise."""
    size = (kernel, kernel)
    conv = nnx.Conv(inputs, features, size, strides=stride, feature_group_count=groups, use_bias=False, rngs=rngs)
    return ConvNorm(conv, rngs)


class InvertedResidual(nnx.Module):
    """1x1 that widens, 3x3 of each channel, 1x1 that narrows; a shortcut where the shape stays."""

    def __init__(self, inputs: int, expansion: int, outputs: int, stride: int, rngs: nnx.Rngs) -> None:
        wide = expansion * inputs
        self.expand = unit(inputs, wide, 1, 1, 1, rngs) if expansion > 1 else None
        self.depthwise = unit(wide, wide, 3, stride, wide, rngs)
        self.project = unit(wide, outputs, 1, 1, 1, rngs)
        self.keeps_shape = inputs == outputs and stride == 1

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,outputs]."""
        y = x if self.expand is None else nnx.relu6(self.expand(x))
        y = self.project(nnx.relu6(self.depthwise(y)))
        return x + y if self.keeps_shape else y


class Model(nnx.Module):
    """Stem, 17 inverted residuals, 1x1 convolution to 1280, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.stem = unit(3, STEM, 3, 2, 1, rngs)
        self.blocks, inputs = nnx.List(), STEM
        for expansion, outputs, repeats, first in ROWS:
            for index in range(repeats):
                self.blocks.append(InvertedResidual(inputs, expansion, outputs, 1 if index else first, rngs))
                inputs = outputs
        self.last = unit(inputs, LAST, 1, 1, 1, rngs)
        self.output = nnx.Linear(LAST, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,224,224,3] to logits float32[N,1000]."""
        x = nnx.relu6(self.stem(x))  # N 112 112 32
        for block in self.blocks:
            x = block(x)  # N 112 112 16, and by and by N 7 7 320
        x = nnx.relu6(self.last(x))  # N 7 7 1280
        return self.output(x.mean((1, 2)))  # N 1000


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
    """Return photographs float32[N,224,224,3] from -1 to 1."""
    images = np.random.default_rng(0).uniform(-1, 1, (examples, 224, 224, 3))
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
