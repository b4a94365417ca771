"""The grid search: its points are the documented ones, and fits trained side by side are those trained alone."""

import csv
from itertools import product
from pathlib import Path

import jax
import pytest
from flax import nnx

from suite.models import mnist_grid_search
from suite.models.mnist_grid_search import GRID, WORKLOAD, network

HERE = Path(__file__).parent


def documented():
    with (HERE / "documented_grid.csv").open() as lines:
        return {tuple(map(int, row.pop("hidden").split())): row for row in csv.DictReader(lines)}


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
    assert {field: getattr(about, field) for field in row} == {field: int(value) for field, value in row.items()}
    model = nnx.eval_shape(lambda: mnist_grid_search.GridCnn(nnx.Rngs(0), hidden))
    assert sum(leaf.size for leaf in jax.tree.leaves(nnx.state(model, nnx.Param))) == about.parameters
