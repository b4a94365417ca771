"""The fast LSTM is the plain one: its states, its gradients, both orders of reading, on both kinds of device."""

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp

from suite.nn import lstm_cpu
from suite.nn.initial import filled
from suite.nn.lstm import BidirectionalLstm
from suite.nn.lstm_cpu import last_state

EXAMPLES, POSITIONS, FEATURES = 3, 7, 5


@pytest.fixture
def arguments():
    """A drive, a recurrent kernel and a bias in float64, of no special size."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        shapes = ((EXAMPLES, POSITIONS, 4 * FEATURES), (FEATURES, 4 * FEATURES), (4 * FEATURES,))
        yield tuple(jnp.asarray(rng.normal(size=shape)) for shape in shapes)


def plain(drive, recurrent, bias, backwards):
    """Return the last state as Hochreiter and Schmidhuber's equations with a forget gate give it, one by one."""
    h = c = jnp.zeros((EXAMPLES, FEATURES))
    for t in reversed(range(POSITIONS)) if backwards else range(POSITIONS):
        i, f, g, o = jnp.split(drive[:, t] + h @ recurrent + bias[None], 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h


def loss_and_gradients(of, arguments, backwards):
    weights = np.random.default_rng(1).normal(size=(EXAMPLES, FEATURES))
    return jax.value_and_grad(lambda *a: (weights * of(*a, backwards)).sum(), (0, 1, 2))(*arguments)


@pytest.mark.parametrize("overwrites", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_states_and_gradients_are_those_of_the_plain_form(monkeypatch, arguments, backwards, overwrites):
    monkeypatch.setattr(lstm_cpu, "_OVERWRITES", overwrites)
    fast, slow = (loss_and_gradients(of, arguments, backwards) for of in (last_state, plain))
    for mine, theirs in zip(jax.tree.leaves(fast), jax.tree.leaves(slow), strict=True):
        assert mine == pytest.approx(np.asarray(theirs), rel=1e-12, abs=1e-14)


def test_the_two_orders_of_reading_differ(arguments):
    forwards, backwards = (np.asarray(last_state(*arguments, way)) for way in (False, True))
    assert abs(forwards - backwards).max() > 1e-3


@pytest.mark.parametrize("positions", [POSITIONS, 24])  # one a turn, eight a turn
def test_both_directions_in_one_loop_as_on_a_gpu_give_the_same(monkeypatch, positions):
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(2).normal(size=(EXAMPLES, positions, 4)))
        graph, abstract = nnx.split(nnx.eval_shape(lambda: BidirectionalLstm(4, FEATURES)))
        params = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), filled(abstract, 0))

        def run():
            return jax.value_and_grad(lambda p, x: (nnx.merge(graph, p)(x) ** 2).sum(), (0, 1))(params, x)

        apart = run()
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        together = run()
    for mine, theirs in zip(jax.tree.leaves(apart), jax.tree.leaves(together), strict=True):
        assert mine == pytest.approx(np.asarray(theirs), rel=1e-12, abs=1e-14)
