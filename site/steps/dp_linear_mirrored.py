"""A training step of one weight and one bias, the same on every device: the smallest data-parallel model.

Computes: mean squared error of 64 points, split over all devices, its gradient, and gradient descent.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning";
    loss and optimizer after TensorFlow's guide "Use a GPU".
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python dp_linear_mirrored.py
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
from jax.sharding import Mesh, NamedSharding, PartitionSpec

BATCH = 64
WARM_UP, SAMPLES, STEPS = 10, 9, 200  # steps of a sample
# XLA's options (jaxlib 0.11), the fastest measured.
OPTIONS: dict[str, dict[str, str | bool]] = {
    "cpu": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    },
}

Batch = dict[str, jax.Array]


class Model(nnx.Module):
    """One dense unit on one number."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.output = nnx.Linear(1, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map numbers float32[N,1] to numbers float32[N]."""
        return self.output(x)[:, 0]  # N


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean squared error of a batch."""
    return jnp.mean(jnp.square(model(batch["inputs"]) - batch["labels"]))


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: arrays of the model and the optimizer.

    The step takes its state over: the new one is written into the memory of the old.
    """
    optimizer = nnx.Optimizer(model, optax.sgd(0.2), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))

    @partial(jax.jit, donate_argnums=0, compiler_options=OPTIONS.get(jax.default_backend()))
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        model, optimizer = nnx.merge(graphdef, state)
        loss, gradients = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, gradients)
        return nnx.to_pure_dict(nnx.state((model, optimizer))), loss

    return step, nnx.to_pure_dict(state)


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return inputs float32[N,1] and labels float32[N], points on a line."""
    inputs = np.random.default_rng(0).standard_normal((examples, 1), np.float32)
    return {"inputs": inputs, "labels": 3 * inputs[:, 0] + 2}


def shardings() -> tuple[NamedSharding, NamedSharding]:
    """Return where a state goes, whole to every device, and a batch, in equal parts; XLA adds the sum of gradients."""
    mesh = Mesh(jax.devices(), ("data",))
    return NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))


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
    everywhere, parts = shardings()
    state, batch = jax.device_put(state, everywhere), jax.device_put(random_batch(BATCH), parts)
    seconds = seconds_per_step(step, state, batch)
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} points/s, on {jax.device_count()} devices")


if __name__ == "__main__":
    main()
