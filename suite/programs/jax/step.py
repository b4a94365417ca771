"""The timed work as pure functions: a training step, a dependent inference, or several of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from suite.case import Precision
from suite.nn.augment import advanced
from suite.programs.jax.packing import PackedModel, cast
from suite.workload import Workload

Step = Callable[..., tuple[Any, jax.Array]]


def training_step(
    workload: Workload, form: PackedModel, optimizer: optax.GradientTransformation, precision: Precision
) -> Step:
    """Return step(state, batch) -> (state, loss), pure; state is (params, rest, optimizer state).

    The packed model says how params and rest are packed; the optimizer works element by element, so packing changes
    nothing.
    """

    def step(state: tuple, batch: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        params, rest, moments = state

        def objective(params: nnx.State) -> tuple[jax.Array, nnx.State]:
            model = form.model(params, rest, precision)
            loss = workload.loss(model, cast(batch, precision))
            return loss, nnx.state(model, nnx.Not(nnx.Param))

        (loss, moved), gradients = jax.value_and_grad(objective, has_aux=True)(form.params.unpack(params))
        updates, moments = optimizer.update(form.params.pack(gradients), moments, params)
        return (optax.apply_updates(params, updates), form.rest.pack(moved), moments), loss

    return step


def augmented_step(step: Step, augment: Callable[[jax.Array, Any], Any]) -> Step:
    """Return the step with its batch augmented first; state is (the step's state, key data), and the key advances."""

    def augmented(state: tuple, batch: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        inner, data = state
        data, key = advanced(data)
        inner, out = step(inner, augment(key, batch))
        return (inner, data), out

    return augmented


def inference_step(workload: Workload, form: PackedModel, precision: Precision) -> Step:
    """Return step(weights, state, batch) -> (state, scalar), pure.

    Weights are (params, rest), which a server loads once; state is (last scalar, zero). The last scalar times a zero
    known only at run time is added to the input, so no step can start before the previous one has ended.
    """

    def step(weights: tuple, state: tuple, batch: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        (params, rest), (last, zero) = weights, state
        batch = after(batch, last, zero)
        model = form.model(params, rest, precision)
        out = workload.loss(model, cast(batch, precision))
        return (out, zero), out

    return step


def evaluation_step(workload: Workload, form: PackedModel, precision: Precision) -> Callable[..., jax.Array]:
    """Return evaluate(state, batch) -> loss, without dropout and with moving statistics; the state is unchanged."""

    def evaluate(state: tuple, batch: dict[str, jax.Array]) -> jax.Array:
        params, rest, _ = state
        model = form.model(form.params.unpack(params), rest, precision)
        model.eval()
        return workload.loss(model, cast(batch, precision))

    return evaluate


def after(batch: dict[str, jax.Array], last: jax.Array, zero: jax.Array) -> dict[str, jax.Array]:
    """Return the same batch, ready only once `last` is; `zero` is a 0 known only at run time."""
    nothing = last * zero
    return {
        name: array + nothing.astype(array.dtype) if jnp.issubdtype(array.dtype, jnp.floating) else array
        for name, array in batch.items()
    }


def several_steps(step: Step, repeats: int, unroll: int) -> Step:
    """Return call(state, batches) -> (state, last output): a step with each batch in turn, `repeats` times.

    Arguments of the step before its state are arguments of the call too. Batches are stacked: arrays [S,N,...] for S
    sets of N examples. `unroll` steps are unrolled.
    """

    def call(*given: Any) -> tuple[Any, jax.Array]:
        *weights, state, batches = given

        def once_through(state: Any, _: None) -> tuple[Any, jax.Array]:
            return jax.lax.scan(partial(step, *weights), state, batches, unroll=unroll)

        state, outputs = jax.lax.scan(once_through, state, length=repeats)
        return state, outputs[-1, -1]

    return call
