"""A training step of a bidirectional LSTM over the subwords of a review.

Computes: cross-entropy of 64 reviews, its gradient, and Adam.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning";
    network of tensorflow/docs @ eff3de64d, text_classification_rnn.
Run: pip install flax optax (and "jax[cuda13]" for a GPU); python imdb_bilstm.py
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
from jax import lax

BATCH = 64
WARM_UP, SAMPLES, STEPS = 3, 5, 5  # steps of a sample

Batch = dict[str, jax.Array]


class Lstm(nnx.Module):
    """An LSTM that gives its last state; gates in the order input, forget, cell, output."""

    def __init__(self, inputs: int, features: int, rngs: nnx.Rngs) -> None:
        self.kernel = nnx.Param(nnx.initializers.glorot_uniform()(rngs.params(), (inputs, 4 * features)))
        self.recurrent_kernel = nnx.Param(nnx.initializers.orthogonal()(rngs.params(), (features, 4 * features)))
        self.bias = nnx.Param(jnp.repeat(jnp.array([0.0, 1.0, 0.0, 0.0]), features))  # forgets nothing at first

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,T,C] to [N,D]. The products with the inputs are one, before the loop."""
        recurrent = self.recurrent_kernel[...]
        drive = x @ self.kernel[...] + self.bias[...].reshape(1, 1, -1)  # N T 4D

        def position(carry: tuple[jax.Array, jax.Array], drive: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
            cell, hidden = carry
            i, f, g, o = jnp.split(drive + hidden @ recurrent, 4, axis=-1)
            cell = nnx.sigmoid(f) * cell + nnx.sigmoid(i) * jnp.tanh(g)
            return (cell, nnx.sigmoid(o) * jnp.tanh(cell)), None

        zeros = jnp.zeros((x.shape[0], recurrent.shape[0]))
        (_, hidden), _ = lax.scan(position, (zeros, zeros), drive.swapaxes(0, 1))
        return hidden


class BidirectionalLstm(nnx.Module):
    """One LSTM reading forwards and one backwards."""

    def __init__(self, inputs: int, features: int, rngs: nnx.Rngs) -> None:
        self.forward = Lstm(inputs, features, rngs)
        self.backward = Lstm(inputs, features, rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,T,C] to the last states of both directions side by side, [N,2D]."""
        return jnp.concatenate([self.forward(x), self.backward(x[:, ::-1])], axis=-1)


class Model(nnx.Module):
    """Embedding 8185x64, bidirectional LSTM 64, dense 64 with ReLU, dense 1; padding is read like any subword."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embedding = nnx.Embed(8185, 64, rngs=rngs)
        self.lstm = BidirectionalLstm(64, 64, rngs)
        self.hidden = nnx.Linear(128, 64, rngs=rngs)
        self.output = nnx.Linear(64, 1, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map subword ids int32[N,T] to logits float32[N]."""
        x = self.lstm(self.embedding(tokens))  # N 128
        x = nnx.relu(self.hidden(x))  # N 64
        return self.output(x)[:, 0]  # N


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return optax.sigmoid_binary_cross_entropy(model(batch["tokens"]), batch["labels"]).mean()


def keras_adam(learning_rate: float) -> optax.GradientTransformation:
    """Return Adam as Keras writes it: epsilon is added to the root before its bias is corrected, in optax after."""

    def epsilon(steps: jax.Array) -> jax.Array:
        return 1e-7 / jnp.sqrt(1 - 0.999 ** (steps.astype(float) + 1))

    return optax.inject_hyperparams(optax.adam, static_args=("b1", "b2"))(learning_rate, b1=0.9, b2=0.999, eps=epsilon)


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, keras_adam(1e-4), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        model, optimizer = nnx.merge(graphdef, state)
        loss, gradients = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, gradients)
        return nnx.to_pure_dict(nnx.state((model, optimizer))), loss

    return step, nnx.to_pure_dict(state)


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return ids of subwords int32[N,256] and labels float32[N], 0 or 1."""
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 8185, (examples, 256), np.int32)
    labels = rng.integers(0, 2, examples).astype(np.float32)
    return {"tokens": tokens, "labels": labels}


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
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} reviews/s, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
