"""Keras as written trains the control's network with the control's loss, on the framework that is named."""

import importlib
import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from suite import controls_keras
from suite.case import Case
from suite.programs import load

if "keras" not in sys.modules:
    os.environ["KERAS_BACKEND"] = next((name for name in ("tensorflow", "torch", "jax") if find_spec(name)), "numpy")
ON = os.environ.get("KERAS_BACKEND", "")
keras = pytest.importorskip("keras", reason="Keras is not installed here; the Keras environment has it")
KerasLoop = pytest.importorskip("suite.programs.keras_loop").KerasLoop
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")  # of Keras on PyTorch
BATCH = 4
LABELS = {"cifar10_mlp": lambda rng: np.eye(10, dtype=np.float32)[rng.integers(0, 10, BATCH)],
          "cifar10_tf_cnn": lambda rng: np.eye(10, dtype=np.float32)[rng.integers(0, 10, BATCH)],
          "catdog_cnn_base": lambda rng: rng.integers(0, 2, BATCH).astype(np.float32)}  # fmt: skip
SIDES = {"cifar10_mlp": 32, "cifar10_tf_cnn": 24, "catdog_cnn_base": 64, "serve_mobilenet_v2": 224}


def sets(name, count=3):
    rng, side = np.random.default_rng(0), SIDES[name]
    return [
        {"images": rng.random((BATCH, side, side, 3), np.float32)}
        | ({"labels": LABELS[name](rng)} if name in LABELS else {})
        for _ in range(count)
    ]


def program(way, name="cifar10_mlp", on=ON):
    case = Case(
        workload=name, backend="cpu", scope="written", batch=BATCH, implementation="keras", variant=f"{way}-{on}"
    )
    made = KerasLoop(controls_keras.load(name), case)
    made.initialise(0)
    made.put(sets(name))
    made.lower()
    made.compile()
    return made


@pytest.mark.parametrize("name", list(LABELS))
def test_the_loss_of_a_batch_is_the_controls_and_falls(name):
    made, control = program("train-on-batch", name), controls_keras.load(name)
    expected = float(keras.ops.convert_to_numpy(control.loss(made._model, sets(name)[0])))
    made.chain(1)
    assert made.loss() == pytest.approx(expected, rel=1e-4)
    made.chain(3 * 40)
    made.block()
    assert made.loss() < expected


def test_channels_are_normalised_by_their_nine_nearest_on_every_framework():
    x = 3 * np.random.default_rng(0).standard_normal((2, 3, 5, 12)).astype(np.float32)
    layer = importlib.import_module("suite.controls_keras.cifar10_tf_cnn").normalised()
    squares = np.pad(x * x, ((0, 0), (0, 0), (0, 0), (4, 4)))
    expected = x / (1 + 0.001 / 9 * sum(squares[..., i : i + 12] for i in range(9))) ** 0.75
    assert keras.ops.convert_to_numpy(layer(x)) == pytest.approx(expected, rel=1e-5)


def test_a_fit_takes_whole_epochs_in_one_call():
    made = program("fit")
    assert made.steps_per_call == 3
    made.chain(6)
    made.block()
    assert int(made._model.optimizer.iterations) == 6


def test_batches_follow_each_other_and_start_again():
    made, seen = program("train-on-batch"), []
    made._one_batch = lambda rows: seen.append(rows.start)
    made.chain(2)
    made.chain(3)
    assert seen == [0, 4, 8, 0, 4]
    assert made.steps_per_call == 1


@pytest.mark.parametrize("way", ["predict", "predict-on-batch"])
def test_an_inference_answers_each_picture(way):
    made = program(way, "serve_mobilenet_v2")
    made.chain(made.steps_per_call)
    made.block()
    last = sets("serve_mobilenet_v2")[-1 if way == "predict" else 0]["images"]
    answer = np.asarray(made._model.predict(last, verbose=0))[-1].mean()
    assert made.loss() == pytest.approx(float(answer), rel=1e-3, abs=1e-5)


def test_parameters_lie_where_the_case_asks_for_and_versions_are_named():
    made = program("fit")
    assert made.platform() == "cpu"
    assert {"keras", ON} <= made.packages().keys()
    assert "fit" in made.program_digest()


def test_another_framework_than_the_cases_is_refused():
    other = "jax" if ON != "jax" else "torch"
    with pytest.raises(RuntimeError, match=f"Keras runs on '{ON}'; set KERAS_BACKEND to '{other}'"):
        program("fit", on=other)


def test_a_whole_run_fits_an_epoch_at_a_time_and_its_validation_trains_nothing():
    whole = {name: np.concatenate([one[name] for one in sets("cifar10_mlp")])[:10] for name in ("images", "labels")}
    case = Case(
        workload="cifar10_mlp", backend="cpu", scope="run", batch=BATCH, implementation="keras", variant=f"fit-{ON}"
    )
    run = load.of_this_host(case)[0]
    run.initialise(0)
    run.prepare(whole)
    run.train(whole, np.arange(10))
    run.evaluate(whole)
    assert int(run._model.optimizer.iterations) == 3
    assert run.loss() > 0
