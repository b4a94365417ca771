"""ResNet-50 answering one photograph at a time.

Computes: the probability of the likeliest of 1,000 classes; batch norms are folded into their convolutions beforehand.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning"; network of
    He et al., "Deep Residual Learning for Image Recognition" (2015), as keras.applications has it.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python serve_resnet50.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from flax import nnx

BATCH = 1
EPSILON = 1.001e-5
WARM_UP, SAMPLES, STEPS = 5, 9, 10  # requests of a sample
BLOCKS, WIDTHS = (3, 4, 6, 3), (64, 128, 256, 512)
# XLA's options (jaxlib 0.11), the fastest measured; on a GPU a step is one CUDA graph.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        "xla_cpu_experimental_ynn_fusion_type": "",
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


def unit(inputs: int, features: int, kernel: int, stride: int, rngs: nnx.Rngs) -> ConvNorm:
    """Return a convolution with bias, padded by half its kernel, and its norm."""
    padding = [(kernel // 2, kernel // 2)] * 2
    return ConvNorm(nnx.Conv(inputs, features, (kernel, kernel), strides=stride, padding=padding, rngs=rngs), rngs)


class Bottleneck(nnx.Module):
    """1x1, which may be strided, 3x3 and 1x1 to four times the width, beside a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int, rngs: nnx.Rngs) -> None:
        self.shortcut = unit(inputs, 4 * width, 1, stride, rngs) if inputs != 4 * width else None
        self.reduce = unit(inputs, width, 1, stride, rngs)
        self.middle = unit(width, width, 3, 1, rngs)
        self.expand = unit(width, 4 * width, 1, 1, rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,4*width]."""
        shortcut = x if self.shortcut is None else self.shortcut(x)
        x = nnx.relu(self.middle(nnx.relu(self.reduce(x))))
        return nnx.relu(shortcut + self.expand(x))


class Model(nnx.Module):
    """Stem, four stages of bottlenecks, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.stem = unit(3, WIDTHS[0], 7, 2, rngs)
        self.blocks, inputs = nnx.List(), WIDTHS[0]
        for stage, (width, count) in enumerate(zip(WIDTHS, BLOCKS, strict=True)):
            for index in range(count):
                self.blocks.append(Bottleneck(inputs, width, 2 if stage and not index else 1, rngs))
                inputs = 4 * width
        self.output = nnx.Linear(inputs, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,224,224,3] to logits float32[N,1000]."""
        x = nnx.relu(self.stem(x))  # N 112 112 64
        x = nnx.max_pool(x, (3, 3), (2, 2), ((1, 1), (1, 1)))  # N 56 56 64
        for block in self.blocks:
            x = block(x)  # N 56 56 256, then N 28 28 512, then N 14 14 1024, then N 7 7 2048
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
