"""A training step of the network of TensorFlow's CIFAR-10 tutorial.

Computes: cross-entropy of 512 crops and the decay of two layers' weights, the gradient, gradient descent, and the
    moving average of all parameters.
Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks";
    network of tensorflow/models, tutorials/image/cifar10 @ a2c785e.
Run: pip install "jax>=0.11" flax optax ("jax[cuda13]" for a GPU); python cifar10_tf_cnn.py
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

BATCH = 512
WARM_UP, SAMPLES, STEPS = 3, 5, 3  # steps of a sample
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

STEPS_PER_STAIR = 350 * 50_000 // BATCH  # of 350 epochs, after which the learning rate falls


class Model(nnx.Module):
    """Two 5x5 convolutions of 64 with pool and normalisation, hidden layers of 384 and 192, ten logits."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = nnx.Conv(3, 64, (5, 5), rngs=rngs)
        self.conv2 = nnx.Conv(64, 64, (5, 5), rngs=rngs)
        self.local3 = nnx.Linear(6 * 6 * 64, 384, rngs=rngs)
        self.local4 = nnx.Linear(384, 192, rngs=rngs)
        self.softmax_linear = nnx.Linear(192, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map crops float32[N,24,24,3] to logits float32[N,10]."""
        x = nnx.max_pool(nnx.relu(self.conv1(x)), (3, 3), (2, 2), "SAME")  # N 12 12 64
        x = local_response_norm(nnx.relu(self.conv2(local_response_norm(x))))  # N 12 12 64
        x = nnx.max_pool(x, (3, 3), (2, 2), "SAME")  # N 6 6 64
        x = nnx.relu(self.local3(x.reshape(x.shape[0], -1)))  # N 384
        x = nnx.relu(self.local4(x))  # N 192
        return self.softmax_linear(x)  # N 10


def local_response_norm(x: jax.Array) -> jax.Array:
    """Return x [N,H,W,C] over a power of one plus the sum of squares of the nine nearest channels."""
    squares = lax.reduce_window(x * x, 0.0, lax.add, (1, 1, 1, 9), (1, 1, 1, 1), "SAME")
    return x * (1 + 0.001 / 9 * squares) ** -0.75


def loss_fn(model: Model, batch: Batch) -> jax.Array:
    """Return the mean cross-entropy of a batch and half the decayed squares of both hidden layers' weights."""
    squares = sum(jnp.square(layer.kernel[...]).sum() for layer in (model.local3, model.local4))
    return optax.softmax_cross_entropy(model(batch["images"]), batch["labels"]).mean() + 0.004 * 0.5 * squares


def training_step(model: Model) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: model, optimizer, moving average.

    The step takes its state over: the new one is written into the memory of the old.
    """
    rate = optax.exponential_decay(0.1, STEPS_PER_STAIR, 0.1, staircase=True)
    optimizer = nnx.Optimizer(model, optax.sgd(rate), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer, nnx.clone(model)))
    state = jax.tree.map(jnp.copy, state)  # a donated array may not be there twice

    @partial(jax.jit, donate_argnums=0, compiler_options=OPTIONS.get(jax.default_backend()))
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        model, optimizer, average = nnx.merge(graphdef, state)
        loss, gradients = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, gradients)
        steps = optimizer.step[...].astype(float)
        decay = jnp.minimum(0.9999, (1 + steps) / (10 + steps))
        moved = optax.incremental_update(nnx.state(model, nnx.Param), nnx.state(average, nnx.Param), 1 - decay)
        nnx.update(average, moved)
        return nnx.to_pure_dict(nnx.state((model, optimizer, average))), loss

    return step, nnx.to_pure_dict(state)


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return crops float32[N,24,24,3] of mean 0 and deviation 1, and one-hot labels float32[N,10]."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((examples, 24, 24, 3), np.float32)
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
    print(f"{1e3 * seconds:.3f} ms a step, {BATCH / seconds:,.0f} crops/s, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
