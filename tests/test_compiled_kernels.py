"""The LSTM's kernels compile for a Hopper GPU, which need not be there: `nox -s kernels` brings the compilers."""

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
  device_memory_size: 80000000000
}
platform_name: "CUDA"
device_description_str: "Hopper"
"""
PROGRAM = """
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from suite.nn.lstm_kernels import last_states

dtype, devices, gpu = sys.argv[1], int(sys.argv[2]), sys.argv[3]
there = topologies.get_topology_desc(platform="cuda", topology=f"1x1x{devices}", target_config=gpu).devices
mesh = Mesh(np.array(there), ("data",))
shapes = (((64, 256, 2, 256), P("data")), ((2, 64, 256), P()), ((2, 256), P()))
given = [jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, axes)) for shape, axes in shapes]
run = jax.jit(jax.grad(lambda *a: last_states(*a).astype(jnp.float32).sum(), (0, 1, 2))).lower(*given).compile()
print("gathers", "all-gather" in run.as_text())
"""


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_they_compile_for_hopper_and_keep_everything_in_registers(dtype, devices):
    env = os.environ | {"JAX_PLATFORMS": "cpu", "MOSAIC_GPU_DUMP_PTXAS": "1"}
    arguments = [sys.executable, "-c", PROGRAM, dtype, str(devices), GPU]
    done = subprocess.run(arguments, capture_output=True, env=env, check=False)
    said = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == 0, said[-3000:]
    spilt = [int(found) for found in re.findall(r"(\d+) bytes spill", said)]
    assert len(spilt) >= 4  # stores and loads of both passes
    assert sum(spilt) == 0
    print(sorted(re.findall(r"Used \d+ registers", said)))
    assert "gathers False" in said
