"""A training step of a residual network of 63 convolutions on CIFAR-10.

Computes: cross-entropy of 64 pictures, its gradient, the moving statistics of the batch norms, and Adam.
Source: Hide Inada, "What's the speed difference between running an ML job on GPU vs CPU?".
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python cifar10_resnet63.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

BATCH = 64
WARM_UP, SAMPLES, STEPS = 3, 5, 3  # steps of a sample
BLOCKS_PER_STAGE, WIDTHS = 10, (64, 128, 256)
# XLA's options (jaxlib 0.11), the fastest measured; on a GPU a step is one CUDA graph.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    },
    "gpu": {
        "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONVOLUTION",
        "xla_gpu_force_conv_nchw": True,
    },
}

Batch = dict[str, jax.Array]


class Unit(nnx.Module):
    """A convolution and the batch norm after it."""

    def __init__(self, inputs: int, features: int, kernel: int, stride: int, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(inputs, features, (kernel, kernel), strides=stride, rngs=rngs)
        self.norm = nnx.BatchNorm(features, momentum=0.99, epsilon=1e-3, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,features]."""
        return self.norm(self.conv(x))


class Block(nnx.Module):
    """Two 3x3 units and a shortcut, which is a strided 1x1 unit where the block halves the picture."""

    def __init__(self, inputs: int, features: int, rngs: nnx.Rngs) -> None:
        stride = 1 if inputs == features else 2
        self.unit1 = Unit(inputs, features, 3, stride, rngs)
        self.unit2 = Unit(features, features, 3, 1, rngs)
        self.shortcut = Unit(inputs, features, 1, 2, rngs) if stride == 2 else None

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H,W,features], or half of H and W where inputs and features differ."""
        shortcut = x if self.shortcut is None else self.shortcut(x)
        return nnx.relu(self.unit2(nnx.relu(self.unit1(x))) + shortcut)


class Model(nnx.Module):
    """Stem, three stages of residual blocks, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.stem = Unit(3, WIDTHS[0], 3, 1, rngs)
        self.blocks, inputs = nnx.List(), WIDTHS[0]
        for width in WIDTHS:
            for _ in range(BLOCKS_PER_STAGE):
                self.blocks.append(Block(inputs, width, rngs))
                inputs = width
        self.output = nnx.Linear(inputs, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map pictures float32[N,32,32,3] to logits float32[N,10]."""
        x = nnx.relu(self.stem(x))  # N 32 32 64
        for block in self.blocks:
            x = block(x)  # N 32 32 64, then N 16 16 128, then N 8 8 256
        return self.output(x.mean((1, 2)))  # N 10


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.softmax_cross_entropy(model(batch["images"]), batch["labels"]).mean()


def keras_adam(learning_rate: float) -> optax.GradientTransformation:
    """Return Adam as Keras writes it: epsilon is added to the root before its bias is corrected, in optax after."""

    def epsilon(steps: jax.Array) -> jax.Array:
        return 1e-7 / jnp.sqrt(1 - 0.999 ** (steps.astype(float) + 1))

    return optax.inject_hyperparams(optax.adam, static_args=("b1", "b2"))(learning_rate, b1=0.9, b2=0.999, eps=epsilon)


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, keras_adam(1e-3), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))

    @partial(jax.jit, donate_argnums=0, compiler_options=OPTIONS.get(jax.default_backend()))
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        model, optimizer = nnx.merge(graphdef, state)
        loss, gradients = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, gradients)
        return nnx.to_pure_dict(nnx.state((model, optimizer))), loss

    return step, nnx.to_pure_dict(state)


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return pictures float32[N,32,32,3] from 0 to 1 and one-hot labels float32[N,10]."""
    rng = np.random.default_rng(0)
    images = rng.random((examples, 32, 32, 3), np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, examples)]
    return {"images": images, "labels": labels}


def seconds_per_step(step: Callable[..., Any], state: Any, batch: Batch) -> float:
    """Return the median over samples, each of many steps between two waits for all that they compute."""
    for _ in range(WARM_UP):
        state, loss = step(state, batch)
    jax.block_until_ready(state)
    samples = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(STEPS):
            state, loss = step(state, batch)
        jax.block_until_ready((state, loss))
        samples.append((time.perf_counter() - start) / STEPS)
    return statistics.median(samples)


def main() -> None:
    """Print the time of a step on JAX's default backend."""
    jax.config.update("jax_default_matmul_precision", "highest")  # full float32; without it a GPU may take TF32
    step, state = training_step(Model(nnx.Rngs(0)))
    seconds = seconds_per_step(step, state, jax.device_put(random_batch(BATCH)))
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} pictures/s, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
