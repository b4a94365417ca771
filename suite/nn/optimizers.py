"""Optimizers with the form and defaults of Keras in 2018, as optax transformations."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

_LEARNING_RATE, _EPSILON = 1e-3, 1e-7


def sgd(learning_rate: float = 0.01) -> optax.GradientTransformation:
    """Return plain gradient descent."""
    return optax.sgd(learning_rate)


def rmsprop(learning_rate: float = _LEARNING_RATE) -> optax.GradientTransformation:
    """Return RMSprop with decay 0.9 and epsilon outside the square root."""
    return optax.rmsprop(learning_rate, decay=0.9, eps=_EPSILON, eps_in_sqrt=False)


def adadelta(learning_rate: float = 1.0) -> optax.GradientTransformation:
    """Return Adadelta with rho 0.95 and epsilon 1e-7 added under both roots."""
    return optax.adadelta(learning_rate, rho=0.95, eps=_EPSILON)


def adam(learning_rate: float = _LEARNING_RATE, b1: float = 0.9, b2: float = 0.999) -> optax.GradientTransformation:
    """Return Adam as Keras writes it: the bias corrections form one rate, and epsilon is added to the raw root.

    optax divides the corrected root plus epsilon instead, which moves early losses.
    """

    def init(params: optax.Params) -> optax.ScaleByAdamState:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return optax.ScaleByAdamState(count=jnp.zeros([], jnp.int32), mu=zeros, nu=zeros)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        assert isinstance(state, optax.ScaleByAdamState)
        count = state.count + 1
        mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mu, updates)
        nu = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state.nu, updates)
        steps = jnp.asarray(count, float)
        rate = learning_rate * jnp.sqrt(1 - b2**steps) / (1 - b1**steps)
        moves = jax.tree.map(lambda m, v: -rate.astype(m.dtype) * m / (jnp.sqrt(v) + _EPSILON), mu, nu)
        return moves, optax.ScaleByAdamState(count=count, mu=mu, nu=nu)

    return optax.GradientTransformation(init, update)


class Averaged(NamedTuple):
    """State of `averaged`: the inner optimizer's, the number of steps, and each parameter's moving average."""

    inside: optax.OptState
    steps: jax.Array
    averages: optax.Params


def averaged(optimizer: optax.GradientTransformation, decay: float = 0.9999) -> optax.GradientTransformation:
    """Return the optimizer with a moving average of all parameters, kept beside them and not used in training.

    After step t the average moves with min(decay, (1 + t) / (10 + t)), as TensorFlow's ExponentialMovingAverage does
    when it is given the number of steps.
    """

    def init(params: optax.Params) -> Averaged:
        copies = jax.tree.map(jnp.copy, params)  # the step's state is donated, so no array may occur twice in it
        return Averaged(optimizer.init(params), jnp.zeros([], jnp.int32), copies)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        assert isinstance(state, Averaged)
        assert params is not None
        updates, inside = optimizer.update(updates, state.inside, params)
        steps = state.steps + 1
        share = 1 - jnp.minimum(decay, (1 + steps) / (10 + steps))

        def moved(average: jax.Array, new: jax.Array) -> jax.Array:
            return average - share.astype(average.dtype) * (average - new)

        averages = jax.tree.map(moved, state.averages, optax.apply_updates(params, updates))
        return updates, Averaged(inside, steps, averages)

    return optax.GradientTransformation(init, update)


def staircase_sgd(learning_rate: float, steps: int, factor: float) -> optax.GradientTransformation:
    """Return plain gradient descent whose learning rate is multiplied by `factor` every `steps` steps."""
    # optax's staircase is computed in float32, even if the parameters are wider.
    return optax.sgd(lambda taken: learning_rate * jnp.power(factor, (jnp.asarray(taken) // steps).astype(float)))
