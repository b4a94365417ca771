"""A training step of a network of four convolutions of 64 that tells cats from dogs at 128x128.

Computes: cross-entropy of 32 photographs, its gradient, and Adam.
Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python catdog_cnn_128.py
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

BATCH = 32
WARM_UP, SAMPLES, STEPS = 10, 9, 10  # steps of a sample
# XLA's options (jaxlib 0.11), the fastest measured; on a GPU a step is one CUDA graph.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    },
    "gpu": {
        "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONVOLUTION",
        "xla_gpu_command_buffer_scheduling_mode": "CONCURRENT",
        "xla_gpu_graph_enable_concurrent_region": True,
        "xla_gpu_force_conv_nchw": True,
    },
}

Batch = dict[str, jax.Array]


def max_pool(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H//2,W//2,C] of 2x2 windows: on a CPU twice as fast to train as nnx.max_pool."""
    n, h, w, c = x.shape
    return x[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


class Model(nnx.Module):
    """Four pairs of 3x3 convolution and 2x2 max pool, a hidden layer of 128, dropout 0.5, one logit."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = nnx.Conv(3, 64, (3, 3), padding="VALID", rngs=rngs)
        self.conv2 = nnx.Conv(64, 64, (3, 3), padding="VALID", rngs=rngs)
        self.conv3 = nnx.Conv(64, 64, (3, 3), padding="VALID", rngs=rngs)
        self.conv4 = nnx.Conv(64, 64, (3, 3), padding="VALID", rngs=rngs)
        self.hidden = nnx.Linear(6 * 6 * 64, 128, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.output = nnx.Linear(128, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,128,128,3] to logits float32[N]."""
        x = max_pool(nnx.relu(self.conv1(x)))  # N 63 63 64
        x = max_pool(nnx.relu(self.conv2(x)))  # N 30 30 64
        x = max_pool(nnx.relu(self.conv3(x)))  # N 14 14 64
        x = max_pool(nnx.relu(self.conv4(x)))  # N 6 6 64
        x = nnx.relu(self.hidden(x.reshape(x.shape[0], -1)))  # N 128
        x = self.dropout(x)
        return self.output(x)[:, 0]  # N


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.sigmoid_binary_cross_entropy(model(batch["images"]), batch["labels"]).mean()


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
    """Return photographs float32[N,128,128,3] from 0 to 1 and labels float32[N], 0 or 1."""
    rng = np.random.default_rng(0)
    images = rng.random((examples, 128, 128, 3), np.float32)
    labels = rng.integers(0, 2, examples).astype(np.float32)
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
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} photographs/s, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
