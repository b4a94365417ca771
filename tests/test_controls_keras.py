"""Every control in Keras is the documented network and can be driven as a program."""

import os
import subprocess
import sys

import numpy as np
import pytest
import reference
import synthetic

from suite import controls_keras
from suite.case import Case

os.environ["KERAS_BACKEND"] = "tensorflow"
HEAVY_FLOP = 1_000_000_000  # an example of a model above it takes seconds


def test_finding_the_controls_imports_no_framework():
    code = "import sys; from suite import controls_keras as c; c.names(); sys.exit('keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_control_is_named_with_all_there_are():
    with pytest.raises(LookupError, match=r"no control in Keras for workload 'nothing'; there are: .*mnist_mlp"):
        controls_keras.load("nothing")


def heavy(name):
    return reference.of(name)["counts"]["flop_per_example"] > HEAVY_FLOP


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.slow] if heavy(n) else []) for n in controls_keras.names()])
def name(request):
    pytest.importorskip("keras", reason="Keras is not installed here; the Keras environment has it")
    return request.param


def batches(control, name, examples=8):
    """Return two batches: drawn, or such that each class has a picture of its own."""
    rng = np.random.default_rng(0)
    if (first := synthetic.drawn(control, rng, examples)) is not None:
        return [first, synthetic.drawn(control, rng, examples)]
    prototypes = rng.integers(0, 256, (10, *synthetic.SIDES[reference.of(name)["dataset"]]), dtype=np.uint8)
    drawn = [rng.integers(0, 10, examples) for _ in range(2)]
    return [synthetic.pictured(control.preparation, prototypes[labels], labels) for labels in drawn]


@pytest.fixture
def program(name):
    from suite.programs.keras_program import KerasProgram

    control = controls_keras.load(name)
    case = Case(workload=name, backend="cpu", scope="step", batch=8, implementation="keras")
    made = KerasProgram(control, case)
    made.initialise(0)
    made.put(batches(control, name))
    made.lower()
    made.compile()
    return made


def test_every_control_has_the_documented_parameters(name):
    model, wanted = controls_keras.load(name).model(), reference.of(name)["counts"]
    trainable = sum(int(np.prod(variable.shape)) for variable in model.trainable_variables)
    assert (model.count_params(), trainable) == (wanted["parameters"], wanted["trainable_parameters"])


def test_the_loss_of_every_control_falls_on_learnable_data(name, program):
    program.chain(1)
    program.block()
    first = program.loss()
    steps = reference.of(name)["learns"].get("keras")
    program.chain(steps or 20)
    program.block()
    assert np.isfinite(program.loss())
    if controls_keras.load(name).optimizer is None:
        assert program.loss() == first
    else:
        assert steps is None or program.loss() < 0.7 * first


def test_the_step_is_traced_once(program):
    program.chain(3)
    assert program.compilations() == 1


def test_another_backend_than_the_cpu_is_an_error(name):
    from suite.programs.keras_program import KerasProgram

    case = Case(workload=name, backend="gpu", scope="step", batch=8, implementation="keras")
    with pytest.raises(RuntimeError, match="Keras runs on 'cpu' alone"):
        KerasProgram(controls_keras.load(name), case)
