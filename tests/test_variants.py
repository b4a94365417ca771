"""Each way of taking steps takes the same steps, on one device or several, and a way that is not there is refused."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from flax import nnx

from suite import models, variants
from suite.case import Case
from suite.programs.jax.jaxpr_cost import jaxpr_cost
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.sharding import devices, shardings
from suite.programs.jax.stacked import StackedProgram
from suite.variants import STEPS_PER_CALL
from suite.worker import main
from suite.workload import Workload

TRAINED = ("mnist_mlp", "cifar10_mlp", "dp_linear_mirrored")
SETS = 4


class Tripled(nnx.Module):
    """A network to be used, not trained."""

    def __init__(self, rngs):
        self.output = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        return self.output(x)


INFERENCE = Workload(
    description=models.load("dp_linear_mirrored").description,
    model=Tripled,
    loss=lambda model, batch: jnp.mean(jnp.square(model(batch["inputs"]).astype(jnp.float32))),
    draw=lambda rng, examples: {"inputs": rng.standard_normal((examples, 3), np.float32)},
)


def batches(workload, examples):
    return synthetic.batches(workload, workload.description.dataset, examples, SETS)


@cache
def losses(workload, variant, precision="float32-highest"):
    """Return the losses after the first 16 steps and after 32, and how many programs were compiled in between."""
    name = workload.description.name
    case = Case(workload=name, backend="cpu", scope="step", batch=8, variant=variant, precision=precision)
    program = (NnxProgram if variant == "nnx-jit" else JaxProgram)(workload, case)
    program.initialise(0)
    program.put(batches(workload, 8))
    program.lower()
    program.compile()
    program.chain(STEPS_PER_CALL)
    program.block()
    first, compiled = program.loss(), program.compilations()
    program.chain(STEPS_PER_CALL)
    program.block()
    return first, program.loss(), program.compilations() - compiled


@pytest.fixture(params=[*map(models.load, TRAINED), INFERENCE], ids=[*TRAINED, "inference"])
def workload(request):
    return request.param


@pytest.mark.parametrize("variant", ["nnx-jit", "scan"])
def test_a_variant_takes_the_very_steps_of_the_plain_way(workload, variant):
    plain, other = losses(workload, "plain"), losses(workload, variant)
    assert other[:2] == pytest.approx(plain[:2], rel=1e-4, abs=1e-9)
    if workload.optimizer is not None:
        assert other[0] != pytest.approx(other[1], rel=1e-3)


@pytest.mark.parametrize("variant", ["plain", "nnx-jit", "scan"])
@pytest.mark.parametrize("precision", ["float32-highest", "bfloat16"])
def test_every_way_of_taking_a_step_needs_the_products_of_the_network(variant, precision):
    workload = models.load("mnist_mlp")
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=8, variant=variant, precision=precision)
    program = (NnxProgram if variant == "nnx-jit" else JaxProgram)(workload, case)
    program.initialise(0)
    program.put(batches(workload, 8))
    program.lower()
    seen = program.jaxpr_cost()
    assert seen.flop_per_step == 8 * workload.description.flop_per_example
    assert seen.parameters >= workload.description.trainable_parameters
    assert seen.examples == 8
    assert seen.product_dtypes == ("float32" if precision == "float32-highest" else "bfloat16",)


@pytest.mark.parametrize("variant", ["plain", "scan"])
def test_an_inference_holds_its_weights_and_has_others_after_another_start(variant):
    case = Case(workload=INFERENCE.description.name, backend="cpu", scope="step", batch=8, variant=variant)
    program = JaxProgram(INFERENCE, case)
    found = []
    for seed in (0, 1, 0):
        program.initialise(seed)
        program.put(batches(INFERENCE, 8))
        if not found:
            program.lower()
            program.compile()
        program.chain(STEPS_PER_CALL)
        program.block()
        found.append((program.loss(), program.compilations()))
    assert program.jaxpr_cost().parameters >= 3 * 3 + 3
    assert program.settings()["jax_weights_constant"]
    assert program.weights_are_constants()
    (loss, compiled), (other, _), (again, _) = found
    assert loss == again != pytest.approx(other, rel=1e-3)
    program.initialise(0)
    program.put(batches(INFERENCE, 8))
    assert program.compilations() == compiled + 2, "the same weights are not compiled again"


def test_weights_that_no_answer_needs_are_not_counted():
    weights, batch = (np.ones((3, 4), np.float32), np.ones(5, np.float32)), {"x": np.ones((2, 3), np.float32)}

    def answers(of, batch):
        return batch["x"] @ of[0], batch["x"].sum() * of[1]

    def deaf(of, batch):
        answers(of, batch)
        return batch["x"].sum()

    for run, counted in ((answers, 3 * 4 + 5), (deaf, 0)):
        traced = jax.jit(partial(run, weights)).trace(batch)
        assert jaxpr_cost(traced.jaxpr, batch, 0, 1).parameters == counted


@pytest.mark.parametrize("variant", ["plain", "nnx-jit", "scan"])
def test_no_variant_compiles_after_its_first_steps(workload, variant):
    assert losses(workload, variant)[2] == 0


@pytest.mark.parametrize("variant", ["scan", pytest.param("nnx-jit", marks=pytest.mark.slow)])
def test_a_variant_in_bfloat16_takes_the_steps_of_the_plain_way(variant):
    workload = replace(models.load("mnist_mlp"), cpu_kernels="xla")  # which round as nnx.jit's do
    plain, other = losses(workload, "plain", "bfloat16"), losses(workload, variant, "bfloat16")
    assert other[:2] == pytest.approx(plain[:2], rel=2e-2)


def test_several_steps_make_one_call():
    case = Case(workload="cifar10_mlp", backend="cpu", scope="step", batch=8, variant="scan")
    assert JaxProgram(models.load("cifar10_mlp"), case).steps_per_call == STEPS_PER_CALL


@pytest.mark.parametrize(
    ("implementation", "variant", "backend", "words"),
    [
        ("jax", "compile", "cpu", r"no variant 'compile' of 'jax' .*there are: plain, nnx-jit, scan"),
        ("torch", "graph", "cpu", "no variant 'graph' of 'torch' on backend 'cpu'; there are: plain, compile$"),
        ("torch", "nothing", "gpu", "there are: plain, compile, graph, compile-graph$"),
        ("keras", "compile", "cpu", "there are: plain$"),
        ("keras", "plain", "gpu", "on backend 'gpu'; there are: none$"),
    ],
)
def test_a_worker_refuses_a_variant_that_is_not_there(implementation, variant, backend, words):
    case = Case(
        workload="mnist_mlp", backend=backend, scope="step", batch=8, implementation=implementation, variant=variant
    )
    with pytest.raises(LookupError, match=words):
        main.program(case)


def test_every_variant_of_jax_has_its_program():
    for variant in variants.variants_of("jax", "cpu"):
        case = Case(workload="mnist_grid_search", backend="cpu", scope="step", batch=64, variant=variant)
        program, _ = main.program(case)
        assert isinstance(program, NnxProgram) == (variant == "nnx-jit")
        assert isinstance(program, StackedProgram) == (variant == "stacked")


SHARDED = """
import sys
sys.path.insert(0, {tests!r})
import jax
import test_variants as ours
from suite import models
from suite.worker import main
from suite.case import Case

name, variant, devices = sys.argv[1], sys.argv[2], int(sys.argv[3])
case = Case(workload=name, backend="cpu", scope="step", batch=8, variant=variant, devices=devices)
program, workload = main.program(case)
program.initialise(0)
program.put(ours.batches(workload, 8))
program.lower()
program.compile()
program.chain(16)
program.block()
(first,) = {{len(array.sharding.device_set) for array in jax.tree.leaves(program._batches)}}
(text,) = [program._compiled.as_text()] if hasattr(program, "_compiled") else [""]
print(program.loss(), first, "all-reduce" in text)
"""


def sharded(name, variant, devices):
    """Return the loss after 16 steps, over how many devices the batches lie, and whether gradients are summed."""
    code = SHARDED.format(tests=os.path.dirname(__file__))  # noqa: PTH120
    answer = subprocess.run(
        [sys.executable, "-c", code, name, variant, str(devices)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    loss, spread, summed = answer.stdout.split()
    return float(loss), int(spread), summed == "True"


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("dp_linear_mirrored", "scan"),
        *(pytest.param(*way, marks=pytest.mark.slow) for way in (("mnist_mlp", "plain"), ("mnist_mlp", "nnx-jit"))),
    ],
)
def test_steps_over_four_devices_are_those_of_one(name, variant):
    one, four = sharded(name, variant, 1), sharded(name, variant, 4)
    assert four[0] == pytest.approx(one[0], rel=1e-5, abs=1e-6)
    assert (one[1], four[1]) == (1, 4)
    if variant != "nnx-jit":
        assert (one[2], four[2]) == (False, True)


def test_a_batch_that_does_not_divide_is_refused_by_the_worker_too():
    case = Case(workload="dp_linear_mirrored", backend="cpu", scope="step", batch=9, devices=2)
    with pytest.raises(ValueError, match="batch 9 does not divide over 2 devices"):
        shardings(case)


def test_more_devices_than_there_are_is_an_error():
    jax.devices()  # from now on there are as many as there are
    with pytest.raises(RuntimeError, match=r"64 devices asked for on backend 'cpu', JAX sees \d+; ask for fewer"):
        devices("cpu", 64)
