"""A round of gradient boosting: one tree of depth 8 on a table of 45 columns, grown level by level from histograms.

Computes: gradients of the weighted squared error, the sums of them in each of 256 bins of each column for each node of
    a level, the best split of each node by XGBoost's gain, and the margins after the tree.
Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning";
    its sample Azure/MachineLearningNotebooks @ 4588011, contrib/RAPIDS; gain after Chen and Guestrin, XGBoost (2016).
Run: pip install jax ("jax[cuda13]" for a GPU); python gbdt_mortgage.py
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BATCH = 400_000  # rows of the table
COLUMNS, BINS, DEPTH, ROUNDS = 45, 256, 8, 100
RATE, LEAST_GAIN, L1, L2, LEAST_HESSIAN = 0.1, 0.1, 0.9, 1.0, 30.0
POSITIVE_WEIGHT, START = 2.0, 0.5  # of a row with label 1; of every margin
WARM_UP, SAMPLES, STEPS = 2, 5, 2  # rounds of a sample

Batch = dict[str, jax.Array]


def shrunk(gradients: jax.Array) -> jax.Array:
    """Return sums of gradients, nearer to 0 by the L1 penalty."""
    return jnp.sign(gradients) * jnp.maximum(jnp.abs(gradients) - L1, 0)


def score(gradients: jax.Array, hessians: jax.Array) -> jax.Array:
    """Return by how much the objective falls, doubled, when rows with these sums get their best weight."""
    return shrunk(gradients) ** 2 / (hessians + L2)


def histograms(bins: jax.Array, node: jax.Array, values: jax.Array, nodes: int) -> jax.Array:
    """Return the sums float32[C,K,256,2] of values float32[N,2] by column, node and bin, of bins uint8[C,N]."""

    def of_column(column: jax.Array) -> jax.Array:
        place = node * BINS + column.astype(jnp.int32)
        return jax.ops.segment_sum(values, place, nodes * BINS).reshape(nodes, BINS, 2)

    return jax.lax.map(of_column, bins)


def best_splits(sums: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return each node's column and last bin to the left int32[K]; the last of all where no split is worth it."""
    left = jnp.cumsum(sums, 2)  # C K 256 2
    whole = left[:, :, -1:]
    right = whole - left
    gain = score(left[..., 0], left[..., 1]) + score(right[..., 0], right[..., 1])
    gain -= score(whole[..., 0], whole[..., 1])
    enough = jnp.minimum(left[..., 1], right[..., 1]) >= LEAST_HESSIAN
    gain = jnp.where(enough & (gain >= LEAST_GAIN), gain, 0).swapaxes(0, 1).reshape(sums.shape[1], -1)  # K C*256
    best = jnp.argmax(gain, 1).astype(jnp.int32)
    found = gain.max(1) > 0
    return jnp.where(found, best // BINS, 0), jnp.where(found, best % BINS, BINS - 1)


def boosting_step(rows: int) -> tuple[Callable[..., Any], Any]:
    """Return step(state, batch) -> (state, loss), and the state it starts from: margins, the forest, the round.

    The step takes its state over: the new one is written into the memory of the old. The loss is that before the round.
    """

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, batch: Batch) -> tuple[Any, jax.Array]:
        margins, forest, turn = state
        bins, labels = batch["bins"], batch["labels"]
        weights = jnp.where(labels > 0, POSITIVE_WEIGHT, 1.0)
        errors = margins - labels
        values = jnp.stack([weights * errors, weights], 1)  # gradient and hessian of each row
        node = jnp.zeros(labels.shape, jnp.int32)
        columns, thresholds = [], []
        for level in range(DEPTH):
            column, threshold = best_splits(histograms(bins, node, values, 2**level))
            there = bins[column[node], jnp.arange(labels.size)].astype(jnp.int32)
            node = 2 * node + (there > threshold[node])
            columns.append(column)
            thresholds.append(threshold)
        sums = jax.ops.segment_sum(values, node, 2**DEPTH)
        leaves = -RATE * shrunk(sums[:, 0]) / (sums[:, 1] + L2)
        tree = jnp.concatenate(columns), jnp.concatenate(thresholds), leaves
        forest = jax.tree.map(lambda trees, new: trees.at[turn].set(new), forest, tree)
        return (margins + leaves[node], forest, turn + 1), jnp.mean(weights * errors**2)

    splits = np.zeros((ROUNDS, 2**DEPTH - 1), np.int32)
    forest = splits, splits, np.zeros((ROUNDS, 2**DEPTH), np.float32)
    return step, (np.full(rows, START, np.float32), forest, np.int32(0))


def random_batch(examples: int) -> dict[str, np.ndarray]:
    """Return bins uint8[C,N] and labels float32[N], of which about an eighth is 1."""
    rng = np.random.default_rng(0)
    bins = rng.integers(0, BINS, (COLUMNS, examples), np.uint8)
    labels = bins[:4].astype(np.float32).mean(0) + rng.normal(0, 30, examples) > 180
    return {"bins": bins, "labels": labels.astype(np.float32)}


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
    """Print the time of a round on JAX's default backend."""
    step, state = boosting_step(BATCH)
    seconds = seconds_per_step(step, jax.device_put(state), jax.device_put(random_batch(BATCH)))
    print(f"{1e3 * seconds:.1f} ms a round of {BATCH:,} rows, on {jax.devices()[0].device_kind}")


if __name__ == "__main__":
    main()
