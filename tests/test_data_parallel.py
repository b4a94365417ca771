"""Training over several devices is training on one, also over a CPU that is split into them.

Compared are the losses of three steps on one batch, and after them the statistics of batch norms.

| networks | in | losses, relative | statistics, over the largest |
| --- | --- | --- | --- |
| all but the residual ones | float32 | 1e-5 | have none |
| residual | float64 | 1e-10 | 1e-10 |

Devices add in another order, which moves a float32 sum by a few times 6e-8: the losses that were seen are up to 2e-7
apart. A residual network's are too until its first update, and then come apart in float32: Adam's first updates are
little more than the signs of the gradients, and rounding decides the signs of those that are nearly 0. In float64 they
stay within 2e-15, the statistics within 2e-12; to save time it then has one block a stage and sees a corner of each
picture. A part of the batch that is left out moves the second loss by far more than any of the bounds.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from suite import models
from suite.case import Case
from suite.programs.jax import sharding

HERE = Path(__file__).parent
STEPS, BATCH = 3, 16
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}
LOST = 1e-3  # by which the second loss moves at least where a part of the batch is left out
HARDLY = {"catdog_cnn_deep": 2e-4}  # which at first says the same of every picture; still 20 times the tolerance
FAMILIES = ("mnist_mlp", "dp_linear_mirrored")  # dense, linear
ABOUT = {name: models.load(name).description for name in models.names()}
SLOW = [  # every other network that is trained, with dropout and batch norm among them; trees have a test of their own
    name for name, about in ABOUT.items() if name not in FAMILIES and about.family not in ("inference", "trees")
]

PROGRAM = """
import dataclasses, functools, json, sys
name, dtype, batch, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sys.path.insert(0, sys.argv[5])
import jax
jax.config.update("jax_enable_x64", dtype == "float64")
jax.config.update("jax_num_cpu_devices", 4)
import jax.numpy as jnp
import numpy as np
import synthetic
from suite import models
from suite.programs.jax.program import JaxProgram
from suite.case import Case

workload = dataclasses.replace(models.load(name), cpu_devices=1)
if workload.description.family == "residual":  # each kind of block once: all of them compile for minutes
    workload = dataclasses.replace(workload, model=functools.partial(workload.model, blocks_per_stage=1))
rng = np.random.default_rng(0)
whole = synthetic.drawn(workload, rng, batch)
if whole is None:
    pictures = rng.integers(0, 256, (batch, *synthetic.SIDES[workload.description.dataset])).astype(np.uint8)
    whole = synthetic.pictured(workload.preparation, pictures, rng.integers(0, 10, batch))
if dtype == "float64":
    whole["images"] = whole["images"][:, :8, :8]  # all layers are met on it
part = batch // 4
lost = {key: np.concatenate([of[part:], of[part : 2 * part]]) for key, of in whole.items()}


def wide(tree):
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if leaf.dtype == np.float32 else leaf, tree)


class Program(JaxProgram):
    def values(self, seed):
        graph, params, rest = super().values(seed)
        return graph, wide(params), wide(rest)


def losses(program, inputs):
    program.initialise(0)
    program.put([wide(inputs)])
    if not hasattr(program, "_compiled"):
        program.lower()
        program.compile()
    for _ in range(steps):
        program.chain(1)
        yield program.loss()


def trained(devices):
    case = Case(workload=name, backend="cpu", scope="step", batch=batch, devices=devices)
    program = Program(workload, case)
    found = list(losses(program, whole))
    state = program._structures[-1].unflatten(program._state)
    rest = [np.asarray(leaf) for leaf in jax.tree.leaves(state[1]) if jnp.issubdtype(leaf.dtype, np.floating)]
    (spread,) = {len(leaf.sharding.device_set) for leaf in jax.tree.leaves(program._batches)}
    alone = list(losses(program, lost)) if devices == 1 else []
    return {"losses": found, "lost": alone, "statistics": [leaf.ravel().tolist() for leaf in rest], "devices": spread}


print(json.dumps([trained(1), trained(4)]))
"""


def trained(name, dtype):
    """Return what one device learnt, also without the first part of the batch, and what four learnt."""
    arguments = [sys.executable, "-c", PROGRAM, name, dtype, str(BATCH), str(STEPS), str(HERE)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def apart(one, other):
    """Return the largest difference of two lists over the largest number of the first."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) / max(map(abs, one))


@pytest.mark.parametrize("name", [*FAMILIES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_four_devices_learn_what_one_does(name):
    residual = ABOUT[name].family == "residual"
    dtype = "float64" if residual else "float32"
    one, four = trained(name, dtype)
    assert (one["devices"], four["devices"]) == (1, 4)
    steps = list(zip(one["losses"], four["losses"], strict=True))
    assert [(a, b) for a, b in steps if abs(a - b) > TOLERANCES[dtype] * abs(a)] == []
    norms = list(zip(one["statistics"], four["statistics"], strict=True))
    assert bool(norms) == residual
    assert [index for index, pair in enumerate(norms) if apart(*pair) > TOLERANCES[dtype]] == []
    assert abs(one["lost"][1] - one["losses"][1]) > HARDLY.get(name, LOST) * abs(one["losses"][1])


SPLIT = """
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
        [sys.executable, "-c", SPLIT, str(devices), str(batch), str(HERE)], capture_output=True, text=True, check=True
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
