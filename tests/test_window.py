"""Windows that move over pictures give what the plain forms give, and large depthwise kernels go to oneDNN."""

import re

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

from suite import models
from suite.case import Case
from suite.nn import compiler
from suite.nn.depthwise import depthwise, moved_sums
from suite.nn.window import SIDE, same_mean, same_padding, zero_padded_max, zero_padded_mean
from suite.programs.jax.program import JaxProgram

NHWC = ("NHWC", "HWIO", "NHWC")
SIDES = [(7, 7), (8, 8), (11, 6)]


def pictures(*sides: int, channels: int = 4) -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).normal(size=(2, *sides, channels)), np.float32)


def plain(x: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    strides = (stride, stride)
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=NHWC, feature_group_count=x.shape[3])


def windows(x: jax.Array, padding: tuple[int, int], stride: int) -> np.ndarray:
    """Return the windows [N,H',W',C,9] of x with zeros around."""
    padded = np.pad(x, ((0, 0), padding, padding, (0, 0)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), (1, 2))[:, ::stride, ::stride]
    return found.reshape(*found.shape[:4], -1)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [3, 5, 7])
def test_sums_of_moved_pictures_are_the_plain_convolution(size, stride, sides):
    x, kernel = pictures(*sides), jnp.asarray(np.random.default_rng(1).normal(size=(size, size, 1, 4)), np.float32)
    np.testing.assert_allclose(moved_sums(x, kernel, stride), plain(x, kernel, stride), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("size", "side", "batch"), [(3, 40, 1), (5, 40, 1), (5, 8, 1), (5, 12, 8), (7, 40, 1)])
def test_a_depthwise_convolution_is_the_plain_one_whatever_its_form(size, side, batch):
    rng = np.random.default_rng(2)
    x = jnp.asarray(rng.normal(size=(batch, side, side, 64)), np.float32)
    kernel = jnp.asarray(rng.normal(size=(size, size, 1, 64)), np.float32)
    np.testing.assert_allclose(depthwise(x, kernel, 1), plain(x, kernel, 1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("side", [8, 11])
def test_largest_and_mean_values_two_apart_count_the_zeros_around(side):
    x, padding = pictures(side, side), same_padding(side, SIDE, 2)
    found = windows(x, padding, 2)
    np.testing.assert_array_equal(zero_padded_max(x, padding), found.max(-1))
    np.testing.assert_allclose(zero_padded_mean(x, padding), found.mean(-1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sides", SIDES)
def test_the_mean_of_neighbours_counts_those_that_there_are(sides):
    x = pictures(*sides)
    there = windows(jnp.ones_like(x), (1, 1), 1).sum(-1)
    assert there.min() == 4
    np.testing.assert_allclose(same_mean(x), windows(x, (1, 1), 1).sum(-1) / there, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not compiler.has_onednn(), reason="needs oneDNN's kernels")
@pytest.mark.parametrize(
    ("name", "large"),
    [("serve_mobilenet_v2", 0), pytest.param("serve_nasnet_mobile", 3, marks=pytest.mark.slow)],
)
def test_no_depthwise_convolution_is_left_to_xla(name, large):
    workload, case = models.load(name), Case(workload=name, backend="cpu", scope="step", batch=1)
    program = JaxProgram(workload, case)
    program.initialise(0)
    assert workload.draw is not None
    program.put([workload.draw(np.random.default_rng(0), 1)])
    program.lower()
    traced = str(program._lowered.as_text())
    assert len(re.findall(r"feature_group_count = (?!1 )\d+", traced)) == large
    program.compile()
    assert "feature_group_count=" not in re.sub(r"feature_group_count=1\b", "", program._compiled.as_text())
