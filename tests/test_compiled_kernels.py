"""What is written for a Hopper GPU compiles for one that need not be there: `nox -s kernels` brings the compilers."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax_cuda13_plugin") is None, reason="needs CUDA's compilers: nox -s kernels"
)
# What XLA has to know of a GPU that is not there: the figures of an H100, as in XLA's own specifications of targets.
GPU = """
gpu_device_info {
  cuda_compute_capability { major: 9 feature_extension: ACCELERATED_FEATURES }
  core_count: 132 fpus_per_core: 128 threads_per_warp: 32 threads_per_block_limit: 1024 threads_per_core_limit: 2048
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 shared_memory_per_block_optin: 232448
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  device_memory_size: 80000000000 memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
}
platform_name: "CUDA"
device_description_str: "Hopper"
"""
MESH = """
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

gpu, devices = sys.argv[1], int(sys.argv[2])
there = topologies.get_topology_desc(platform="cuda", topology=f"1x1x{devices}", target_config=gpu).devices
mesh = Mesh(np.array(there), ("data",))
"""
LSTM = """
from suite.nn.lstm_kernels import last_states

dtype = sys.argv[3]
shapes = (((64, 256, 2, 256), P("data")), ((2, 64, 256), P()), ((2, 256), P()))
given = [jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, axes)) for shape, axes in shapes]
run = jax.jit(jax.grad(lambda *a: last_states(*a).astype(jnp.float32).sum(), (0, 1, 2))).lower(*given).compile()
print("gathers", "all-gather" in run.as_text())
"""


TREES = """
from functools import partial
from suite.nn.growth import Growth
from suite.nn.trees import boosted

rows, columns = 400_000, 45
shapes = ((rows,), jnp.float32), ((columns, rows), jnp.uint8), ((rows,), jnp.float32)
given = [jax.ShapeDtypeStruct(*each, sharding=NamedSharding(mesh, P())) for each in shapes]
run = jax.jit(partial(boosted, Growth(), dense=True)).lower(*given).compile()
print("bytes", run.memory_analysis().temp_size_in_bytes)
print(run.as_text().split("ENTRY")[-1])
"""


SEARCH = """
from suite.programs.jax.grid_search import picking
from suite.programs.jax.stacked import StackedProgram
from suite.models.mnist_grid_search import WORKLOAD
from suite.case import Case

batch, examples = 192, 60_000
program = StackedProgram(WORKLOAD, Case(workload="mnist_grid_search", backend="cpu", scope="step", batch=batch,
                                        variant="stacked"))
program.initialise(0)
jax.default_backend = lambda: "gpu"  # the convolutions are then those of a GPU
given = {"images": ((examples, 28, 28, 1), jnp.float32), "labels": ((examples, 10), jnp.float32),
         "rows": ((batch,), jnp.int32)}
shaped = lambda shape, dtype: jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P()))
state = [shaped(leaf.shape, leaf.dtype) for leaf in program._state]
step = jax.jit(picking(program._step), donate_argnums=0)
print(step.lower(state, {name: shaped(*each) for name, each in given.items()}).compile().as_text())
"""


def said(program, devices, *arguments):
    """What a program that compiles for so many GPUs prints, its compilers' words behind."""
    env = os.environ | {"JAX_PLATFORMS": "cpu", "MOSAIC_GPU_DUMP_PTXAS": "1"}
    command = [sys.executable, "-c", MESH + program, GPU, str(devices), *arguments]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    words = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == 0, words[-3000:]
    return words


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_lstm_compiles_and_keeps_everything_in_registers(dtype, devices):
    words = said(LSTM, devices, dtype)
    spilt = [int(found) for found in re.findall(r"(\d+) bytes spill", words)]
    assert len(spilt) >= 4  # stores and loads of both passes
    assert sum(spilt) == 0
    print(sorted(re.findall(r"Used \d+ registers", words)))
    assert "gathers False" in words


def test_trees_add_rows_straight_from_the_table_that_lies_row_by_row():
    words = said(TREES, 1)
    assert "u8[400000,45]{1,0}" in words
    assert not re.findall(r"[suf]\d\d\[(?:18000000|400000,45|45,400000)[],]", words), "a place or sum for each number"
    assert int(re.findall(r"bytes (\d+)", words)[0]) < 3 * 400_000 * 45


def test_a_search_s_steps_take_their_examples_and_move_no_others():
    lines = [line for line in said(SEARCH, 1).splitlines() if " = " in line]
    made = [line for line in lines if re.search(r" = \(?[a-z0-9]+\[60000", line)]
    assert made, "the examples are an argument"
    assert all("parameter(" in line or "bitcast(" in line for line in made), made
