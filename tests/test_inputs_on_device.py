"""What the device holds is what was put there, in every form of a step's input sets; and whether examples differ."""

from dataclasses import replace

import numpy as np
import pytest

from suite import models
from suite.case import Case
from suite.data import batches as data
from suite.programs.jax.boosting import BoostingProgram
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.stacked import StackedProgram
from suite.worker_api.program import ReadBack

FORMS = {
    "plain": (JaxProgram, "mnist_mlp"),
    "scan": (JaxProgram, "mnist_mlp"),
    "nnx-jit": (NnxProgram, "mnist_mlp"),
    "stacked": (StackedProgram, "mnist_grid_search"),
    "boosting": (BoostingProgram, "gbdt_mortgage"),
}


def pictures(seed, examples):
    rng = np.random.default_rng(seed)
    return {"images": rng.random((examples, 28, 28, 1), np.float32), "labels": rng.integers(0, 10, examples)}


@pytest.mark.parametrize("form", FORMS)
def test_what_the_device_holds_is_read_back_in_every_form(form):
    kind, name = FORMS[form]
    workload, batch = models.load(name), 64
    case = Case(
        workload=name, backend="cpu", scope="step", batch=batch, variant=form if form != "boosting" else "plain"
    )
    draw = (lambda seed: workload.draw(np.random.default_rng(seed), batch)) if workload.draw else None
    sets = [draw(seed) if draw else pictures(seed, batch) for seed in range(4)]
    program = kind(workload, case)
    assert isinstance(program, ReadBack)
    program.initialise(0)
    program.put(sets)
    assert program.holds(sets)
    first, *others = sets
    name, array = next(iter(first.items()))
    assert not program.holds([first | {name: array + array.dtype.type(1)}, *others])
    assert program.holds(sets[:1]) is (form == "boosting")  # which has one table
    if form != "boosting":
        assert not program.holds([*sets[:3], sets[0]])


def test_what_other_hosts_hold_is_not_read():
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=64)
    program = JaxProgram(models.load("mnist_mlp"), case)

    class Elsewhere:
        is_fully_addressable = False

    program._shardings = replace(program._shardings, batch=Elsewhere())
    assert program.holds([pictures(0, 64)]) is None


@pytest.mark.parametrize(
    ("images", "differ"),
    [
        ([[[0, 0], [0, 0]], [[0, 0], [0, 0]]], False),
        ([[[1, 2], [1, 2]], [[1, 2], [1, 2]]], False),
        ([[[1, 2], [1, 2]], [[1, 2], [1, 3]]], True),
        ([[[1, 2]], [[3, 4]]], True),
    ],
)
def test_examples_differ_if_one_of_any_set_does(images, differ):
    sets = [{"images": np.array(one), "labels": np.zeros(len(one))} for one in images]
    assert data.examples_differ(sets) is differ


def test_single_numbers_may_all_be_the_same():
    assert data.examples_differ([{"labels": np.zeros(2)}])
