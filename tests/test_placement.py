"""A CPU split into devices takes the same steps, and what cannot be split stays whole."""

import subprocess
import sys
from pathlib import Path

import pytest

from suite.case import Case
from suite.programs.jax import sharding

HERE = Path(__file__).parent
PROGRAM = """
import dataclasses, sys
sys.path.insert(0, sys.argv[3])
import synthetic
import numpy as np
from suite import models
from suite.programs.jax.program import JaxProgram
from suite.case import Case

devices, batch = int(sys.argv[1]), int(sys.argv[2])
workload = dataclasses.replace(models.load("imdb_bilstm"), cpu_devices=devices)
program = JaxProgram(workload, Case(workload="imdb_bilstm", backend="cpu", scope="step", batch=batch, data="random"))
program.initialise(0)
program.put([synthetic.subwords_padded_behind(np.random.default_rng(0), batch, positions=32)])
program.lower()
program.compile()
program.chain(30)
program.block()
print(program.settings()["jax_devices"], program.loss())
"""


def run(devices, batch):
    """Return how many devices a fresh process used, and its loss after thirty steps."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(devices), str(batch), str(HERE)], capture_output=True, text=True, check=True
    )
    used, loss = done.stdout.split()
    return int(used), float(loss)


def test_a_cpu_split_in_four_takes_the_same_steps_as_one_that_is_whole():
    (one, alone), (four, together) = run(1, 8), run(4, 8)
    assert (one, four) == (1, 4)
    assert abs(together - alone) < 1e-5


def test_a_batch_that_does_not_divide_uses_as_many_devices_as_it_divides_over():
    assert run(4, 6)[0] == 3


@pytest.mark.parametrize(
    ("cores", "parts"), [(1, 1), (2, 2), (3, 2), (4, 4), (6, 5), (7, 5), (8, 8), (12, 10), (14, 10), (16, 16)]
)
def test_a_table_uses_nearly_all_cores_whatever_their_number(monkeypatch, cores, parts):
    monkeypatch.setattr(sharding, "split_cpu", lambda count: tuple(range(count)))
    monkeypatch.setattr(sharding, "shardings_over", len)
    case = Case(workload="gbdt_mortgage", backend="cpu", scope="step", batch=400_000)
    assert sharding.shardings(case, cores) == parts
