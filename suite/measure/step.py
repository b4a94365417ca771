"""What is timed, as pure functions: one training step, or one inference that the next one depends on."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from suite.workload import Precision, Workload

Step = Callable[[Any, dict[str, jax.Array]], tuple[Any, jax.Array]]


def training_step(
    workload: Workload, graph: nnx.GraphDef, optimizer: optax.GradientTransformation, precision: Precision
) -> Step:
    """Return step(state, batch) -> (state, loss), pure; state is (params, rest, optimizer state)."""

    def step(state: tuple, batch: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        params, rest, moments = state

        def objective(params: nnx.State) -> tuple[jax.Array, nnx.State]:
            model = nnx.merge(graph, cast(params, precision), fresh(rest))
            loss = workload.loss(model, cast(batch, precision))
            return loss, nnx.state(model, nnx.Not(nnx.Param))

        (loss, rest), gradients = jax.value_and_grad(objective, has_aux=True)(params)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), rest, moments), loss

    return step


def inference_step(workload: Workload, graph: nnx.GraphDef, precision: Precision) -> Step:
    """Return step(state, batch) -> (state, scalar), pure; state is (params, rest, (last scalar, zero)).

    The last scalar times a zero that only the run time knows is added to the input, so that no step can start before
    the one before it has ended.
    """

    def step(state: tuple, batch: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        params, rest, (last, zero) = state
        nothing = last * zero
        batch = {
            name: array + nothing.astype(array.dtype) if jnp.issubdtype(array.dtype, jnp.floating) else array
            for name, array in batch.items()
        }
        model = nnx.merge(graph, cast(params, precision), fresh(rest))
        out = workload.loss(model, cast(batch, precision))
        return (params, rest, (out, zero)), out

    return step


def fresh(state: nnx.State) -> nnx.State:
    """Return the same values as new variables: NNX lets variables change only where they were made."""
    return jax.tree.map(lambda leaf: leaf, state)


def cast(tree: Any, precision: Precision) -> Any:
    """Return the tree with its float32 leaves in the precision's storage type."""
    if precision != "bfloat16":
        return tree
    return jax.tree.map(lambda x: x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x, tree)
