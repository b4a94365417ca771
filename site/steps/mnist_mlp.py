"""A training step of two hidden layers of 512 on MNIST.

Computes: cross-entropy of 128 digits, its gradient, and RMSprop.
Source: option40, "ML - How much faster is a GPU?";
    network of keras-team/keras @ 4f2e65c385, examples/mnist_mlp.py.
Run: pip install flax optax (and "jax[cuda13]" for a GPU); python mnist_mlp.py
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
WARM_UP, SAMPLES, STEPS = 10, 9, 100  # steps of a sample

Batch = dict[str, jax.Array]


class Model(nnx.Module):
    """784-512-512-10 with ReLU and dropout 0.2 after each hidden layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden1 = nnx.Linear(784, 512, rngs=rngs)
        self.hidden2 = nnx.Linear(512, 512, rngs=rngs)
        self.output = nnx.Linear(512, 10, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map digits float32[N,28,28,1] to logits float32[N,10]."""
        x = x.reshape(x.shape[0], -1)  # N 784
        x = self.dropout(nnx.relu(self.hidden1(x)))  # N 512
        x = self.dropout(nnx.relu(self.hidden2(x)))  # N 512
        return self.output(x)  # N 10


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.softmax_cross_entropy(model(batch["images"]), batch["labels"]).mean()


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, optax.rmsprop(1e-3, decay=0.9, eps=1e-7, eps_in_sqrt=False), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))

    @partial(jax.jit, donate_argnums=0)
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
