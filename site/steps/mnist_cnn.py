"""A training step of two convolutions and a hidden layer on MNIST.

Computes: cross-entropy of 128 digits, its gradient, and Adadelta.
Source: option40, "ML - How much faster is a GPU?";
    network of keras-team/keras @ 4f2e65c385, examples/mnist_cnn.py.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python mnist_cnn.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import optax
from flax import nnx

BATCH = 128
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
    },
}

Batch = dict[str, jax.Array]


def max_pool(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H//2,W//2,C] of 2x2 windows: on a CPU twice as fast to train as nnx.max_pool."""
    n, h, w, c = x.shape
    return x[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


class Model(nnx.Module):
    """Two 3x3 convolutions, 2x2 max pool, dropout 0.25, a hidden layer of 128, dropout 0.5, ten logits."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = nnx.Conv(1, 32, (3, 3), padding="VALID", rngs=rngs)
        self.conv2 = nnx.Conv(32, 64, (3, 3), padding="VALID", rngs=rngs)
        self.dropout1 = nnx.Dropout(0.25, rngs=rngs)
        self.hidden = nnx.Linear(12 * 12 * 64, 128, rngs=rngs)
        self.dropout2 = nnx.Dropout(0.5, rngs=rngs)
        self.output = nnx.Linear(128, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map digits float32[N,28,28,1] to logits float32[N,10]."""
        x = nnx.relu(self.conv1(x))  # N 26 26 32
        x = max_pool(nnx.relu(self.conv2(x)))  # N 12 12 64
        x = self.dropout1(x).reshape(x.shape[0], -1)  # N 9216
        x = self.dropout2(nnx.relu(self.hidden(x)))  # N 128
        return self.output(x)  # N 10


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.softmax_cross_entropy(model(batch["images"]), batch["labels"]).mean()


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, optax.adadelta(1.0, rho=0.95, eps=1e-7), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))

    @partial(jax.jit, donate_argnums=0, compiler_options=OPTIONS.get(jax.default_backend()))
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        model, optimizer = nnx.merge(graphdef, state)
        loss, gradients = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, gradients)
        return nnx.to_pure_dict(nnx.state((model, optimizer))), loss

    return step, nnx.to_pure_dict(state)


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return digits float32[N,28,28,1] from 0 to 1 and one-hot labels float32[N,10]."""
    rng = np.random.default_rng(0)
    images = rng.random((examples, 28, 28, 1), np.float32)
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
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} digits/s, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
