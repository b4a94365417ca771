"""The grid search: its points are the documented ones, and fits trained side by side are those trained alone."""

import subprocess
import sys
from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import jax
import msgspec
import numpy as np
import pytest
import reference
import synthetic
from flax import nnx
from jax import numpy as jnp

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import validation
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.models import mnist_grid_search
from suite.models.mnist_grid_search import GRID, WORKLOAD, network
from suite.nn.conv import conv_of_patches
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.stacked import StackedProgram

HERE = Path(__file__).parent
EXAMPLES, STEPS, SETS = 4, 100, 5  # of a fit's batch; with five sets no fit sees a batch of its neighbour at a step
SEEDS = (0, 1, 2)


def documented():
    counts = reference.of("mnist_grid_search")["grid"]
    return {tuple(map(int, hidden.split())): row for hidden, row in counts.items()}


def test_the_grid_has_the_documented_points():
    points = list(product(GRID.hidden, GRID.epochs))
    assert set(GRID.hidden) == set(documented())
    assert GRID.epochs == (3, 6)
    assert len(points) == 8
    assert GRID.folds == 3


def test_all_fits_together_take_the_documented_steps():
    about, run = WORKLOAD.description, WORKLOAD.description.run
    assert run is not None
    assert run.epochs * -(-run.train // about.batch) == 135_000
    held_in = run.train * (GRID.folds - 1) // GRID.folds
    steps = [epochs * -(-held_in // about.batch) for _, epochs in product(GRID.hidden, GRID.epochs)]
    assert GRID.folds * sum(steps) == 135_000


@pytest.mark.parametrize("hidden", GRID.hidden)
def test_every_network_of_the_grid_has_its_documented_counts(hidden):
    about, row = network(hidden).description, documented()[hidden]
    assert {field: getattr(about, field) for field in row} == row
    model = nnx.eval_shape(lambda: mnist_grid_search.GridCnn(nnx.Rngs(0), hidden))
    assert sum(leaf.size for leaf in jax.tree.leaves(nnx.state(model, nnx.Param))) == about.parameters


def small(hidden):
    """Return a network of the grid whose fits have small batches."""
    workload = network(hidden)
    return replace(workload, description=msgspec.structs.replace(workload.description, batch=EXAMPLES))


def drawn(workload, seed):
    rng = np.random.default_rng(seed)
    prototypes, labels = rng.integers(0, 256, (10, 28, 28, 1)), rng.integers(0, 10, EXAMPLES)
    noisy = prototypes[labels] + rng.normal(0, 20, (EXAMPLES, 28, 28, 1))
    return synthetic.pictured(workload.preparation, noisy.clip(0, 255).astype(np.uint8), labels)


def side_by_side(batches):
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def started(workload, sets, seed=0, real=np.float32, **axes) -> Any:
    examples = len(sets[0]["images"])
    case = Case(workload="mnist_grid_search", backend="cpu", scope="step", batch=examples, **axes)
    program = (StackedProgram if case.variant == "stacked" else JaxProgram)(workload, case)
    begin(program, sets, seed, real)
    program.lower()
    program.compile()
    return program


def begin(program, sets, seed, real=np.float32):
    program.initialise(seed)
    program._state = [leaf.astype(real) if leaf.dtype == np.float32 else leaf for leaf in program._state]
    program.put([{name: array.astype(real) for name, array in batch.items()} for batch in sets])


def started_alone(workload, sets, seeds, real=np.float32):
    """Return a program of each seed with batches of its own; what they compute is compiled once."""
    first = started(workload, sets[0], seeds[0], real)
    programs = [first, *(copy(first) for _ in seeds[1:])]
    for program, batches, seed in zip(programs[1:], sets[1:], seeds[1:], strict=True):
        begin(program, batches, seed, real)
    return programs


def held(state, fit):
    """Return a fit's own arrays of the states of all, or of one fit what it has."""
    return [jax.numpy.array(leaf if fit is None else leaf[fit]) for leaf in state]


@pytest.mark.parametrize("hidden", [(32,), pytest.param((64, 64), marks=pytest.mark.slow)])
def test_fits_trained_side_by_side_lose_what_they_lose_alone(hidden):
    """Each from the state that the stack has come to: two trainings a rounding apart can part within 100 steps."""
    workload = small(hidden)
    sets = [[drawn(workload, 10 * seed + number) for number in range(SETS)] for seed in SEEDS]
    together = started(workload, [side_by_side(batches) for batches in zip(*sets, strict=True)], variant="stacked")
    alone = started_alone(workload, sets, SEEDS)
    for fit, program in enumerate(alone):
        assert_close(held(program._state, None), held(together._state, fit))
    losses = []
    for _ in range(STEPS):
        for fit, program in enumerate(alone):
            program._state = held(together._state, fit)
        for program in (together, *alone):
            program.chain(1)
            program._batches.append(program._batches.pop(0))
        losses.append([program.loss() for program in alone])
        assert together.losses() == pytest.approx(losses[-1], abs=1e-5)
        for fit, program in enumerate(alone):
            assert_close(held(program._state, None), held(together._state, fit))
    assert np.ptp(losses, axis=1).min() > 1e-3  # no two fits are one
    assert np.mean(losses[-10:]) < 0.9 * np.mean(losses[:10])
    assert together.loss() == pytest.approx(np.mean(losses[-1]), abs=1e-5)


def trained(program):
    """Return the losses of the first steps, each from where the program itself has come to: of a stack float[T,S]."""
    losses = []
    for _ in range(STEPS):
        program.chain(1)
        losses.append(np.array(program._out))
        program._batches.append(program._batches.pop(0))
    return np.array(losses)


@pytest.mark.slow
def test_fits_left_to_themselves_lose_what_they_lose_alone():
    """In float64, as one in ten parts in float32: it parts from itself too where a weight is one rounding off."""
    seeds = range(5)
    with jax.enable_x64(True):
        workload = small((32,))
        sets = [[drawn(workload, 10 * seed + number) for number in range(SETS)] for seed in seeds]
        stack = [side_by_side(batches) for batches in zip(*sets, strict=True)]
        together = trained(started(workload, stack, real=np.float64, variant="stacked"))
        alone = [trained(program) for program in started_alone(workload, sets, seeds, np.float64)]
    assert together.dtype == np.float64
    assert abs(together - np.transpose(alone)).max() < 1e-9
    assert np.ptp(together, axis=1).min() > 1e-3  # no two fits are one
    assert together[-10:].mean() < 0.9 * together[:10].mean()


def assert_close(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = map(jax.random.key_data, (one, other))
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_each_fit_drops_by_a_key_of_its_own_and_starts_from_values_of_its_own():
    workload = small((32,))
    program = started(workload, [side_by_side([drawn(workload, 0)] * 3)], variant="stacked")
    leaves = jax.tree.leaves(program._state)
    keys = [jax.random.key_data(leaf) for leaf in leaves if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)]
    assert keys
    assert all(len({row.tobytes() for row in np.asarray(key)}) == 3 for key in keys)
    kernels = [np.asarray(leaf) for leaf in leaves if leaf.ndim == 3 and leaf.dtype == np.float32]
    assert any(not np.array_equal(kernel[0], kernel[1]) for kernel in kernels)
    program.chain(1)
    assert len(set(program.losses().tolist())) == 3


def test_a_stack_needs_the_products_of_all_its_fits():
    workload = small((32,))
    program = started(workload, [side_by_side([drawn(workload, 0)] * 3)], variant="stacked")
    seen = program.jaxpr_cost()
    assert seen.flop_per_step == 3 * EXAMPLES * workload.description.flop_per_example
    assert seen.examples == 3 * EXAMPLES
    assert seen.parameters >= 3 * workload.description.trainable_parameters
    assert seen.product_precisions == ("highest",)


def test_a_convolution_of_patches_is_the_convolution():
    rng = np.random.default_rng(0)
    x, kernel = (jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((2, 7, 6, 3), (3, 3, 3, 5)))
    with jax.default_matmul_precision("highest"):
        wanted = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        assert abs(conv_of_patches(x, kernel) - wanted).max() < 1e-5


SPLIT = """
import sys
sys.path.insert(0, sys.argv[2])
import test_grid
workload = test_grid.small((32,))
sets = [test_grid.side_by_side([test_grid.drawn(workload, seed) for seed in range(4)])]
program = test_grid.started(workload, sets, variant="stacked", devices=int(sys.argv[1]))
program.chain(20)
program.block()
where = {len(leaf.sharding.device_set) for leaf in test_grid.jax.tree.leaves(program._state)}
print(where, program.jaxpr_cost().flop_per_step, *program.losses())
"""


def split(devices):
    """Return over how many devices a fresh process split the fits, its FLOP a step, and the losses of each."""
    command = [sys.executable, "-c", SPLIT, str(devices), str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    where, flop, *losses = done.stdout.split()
    return where, float(flop), np.array(losses, float)


def test_fits_split_over_devices_lose_what_they_lose_on_one():
    (one, flop, whole), (two, same, parts) = split(1), split(2)
    assert (one, two) == ("{1}", "{2}")
    assert flop == same
    assert abs(whole - parts).max() < 1e-5


def refused(workload, batch=None, devices=1):
    asked = Request(variants=("stacked",), batch=batch, devices=devices)
    validation.check(asked, [models.load(workload).description], ("cpu",))


def test_a_stack_that_cannot_be_is_refused_with_the_way_out():
    refused("mnist_grid_search")
    refused("mnist_grid_search", 128, 4)
    with pytest.raises(ValueError, match=r"'stacked' .* 'mnist_mlp' has no grid; omit the"):
        refused("mnist_mlp")
    with pytest.raises(ValueError, match=r"batch 100 .* fits of 32 examples.*choose a multiple of 32 with --batch"):
        refused("mnist_grid_search", 100)
    with pytest.raises(ValueError, match=r"batch 192 .* on each of 4 devices; choose a multiple of 128"):
        refused("mnist_grid_search", None, 4)
    with pytest.raises(ValueError, match="'mnist_mlp' has no grid; omit the workload or the variant"):
        StackedProgram(models.load("mnist_mlp"), Case(workload="mnist_mlp", backend="cpu", scope="step", batch=128))


def test_a_stack_is_by_default_that_of_one_network_s_fits():
    catalogue = [models.load(name).description for name in ("mnist_grid_search", "mnist_mlp")]
    asked = Request(variants=("plain", "stacked"), scopes=("step",))
    found = default_cases(asked, catalogue, MachineCapabilities(backends=("cpu",), cores=2))
    assert [(case.workload, case.variant, case.batch) for case in found] == [
        ("mnist_grid_search", "plain", 32),
        ("mnist_grid_search", "stacked", 192),
        ("mnist_mlp", "plain", 128),
    ]
