"""Ceilings are timed as networks are, their steps depend on each other, and what they move is counted."""

from dataclasses import replace
from functools import partial

import factory
import msgspec
import numpy as np
import pytest

from suite import ceilings, models
from suite.case import Case
from suite.ceilings import ceiling_copy, ceiling_matmul
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.program import JaxProgram
from suite.results.records.run import Audit
from suite.results.single.validity import invalid
from suite.worker.checks import replay

WIDTH = 32


def started(workload, batch=4, kind=JaxProgram, batches=2, **axes):
    """A program of the workload that has compiled its step."""
    about = workload.description
    program = kind(workload, Case(workload=about.name, backend="cpu", scope="step", batch=batch, data="random", **axes))
    program.initialise(0)
    rng = np.random.default_rng(0)
    program.put([workload.draw(rng, batch) for _ in range(batches)])
    program.lower()
    program.compile()
    return program


@pytest.fixture
def products(monkeypatch):
    monkeypatch.setattr(ceiling_matmul, "WIDTH", WIDTH)
    return replace(ceilings.load("ceiling_matmul"), model=partial(ceiling_matmul.Products, width=WIDTH))


@pytest.fixture
def memory(monkeypatch):
    monkeypatch.setattr(ceiling_copy, "ROWS", 8)
    return ceilings.load("ceiling_copy")


def test_the_chain_of_products_has_the_flop_that_it_says(products):
    program = started(products)
    per_row = ceiling_matmul.PRODUCTS * 2 * WIDTH**2
    counted = program._lowered.cost_analysis()["flops"]
    assert counted == pytest.approx(4 * per_row, rel=0.05)
    about = ceilings.load("ceiling_matmul").description
    assert about.flop_per_example == ceiling_matmul.PRODUCTS * 2 * 4096**2


@pytest.mark.parametrize("precision", ["float32-highest", "bfloat16"])
def test_products_keep_their_size_through_the_chain(products, precision):
    program = started(products, batch=64, precision=precision)
    program.chain(3)
    program.block()
    assert 0.1 < program.loss() < 10


def test_memory_is_read_and_written_by_each_step_and_does_not_change(memory):
    program = started(memory, batch=1)
    before = np.asarray(program._state[0]).copy()
    program.chain(3)
    program.block()
    after = np.asarray(program._state[0])
    assert (before == after).all()
    assert (after == 1).all()
    assert program.bytes_per_step() == 2 * (ceiling_copy.BLOCKS * 8 * ceiling_copy.COLUMNS * 4 + 4) + 4


def replayed(workload, batch, **changes):
    """What the check of replays says of the workload's program, as it is timed; of a replay changed so, if any is."""
    program = started(workload, batch=batch)
    rng = np.random.default_rng(0)
    audit = Audit(cores=1, platform="cpu", replay=replay(program, [workload.draw(rng, batch) for _ in range(2)], 0))
    audit = msgspec.structs.replace(audit, replay=msgspec.structs.replace(audit.replay, **changes))
    run = msgspec.structs.replace(factory.run(0, 0.01), audit=audit, first_loss=audit.replay.first)
    record = factory.record(workload.description.name, about=workload.description, runs=(run,), batch=batch)
    return [words for words in invalid(record) if "replay" in words]


def test_what_ceilings_do_anew_from_another_seed_is_no_reason_against_them(memory, products):
    assert replayed(memory, 1) == []
    assert replayed(products, 4) == []


def test_products_that_no_parameter_moves_are_seen(products):
    (words,) = replayed(products, 4, once=1.5, twice=1.5, together=1.5, other_seed=1.5, other_seed_twice=1.5)
    assert "whatever the parameters" in words


def test_no_block_of_memory_is_left_out_of_the_compiled_step(memory):
    program = started(memory, batch=1)
    moved = program._compiled.cost_analysis()["bytes accessed"]
    assert moved == pytest.approx(program.bytes_per_step(), rel=0.01)
    assert "input_output_alias" in program._compiled.as_text()


@pytest.mark.parametrize("kind", [JaxProgram, NnxProgram])
def test_a_training_step_moves_its_state_twice_and_a_batch_once(kind):
    program = started(models.load("dp_linear_mirrored"), batch=64, kind=kind)
    counters = program.bytes_per_step() - (2 * 2 * 4 + 64 * 2 * 4)  # a weight, a bias; 64 inputs and labels
    assert 0 <= counters <= 2 * 8  # an optimizer's counter, if there is one


def test_several_steps_in_a_call_move_as_much_a_step():
    line = models.load("dp_linear_mirrored")
    several = started(line, batch=64, batches=4, variant="scan")
    assert several.bytes_per_step() == started(line, batch=64).bytes_per_step()
