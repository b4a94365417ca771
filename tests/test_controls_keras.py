"""Every control in Keras is the documented network and can be driven as a program."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import synthetic

from suite import controls_keras
from suite.case import Case

os.environ["KERAS_BACKEND"] = "tensorflow"
HERE = Path(__file__).parent
HEAVY_FLOP = 1_000_000_000  # an example of a model above it takes seconds
STEPS_TO_LEARN = {"cifar10_tf_cnn": 40, "imdb_text_cnn": 200, "imdb_bilstm": 200}  # words say little for long


def test_finding_the_controls_imports_no_framework():
    code = "import sys; from suite import controls_keras as c; c.names(); sys.exit('keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_control_is_named_with_all_there_are():
    with pytest.raises(LookupError, match=r"no control in Keras for workload 'nothing'; there are: .*mnist_mlp"):
        controls_keras.load("nothing")


def documented(name):
    with (HERE / "documented_models.csv").open() as lines:
        (row,) = [row for row in csv.DictReader(lines) if row["name"] == name]
    return {field: int(value) for field, value in row.items() if field != "name"}


def heavy(name):
    return documented(name)["flop_per_example"] > HEAVY_FLOP


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.slow] if heavy(n) else []) for n in controls_keras.names()])
def name(request):
    pytest.importorskip("keras", reason="Keras is not installed here; the Keras environment has it")
    return request.param


def batches(control, name, examples=8):
    """Return two batches: drawn, or such that each class has a picture of its own."""
    rng = np.random.default_rng(0)
    if (first := synthetic.drawn(control, rng, examples)) is not None:
        return [first, synthetic.drawn(control, rng, examples)]
    prototypes = rng.integers(0, 256, (10, *synthetic.SIDES[name.split("_")[0]]), dtype=np.uint8)
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
    model, wanted = controls_keras.load(name).model(), documented(name)
    trainable = sum(int(np.prod(variable.shape)) for variable in model.trainable_variables)
    assert (model.count_params(), trainable) == (wanted["parameters"], wanted["trainable_parameters"])


def test_the_loss_of_every_control_falls_on_learnable_data(name, program):
    program.chain(1)
    program.block()
    first = program.loss()
    program.chain(STEPS_TO_LEARN.get(name, 20))
    program.block()
    assert np.isfinite(program.loss())
    if controls_keras.load(name).optimizer is None:
        assert program.loss() == first
    elif name != "catdog_cnn_deep":  # 36 plain convolutions let nothing through to learn from
        assert program.loss() < 0.7 * first


def test_the_step_is_traced_once(program):
    program.chain(3)
    assert program.compilations() == 1


def test_another_backend_than_the_cpu_is_an_error(name):
    from suite.programs.keras_program import KerasProgram

    case = Case(workload=name, backend="gpu", scope="step", batch=8, implementation="keras")
    with pytest.raises(RuntimeError, match="Keras runs on 'cpu' alone"):
        KerasProgram(controls_keras.load(name), case)
