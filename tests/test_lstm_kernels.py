"""The LSTM's kernels for GPUs, played on the CPU, are its loops; and each device does its own examples."""

import subprocess
import sys
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp

from suite.nn import flop, lstm, lstm_gpu
from suite.nn.lstm import BidirectionalLstm, states_on_gpu
from suite.programs.jax.jaxpr_cost import product_flop

HOPPER = SimpleNamespace(compute_capability="9.0")
pytestmark = pytest.mark.skipif(jax.__version_info__ < (0, 11), reason="the kernels need jax 0.11")
EXAMPLES, DIRECTIONS, FEATURES = 3, 2, 64


@pytest.fixture
def kernels(monkeypatch):
    """The module of the kernels, played by Pallas on the CPU, where what was never written is not a number."""
    from jax.experimental.pallas import mosaic_gpu

    from suite.nn import lstm_kernels

    for name in ("lstm_forward", "lstm_backward"):  # played kernels cannot be split over devices
        monkeypatch.setattr(lstm_kernels, name, getattr(lstm_kernels, name).fun)
    with mosaic_gpu.force_gpu_interpret_mode(mosaic_gpu.InterpretGPUParams()):
        yield lstm_kernels


def arguments(positions, dtype=jnp.float32):
    rng = np.random.default_rng(0)
    shapes = ((EXAMPLES, positions, DIRECTIONS, 4 * FEATURES), (DIRECTIONS, FEATURES, 4 * FEATURES))
    drive, recurrent, bias = (rng.normal(size=shape) for shape in (*shapes, shapes[0][2:]))
    return tuple(jnp.asarray(each, dtype) for each in (drive, 0.2 * recurrent, bias))


def states_and_gradients(of, given):
    weights = np.random.default_rng(1).normal(size=(EXAMPLES, DIRECTIONS, FEATURES))
    gradients = jax.grad(lambda *a: (weights * of(*a).astype(jnp.float32)).sum(), (0, 1, 2))(*given)
    return [np.asarray(each, np.float64) for each in (of(*given), *gradients)]


def apart(found, right):
    return [abs(mine - theirs).max() / max(abs(theirs).max(), 1e-9) for mine, theirs in zip(found, right, strict=True)]


@pytest.mark.parametrize("positions", [1, pytest.param(2, marks=pytest.mark.slow), 7])
def test_states_and_gradients_are_those_of_the_loops(kernels, positions):
    given = arguments(positions)
    found, right = (states_and_gradients(of.last_states, given) for of in (kernels, lstm_gpu))
    assert max(apart(found, right)) < 3e-6


# the kernels move bfloat16 themselves, or float32
@pytest.mark.parametrize("version", [(0, 11, 2), pytest.param((0, 12, 0), marks=pytest.mark.slow)])
def test_in_bfloat16_only_what_is_stored_is_rounded(monkeypatch, kernels, version):
    monkeypatch.setattr(jax, "__version_info__", version)
    given = arguments(7, jnp.bfloat16)
    assert kernels.last_states(*given).dtype == jnp.bfloat16
    right = states_and_gradients(lstm_gpu.last_states, [each.astype(jnp.float32) for each in given])
    mine, loops = (apart(states_and_gradients(of.last_states, given), right) for of in (kernels, lstm_gpu))
    assert max(mine) < 0.02
    assert all(one < 1.5 * other for one, other in zip(mine, loops, strict=True))


def drive_of(features, dtype):
    return jax.ShapeDtypeStruct((EXAMPLES, 7, DIRECTIONS, 4 * features), dtype)


@pytest.mark.parametrize(
    ("device", "features", "dtype", "served"),
    [
        (HOPPER, 64, jnp.float32, True),
        (HOPPER, 64, jnp.bfloat16, True),
        (HOPPER, 64, jnp.float64, False),
        (HOPPER, 32, jnp.float32, False),
        (SimpleNamespace(compute_capability="8.0"), 64, jnp.float32, False),
        (SimpleNamespace(compute_capability="12.0"), 64, jnp.float32, False),
        (SimpleNamespace(compute_capability="gfx942"), 64, jnp.float32, False),
        (SimpleNamespace(), 64, jnp.float32, False),
    ],
)
def test_what_the_kernels_were_not_written_for_has_the_loops(monkeypatch, device, features, dtype, served):
    monkeypatch.setattr(jax, "devices", lambda: [device])
    with jax.enable_x64(True):
        module = states_on_gpu(drive_of(features, dtype)).__module__
    assert module == ("suite.nn.lstm_kernels" if served else "suite.nn.lstm_gpu")


@pytest.mark.parametrize("version", [(0, 10, 2), (0, 13, 0)])
def test_a_jax_that_they_were_not_compiled_with_has_the_loops(monkeypatch, version):
    monkeypatch.setattr(jax, "devices", lambda: [HOPPER])
    monkeypatch.setattr(jax, "__version_info__", version)
    assert states_on_gpu(drive_of(64, jnp.float32)) is lstm_gpu.last_states


def test_their_products_are_counted(monkeypatch):
    monkeypatch.setattr(lstm.jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(lstm.jax, "devices", lambda: [HOPPER])
    positions, inputs = 7, 16
    graph, params = nnx.split(nnx.eval_shape(lambda: BidirectionalLstm(inputs, FEATURES)))
    x = jax.ShapeDtypeStruct((EXAMPLES, positions, inputs), jnp.float32)
    traced = jax.make_jaxpr(jax.grad(lambda p, x: nnx.merge(graph, p)(x).sum(), (0, 1)))(params, x)
    forward = EXAMPLES * DIRECTIONS * flop.lstm(positions, inputs, FEATURES)
    assert product_flop(traced.jaxpr) == flop.training(forward)


SPLIT = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 4)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from suite.nn.lstm_kernels import by_example
seen = []

@by_example("n t k g, n t k d, k d g, n k d -> n t k g")
def of(gates, cells, recurrent, gradient):
    seen.append(len(gates))
    return gates + cells @ recurrent.sum(0) + (gradient[:, None] @ recurrent.sum(0))

@by_example("n t k g, k d g -> n k g, n t k g")
def two(drive, recurrent):
    return drive.sum(1) * recurrent.sum(1), drive

mesh = Mesh(np.array(jax.devices()), ("devices",))
rng = np.random.default_rng(0)
given = [rng.normal(size=s).astype(np.float32) for s in ((8, 3, 2, 4), (8, 3, 2, 5), (2, 5, 4), (8, 2, 5))]
places = [NamedSharding(mesh, P("devices") if len(a) == 8 else P()) for a in given]

def step(gates, cells, recurrent, gradient):
    last, same = two(of(gates, cells, recurrent, gradient), recurrent)
    return last, same, (same * 2).sum()

right = step(*given)
run = jax.jit(step, in_shardings=places).lower(*given).compile()
found = run(*[jax.device_put(a, p) for a, p in zip(given, places)])
for mine, theirs in zip(found, right):
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)
assert seen[-1] == 2, seen
assert found[0].sharding.spec[0] == "devices"
assert "all-gather" not in run.as_text() and "all-to-all" not in run.as_text()
"""


def test_each_device_does_its_own_examples():
    done = subprocess.run([sys.executable, "-c", SPLIT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
