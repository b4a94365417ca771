"""JAX computes what an independent implementation computed: logits, gradients, ten steps of training, in float64.

The other side's numbers are stored in each model's reference, so no second framework is needed here; `nox -s parity`
computes them anew.
"""

import math

import jax
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from parity import comparison, networks
from parity.comparison import BOUNDS, Computed, distance, errors, fingerprint, stored
from parity.jax_side import JaxSide

from suite import models

COMPARED = sorted(set(networks.names()) - set(networks.SMALL))
TRAINED = [name for name in COMPARED if models.load(name).optimizer is not None]
LARGEST_BYTES = 50_000
OLD_JAXLIB = jax.__version_info__ < (0, 11)


def marked(names):
    return [pytest.param(name, marks=[pytest.mark.slow] if networks.heavy(name) else []) for name in names]


def test_every_model_has_a_reference_and_nothing_else_has():
    assert set(reference.names()) == {*models.names(), *networks.SMALL}


@pytest.mark.parametrize("name", reference.names())
def test_a_reference_is_small(name):
    assert (reference.FOLDER / f"{name}.json").stat().st_size <= LARGEST_BYTES


@pytest.mark.parametrize("name", COMPARED)
def test_every_network_has_numbers_of_its_control(name):
    assert stored(name).parameters


@pytest.mark.parametrize("name", marked(networks.names()))
def test_the_model_computes_what_its_reference_says(name):
    side, right = JaxSide(name), stored(name)
    beyond = {check: error for check, error in errors(side, right) if not error <= BOUNDS[check]}
    if beyond.keys() == {"float32"} and OLD_JAXLIB and networks.heavy(name):
        pytest.skip(f"jax {jax.__version__} is less exact in float32 than later ones: {beyond['float32']:.1e}")
    assert beyond == {}


@pytest.mark.parametrize("name", TRAINED)
def test_a_reference_has_gradients_statistics_and_ten_steps(name):
    right = stored(name)
    assert right.gradients
    assert len(right.steps) == 10
    assert bool(right.statistics) == any(path.endswith("mean") for path in right.parameters)


def test_a_network_without_reference_is_an_error_that_says_what_to_do():
    with pytest.raises(LookupError, match=r"no reference for 'nothing'; make it with nox -s parity -- --store nothing"):
        stored("nothing")
    with pytest.raises(LookupError, match=r"nothing of PyTorch in the reference of 'gbdt_mortgage'"):
        stored("gbdt_mortgage")


@given(st.integers(1, 400), st.floats(1e-12, 1e3), st.integers(0, 2**32 - 1))
def test_a_fingerprint_estimates_the_distance_of_two_arrays(size, scale, seed):
    rng = np.random.default_rng(seed)
    one, change = rng.normal(size=size), scale * rng.normal(size=size)
    estimate = distance("path", one + change, fingerprint("path", one))
    assert estimate <= 5 * np.linalg.norm(change) + 1e-11


def test_a_fingerprint_rarely_underestimates_a_distance():
    rng = np.random.default_rng(0)
    one, low = rng.normal(size=100), 0
    for trial in range(300):
        change = 1e-6 * rng.normal(size=100)
        low += distance(f"path{trial}", one + change, fingerprint(f"path{trial}", one)) < 0.01 * np.linalg.norm(change)
    assert low <= 1


def numbers(**changes):
    """Return the numbers of a network of one layer, but for what is given."""
    right = {
        "parameters": {"kernel": (2, 2)},
        "inputs": "digest",
        "logits": np.array([[1.0, 2.0]]),
        "loss": 0.5,
        "gradients": {"kernel": np.eye(2)},
        "steps": (0.5, 0.4),
        "statistics": {"mean": np.ones(2)},
    }
    return Computed(**(right | changes))


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("parameters", {"parameters": {"kernel": (2, 3)}}),
        ("inputs", {"inputs": "other"}),
        ("logits", {"logits": np.array([[1.0, 2.000000001]])}),
        ("logits", {"logits": np.array([[1.0, math.nan]])}),
        ("logits", {"logits": np.array([1.0, 2.0])}),
        ("loss", {"loss": 0.50000001}),
        ("gradients", {"gradients": {"kernel": np.eye(2) * (1 + 1e-8)}}),
        ("gradients", {"gradients": {}}),
        ("steps", {"steps": (0.5, 0.40000002)}),
        ("steps", {"steps": (0.5,)}),
        ("statistics", {"statistics": {"mean": np.array([1.0, 1.1])}}),
    ],
)
def test_numbers_that_differ_are_seen_by_their_check(check, changes):
    assert comparison.difference(numbers(), numbers()) is None
    assert comparison.difference(numbers(**changes), numbers()) == check


def test_a_gradient_that_is_truly_zero_may_differ_by_rounding():
    right = numbers(gradients={"kernel": np.eye(2), "bias": np.zeros(2)})
    assert comparison.difference(numbers(gradients={"kernel": np.eye(2), "bias": np.full(2, 1e-13)}), right) is None
    assert comparison.difference(numbers(gradients={"kernel": np.eye(2), "bias": np.full(2, 1e-9)}), right)
