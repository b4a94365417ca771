"""The serving networks compute what keras.applications computes, by numbers stored beside what made them."""

import jax
import numpy as np
import pytest
import reference
from flax import nnx
from jax import numpy as jnp
from parity import keras_applications as keras

from suite import models
from suite.nn.frozen import ConvNorm, Norm

HEAVY_FLOP = 1_000_000_000
FLOAT32_BOUND = 2e-6


def heavy(name):
    return models.load(name).description.flop_per_example > HEAVY_FLOP


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] if heavy(name) else []) for name in keras.APPLICATIONS]
)
def name(request):
    return request.param


def joined(path):
    return "/".join(map(str, path))


def abstract(name):
    return nnx.eval_shape(lambda: models.load(name).model(nnx.Rngs(0)))


def leaves(network):
    """Return the parameters and statistics of a network by their paths."""
    state = nnx.to_flat_state(nnx.state(network, nnx.Any(nnx.Param, nnx.BatchStat)))
    return {joined(path): leaf for path, leaf in state}


def weighted(name, change=lambda network: None):
    """Return a network with the weights that Keras was given; `change` plants a bug before."""
    network = abstract(name)
    change(network)
    for path, leaf in leaves(network).items():
        leaf.set_value(keras.weight(path, leaf.get_value().shape))
    return network


def logits(network, name, dtype=np.float64):
    graph, state = nnx.split(network)
    with jax.enable_x64(dtype == np.float64), jax.default_matmul_precision("highest"):
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), state)
        answer = jax.jit(lambda state, x: nnx.merge(graph, state)(x))
        return np.asarray(answer(state, jnp.asarray(keras.pictures(keras.APPLICATIONS[name].side), dtype)))


def error(network, name, dtype=np.float64):
    return keras.error(keras.fingerprint(logits(network, name, dtype)), reference.of(name)["served"]["logits"])


@pytest.mark.parametrize("name", keras.APPLICATIONS)
def test_every_leaf_has_its_counterpart_in_keras(name):
    shapes = {path: leaf.get_value().shape for path, leaf in leaves(abstract(name)).items()}
    assert keras.leaves_digest(shapes) == reference.of(name)["served"]["leaves"]


def test_logits_are_those_of_keras(name):
    assert error(weighted(name), name) <= keras.BOUND


def test_the_network_that_is_timed_computes_the_same_to_single_precision(name):
    assert error(models.load(name).served(weighted(name)), name, np.float32) <= FLOAT32_BOUND


def other_epsilon(network):
    for _, module in nnx.iter_modules(network):
        if isinstance(module, Norm):
            module.epsilon = 1.1 * module.epsilon


def symmetric_padding(network):
    network.stem.conv.padding = [(1, 1), (1, 1)]


def lost_shortcut(network):
    network.blocks[2].keeps_shape = False


def stride_moved(network):
    """To the 1x1 after it: the same shapes everywhere behind."""
    network.blocks[1].depthwise.conv.stride = 1
    network.blocks[1].project.conv.stride = 2


@pytest.mark.parametrize("bug", [other_epsilon, symmetric_padding, lost_shortcut, stride_moved])
def test_a_planted_bug_is_caught(bug):
    assert error(weighted("serve_mobilenet_v2", bug), "serve_mobilenet_v2") > 1e4 * keras.BOUND


def test_a_norm_that_is_not_folded_is_caught(monkeypatch):
    def forgetful(self):
        self.norm = nnx.data(None)

    monkeypatch.setattr(ConvNorm, "fold", forgetful)
    network = models.load("serve_mobilenet_v2").served(weighted("serve_mobilenet_v2"))
    assert error(network, "serve_mobilenet_v2", np.float32) > 100 * FLOAT32_BOUND
