"""The digest of a lowered program: where its code lies does not change it, what it computes does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from suite.case import Case
from suite.models import load
from suite.programs.jax import lowered_digest
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.program import JaxProgram

PACKAGE = Path(__file__).parent.parent / "suite"
LOWER = """
import sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 2)
from suite.programs import load
from suite.programs.jax import lowered_digest
from suite.case import Case

seed = int(sys.argv[1])
for name, batch in (("cifar10_mlp", 8), ("serve_mobilenet_v2", 1)):
    case = Case(workload=name, implementation="jax", backend="cpu", scope="step", batch=batch)
    program, owner = load.of_this_host(case)
    side, labels = (32, {"labels": np.zeros((batch, 10), np.float32)}) if batch > 1 else (224, {})
    program.initialise(seed)
    program.put([{"images": np.full((batch, side, side, 3), seed, np.float32)} | labels])
    program.lower()
    print(program.program_digest())
if jax.__version_info__ >= (0, 11):
    from jax.sharding import NamedSharding, PartitionSpec
    from suite.nn import lstm_kernels
    given = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((4, 7, 2, 256), (2, 64, 256), (2, 256))]
    mesh = jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices("cpu")[:2])
    spread = [NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("data",), (), ())]
    for options in ({}, {"in_shardings": spread}):
        traced = jax.jit(lstm_kernels.last_states, **options).trace(*given)
        text = lowered_digest.text_of(traced.lower(lowering_platforms=("cuda",)))
        print(lowered_digest.digest([text, *lowered_digest.split_texts(traced, text, "gpu")]))
"""


def digests(root, seed):
    """What a process says that has the package from this folder."""
    env = os.environ | {"PYTHONPATH": str(root), "PYTHONHASHSEED": str(seed), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-P", "-c", LOWER, str(seed)]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def edited(root, changes):
    for name, (before, after) in changes.items():
        path = root / "suite" / name
        text = path.read_text()
        assert before in text, name
        path.write_text(text.replace(before, after, 1))


@pytest.fixture(scope="module")
def original():
    return digests(PACKAGE.parent, 0)


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "suite")  # with bytecode, which fits what is not edited
    return tmp_path


def test_a_renamed_file_moved_lines_other_docstrings_seeds_and_processes_leave_the_program_as_it_is(original, copy):
    for path in (*copy.glob("suite/nn/*.py"), *copy.glob("suite/models/*.py"), *copy.glob("suite/programs/**/*.py")):
        path.write_text(
            "\n\n\n" + path.read_text().replace('"""', '"""In other words: ', 1).replace("\n\n\n", "\n" * 6)
        )
    (copy / "suite/nn/dense.py").rename(copy / "suite/nn/products.py")
    (copy / "suite/nn/lstm_kernels.py").rename(copy / "suite/nn/lstm_of_gpus.py")
    (copy / "suite/nn/lstm_kernels.py").write_text("from suite.nn.lstm_of_gpus import *\n")
    edited(copy, {"models/cifar10_mlp.py": ("import dense, flop", "import flop, products as dense")})
    assert digests(copy, 7) == original


def test_a_changed_layer_kernel_and_network_are_other_programs(original, copy):
    changes = {
        "nn/dense.py": ("lax.optimization_barrier((towards_x, x.T, gradient))", "towards_x, x.T, gradient"),
        "nn/lstm_kernels.py": ("c = f * c + i * g", "c = f * c + i * g + 0.0"),
        "models/serve_mobilenet_v2.py": ("nnx.relu6", "nnx.relu"),
    }
    edited(copy, changes)
    changed = digests(copy, 0)
    assert len(changed) == len(original)
    assert not set(changed) & set(original)


def text_of(function, *given):
    return lowered_digest.text_of(jax.jit(function).lower(*given))


def test_names_of_functions_and_arguments_are_no_part_of_a_program():
    def one(values):
        return jax.jit(lambda x: jnp.tanh(x) * 2.0)(values["images"])

    def other(of):
        @jax.jit
        def product(x):
            return jnp.tanh(x) * 2.0

        return product(of["photographs"])

    x = jnp.ones(3)
    texts = text_of(one, {"images": x}), text_of(other, {"photographs": x})
    assert lowered_digest.digest(texts[:1]) == lowered_digest.digest(texts[1:])
    changed = text_of(lambda of: jax.jit(lambda x: jnp.tanh(x) * 3.0)(of["a"]), {"a": x})
    assert lowered_digest.digest([changed]) != lowered_digest.digest(texts[:1])


def test_a_call_of_the_compiler_is_told_by_its_name():
    texts = [f"module @jit_f {{\n  %0 = stablehlo.custom_call @{name}(%arg0) : tensor<f32>\n}}" for name in "ab"]
    assert lowered_digest.normalised(texts[0]) != lowered_digest.normalised(texts[1])


def weighted(size, value, added=0.5):
    """The text of a program that holds so many weights of this value."""
    held = np.linspace(value, 2 * value, size, dtype=np.float32)
    return text_of(lambda x: x * held + added, jnp.ones(size))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_of_constant_weights_the_shape_counts_and_no_number(size):
    digests = [
        lowered_digest.digest([weighted(*given)], weights=True)
        for given in ((size, 1.0), (size, 7.0), (size + 1, 1.0), (size, 1.0, 0.6))
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_of_a_program_without_constant_weights_small_constants_count():
    assert len({lowered_digest.digest([weighted(3, value)]) for value in (1.0, 2.0)}) == 2


def lowered(variant, seed):
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=8, variant=variant)
    program = (NnxProgram if variant == "nnx-jit" else JaxProgram)(load("mnist_mlp"), case)
    program.initialise(seed)
    shapes = {"images": (8, 28, 28, 1), "labels": (8, 10)}
    program.put([{name: np.full(shape, seed, np.float32) for name, shape in shapes.items()}] * 4)
    program.lower()
    return program


def test_each_way_of_a_step_has_a_digest_of_its_own_that_no_seed_changes():
    found = {}
    for variant in ("plain", "scan", "nnx-jit"):
        program = lowered(variant, 0)
        state = program.state_digest()
        found[variant] = program.program_digest()
        assert program.state_digest() == state
        assert lowered(variant, 1).program_digest() == found[variant]
    assert len(set(found.values())) == 3


def test_a_digest_leaves_what_is_lowered_fit_to_be_compiled():
    program = lowered("plain", 0)
    before = program.program_digest()
    program.compile()
    program.chain(2)
    program.block()
    assert program.program_digest() == before
    program.compile()
