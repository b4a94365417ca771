"""Optimizers in the form and with the defaults of Keras in 2018, as optax transformations."""

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


def adam(learning_rate: float = _LEARNING_RATE, b1: float = 0.9, b2: float = 0.999) -> optax.GradientTransformation:
    """Return Adam as Keras writes it: the bias corrections form one rate, and epsilon is added to the raw root.

    optax's own form divides the corrected root by epsilon's sum instead, which moves early losses.
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
        rate = learning_rate * jnp.sqrt(1 - b2**count) / (1 - b1**count)
        moves = jax.tree.map(lambda m, v: (-rate * m / (jnp.sqrt(v) + _EPSILON)).astype(m.dtype), mu, nu)
        return moves, optax.ScaleByAdamState(count=count, mu=mu, nu=nu)

    return optax.GradientTransformation(init, update)
