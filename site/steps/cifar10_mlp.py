"""A training step of a wide network of two hidden layers on CIFAR-10.

Computes: cross-entropy of 32 pictures, its gradient, and gradient descent.
Source: "Exploring CPU vs GPU Speed in AI Training", Microsoft Community Hub, 2023.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python cifar10_mlp.py
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

BATCH = 32
WARM_UP, SAMPLES, STEPS = 10, 9, 50  # steps of a sample
# XLA's options (jaxlib 0.11), the fastest measured.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_experimental_ynn_fusion_type": (
            "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_ELTWISE,LIBRARY_FUSION_TYPE_REDUCE"
        ),
    },
}

Batch = dict[str, jax.Array]


class Model(nnx.Module):
    """3072-3000-1000-10 with ReLU."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden1 = nnx.Linear(3072, 3000, rngs=rngs)
        self.hidden2 = nnx.Linear(3000, 1000, rngs=rngs)
        self.output = nnx.Linear(1000, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map pictures float32[N,32,32,3] to logits float32[N,10]."""
        x = x.reshape(x.shape[0], -1)  # N 3072
        x = nnx.relu(self.hidden1(x))  # N 3000
        x = nnx.relu(self.hidden2(x))  # N 1000
        return self.output(x)  # N 10


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.softmax_cross_entropy(model(batch["images"]), batch["labels"]).mean()


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, optax.sgd(0.01), wrt=nnx.Param)
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
