"""Training from storage is judged rightly, a network that learns passes, and one that does not is caught."""

from dataclasses import replace

import jax
import numpy as np
import optax
import pytest
import synthetic
from flax import nnx
from learning import losses, training
from learning.__main__ import NETWORKS, checks, has_gpu

from suite import models
from suite.case import Case
from suite.driver import profiles
from suite.nn.optimizers import averaged, sgd
from suite.programs.jax import training as learning
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.packing import PackedModel, vectors_of
from suite.programs.jax.program import JaxProgram
from suite.worker import main
from suite.worker.whole_run import balanced, predictions, sigmoid
from suite.worker_api.protocol import Task
from suite.workload import LearningTarget

MLP = models.load("mnist_mlp")
TARGET = LearningTarget(steps=40, bound=0.9)


# What is right


def test_the_largest_output_is_the_answer_to_one_hot_labels():
    logits, labels = np.array([[0.1, 2.0], [3.0, -1.0], [0.0, 1.0]]), np.eye(2)[[1, 0, 0]]
    assert learning.accuracy(logits, labels) == pytest.approx(2 / 3)


def test_a_logit_above_zero_is_the_answer_one_to_scalar_labels():
    assert learning.accuracy(np.array([-0.1, 0.1, 2.0, -3.0]), np.array([0.0, 1.0, 1.0, 1.0])) == 0.75


def program(workload=MLP, batch=4, seed=0):
    made = learning.LearningProgram(workload, Case(workload="mnist_mlp", backend="cpu", scope="learning", batch=batch))
    random = np.random.default_rng(1)
    given = {"images": random.random((batch, 28, 28, 1), np.float32), "labels": np.eye(10, dtype=np.float32)[:batch]}
    learning.start(made, iter([given]), seed)
    return made


def examples(count):
    random = np.random.default_rng(2)
    labels = np.zeros((count, 10), np.float32)
    return {"images": random.random((count, 28, 28, 1), np.float32), "labels": labels}


def test_every_example_is_answered_once_whatever_the_batch():
    given, made = examples(6), program()
    whole = made.answers(given)
    assert whole.shape == (6, 10)
    one_by_one = [made.answers({name: array[[row]] for name, array in given.items()})[0] for row in range(6)]
    np.testing.assert_allclose(whole, one_by_one, atol=1e-5)


def test_nothing_is_dropped_where_the_network_answers():
    made, given = program(), examples(4)
    assert (made.answers(given) == made.answers(given)).all()
    model = nnx.merge(*made.values(0))
    model.eval()
    with jax.default_matmul_precision("highest"):
        np.testing.assert_allclose(made.answers(given), model(given["images"]), atol=1e-5)


def test_an_average_of_the_parameters_answers_where_there_is_one():
    made = program(replace(MLP, optimizer=lambda: averaged(sgd(0.1))))
    params, rest, moments = made._structures[-1].unflatten(made._state)
    moments = moments._replace(averages=jax.tree.map(lambda x: 0 * x, moments.averages))
    made._state = jax.tree.leaves((params, rest, moments))
    assert not made.answers(examples(4)).any()


def test_losses_are_told_as_they_come_and_the_last_is_among_them():
    made, said = program(), []
    given = iter([{**examples(4), "labels": np.eye(10, dtype=np.float32)[:4]}] * 5)
    found = learning.train(made, given, 5, 2, lambda done, loss: said.append((done, loss)))
    assert said == list(zip((2, 4, 5), found, strict=True))


# The gate


@pytest.fixture(scope="module")
def sample():
    return training.trained("mnist_mlp", TARGET, (0,), "cpu")


def test_a_network_learns(sample):
    assert min(sample.accuracies) >= TARGET.bound
    assert sample.good


@pytest.mark.parametrize("what", ["labels shuffled", "last layer alone learns"])
def test_a_broken_network_is_caught(sample, what):
    assert sample.broken[what] < TARGET.bound


class FrozenVectors(training.FrozenProgram):
    """A frozen network as a GPU is given it, on a CPU."""

    def _packed(self, graph, params, rest):
        return PackedModel(graph, vectors_of(params), vectors_of(rest))


@pytest.mark.parametrize("kind", [training.FrozenProgram, FrozenVectors])
def test_of_a_frozen_network_the_last_layer_alone_learns(kind):
    mlp = models.load("cifar10_mlp")
    program = kind(mlp, Case(workload="cifar10_mlp", backend="cpu", scope="learning", batch=4))
    learning.start(program, iter(synthetic.batches(mlp, "cifar10", 4, 1)), 0)
    started = jax.device_get(program._state)
    program.learn(synthetic.batches(mlp, "cifar10", 4, 2))
    moved = {before.shape: int((before != after).sum()) for before, after in zip(started, program._state, strict=True)}
    last, vectors = moved.pop((1000, 10)), sum(moved.pop(shape) for shape in list(moved) if len(shape) == 1)
    assert last > 0
    assert 0 < vectors <= 10
    assert set(moved.values()) == {0}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_asked_for_what_its_own_file_says(name, monkeypatch):
    for check in ("halved", "finite", "falling", "agreeing"):
        monkeypatch.setattr(losses, check, lambda *_, check=check: check)
    asked, (*found, last) = models.load(name).learning, checks(name, "gpu", True)
    wanted = {"halves": ["halved"], "finite": ["finite"], "falls": ["falling"]}
    assert (found, last) == ([] if isinstance(asked, LearningTarget) else wanted[asked], "agreeing")


def stuck(monkeypatch):
    monkeypatch.setattr(losses.models, "load", lambda _: replace(MLP, optimizer=optax.set_to_zero))


def test_a_loss_that_halves_is_told_from_one_that_does_not(monkeypatch):
    assert losses.halved("mnist_mlp", "cpu", (0,)).good
    stuck(monkeypatch)
    check = losses.halved("mnist_mlp", "cpu", (0,))
    assert (check.good, check.found) == (False, "by seed: not")


def test_a_loss_that_falls_is_told_from_one_that_does_not(monkeypatch):
    assert losses.falling("dp_linear_mirrored", "cpu", (0,)).good
    monkeypatch.setattr(losses, "FALLING_STEPS", 1)
    assert not losses.falling("dp_linear_mirrored", "cpu", (0,)).good


# Curves of two backends


def curve(**changes):
    return losses.curves("mnist_mlp", "cpu", 16, losses.CURVE_STEPS, **changes)[0]


def test_two_programs_of_the_same_network_have_the_same_curve():
    assert losses.furthest(curve(), curve(kind=NnxProgram)) <= losses.CURVE_TOLERANCE


@pytest.mark.parametrize(
    "change",
    [
        {"optimizer": lambda: optax.chain(MLP.optimizer(), optax.scale(1.01))},
        {"loss": lambda model, batch: MLP.loss(model, {**batch, "images": 0.999 * batch["images"]})},
    ],
    ids=["a rate 1 % too high", "pixels 0.1 % too dark"],
)
def test_a_small_difference_between_two_curves_is_caught(monkeypatch, change):
    right = curve()
    monkeypatch.setattr(losses.models, "load", lambda _: replace(MLP, **change))
    assert losses.furthest(right, curve()) > losses.CURVE_TOLERANCE


STILL = (2.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("rounded", "gpu", "good", "words"),
    [
        (STILL, (2.0, 1.0, 0.5001), True, "0.0002 apart in 3 steps"),
        (STILL, (2.0, 1.0, 0.51), False, "0.02 apart in 3 steps"),
        ((2.0, 1.0, 0.6), (2.0, 1.0001, 0.9), True, "0.0001 apart in 2 steps; 0.8 in all 3, where one rounding of the"),
        ((2.0, 1.0, 0.6), (2.0, 1.01, 0.5), False, "0.01 apart in 2 steps"),
        ((2.0, 1.1, 0.5), (2.0, 1.0, 0.9), True, "0 apart in the first step; 0.8 in all 3"),
        ((2.1, 1.0, 0.5), STILL, None, "cannot be told"),
    ],
)
def test_losses_count_until_a_rounding_moves_them(rounded, gpu, good, words):
    check = losses.compared(STILL, rounded, gpu)
    assert check.good is good
    assert words in check.found


def test_a_rounding_moves_every_weight_by_one_and_no_bias():
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=16)
    (_, right, _), (_, moved, _) = (kind(MLP, case).values(0) for kind in (JaxProgram, losses.Rounded))
    for one, other in zip(jax.tree.leaves(right), jax.tree.leaves(moved), strict=True):
        assert np.abs(one - other).max() <= np.spacing(np.abs(one).max())
        assert ((one != other) == (one != 0)).all()


def test_without_a_gpu_the_comparison_says_that_it_was_not_made():
    check = losses.agreeing("mnist_mlp", gpu=False)
    assert (check.good, check.found) == (None, "not tried: needs a GPU")


@pytest.mark.gpu
@pytest.mark.parametrize("network", ["mnist_mlp", "mnist_cnn", "catdog_cnn_base", "imdb_text_cnn"])
def test_a_gpu_learns_as_the_cpu_does(network):
    if not has_gpu():
        pytest.skip("needs a GPU, JAX sees none")
    assert losses.agreeing(network, gpu=True).good


# What a network says of photographs


PHOTOGRAPHS = {
    "images": np.linspace(0, 1, 6, dtype=np.float32).reshape(6, 1, 1, 1),
    "labels": np.array([0, 0, 1, 1, 1, 1], np.float32),
}


def answers(batch):
    """A network that finds dogs bright."""
    return 10 * (batch["images"][:, 0, 0, 0] - 0.3)


def test_as_many_cats_as_dogs_are_asked_about():
    chosen = balanced(PHOTOGRAPHS)
    assert chosen["labels"].tolist() == [0, 0, 1, 1]
    assert chosen["images"].ravel() == pytest.approx([0, 0.2, 0.4, 0.6])


def test_pixels_that_are_not_rescaled_saturate_the_output():
    small, large = predictions(answers, PHOTOGRAPHS)
    assert (small.pixels, large.pixels, small.examples) == ("0 to 1", "0 to 255", 4)
    assert (small.accuracy_above_half, small.above_half) == (1.0, 0.5)
    assert (small.exactly_one, small.accuracy_exactly_one) == (0.0, 0.5)  # nothing is exactly 1: all are cats
    assert (large.exactly_one, large.above_half) == (0.75, 0.75)
    assert large.accuracy_exactly_one == 0.75
    assert small.mean_output < large.mean_output == pytest.approx(0.75, abs=0.02)


def test_a_sigmoid_is_exactly_one_from_seventeen_up_and_never_warns():
    found = sigmoid(np.array([-1000.0, 0.0, 16.0, 17.0, 1000.0], np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == [0.0, 0.5, pytest.approx(1, abs=1e-6), 1.0, 1.0]
    assert found[2] < 1


# The scope


def task(workload="mnist_mlp", most_steps=None, **axes):
    axes = {"scope": "learning", "batch": 32, "steps": 30} | axes
    case = Case(workload=workload, backend="cpu", **axes)
    plan = profiles.plan("smoke", "cpu")
    dataset = models.load(workload).description.dataset
    return Task(cases=(case,), dataset=dataset, seed=0, plan=plan, flow=plan, most_steps=most_steps)


def test_the_scope_leaves_steps_losses_and_accuracy(monkeypatch):
    monkeypatch.setattr(main.processor, "pin", lambda threads: None)
    said = []
    main.measure(task(), said.append)
    seen = said[-1].report.runs["learning"]
    learnt = seen.learnt
    assert (learnt.steps, len(learnt.losses), learnt.loss_every, learnt.examples) == (30, 30, 1, 1024)
    assert learnt.losses[-1] < 0.6 * learnt.losses[0]
    assert learnt.accuracy > 0.5
    assert len(seen.samples) == 1
    assert learnt.predictions == ()
    stages = [line.stage for line in said]
    assert stages.index("learning") < stages.index("lesson") < stages.index("facts")


def test_a_network_without_stored_data_is_refused():
    with pytest.raises(ValueError, match="'dp_linear_mirrored' has no stored data"):
        main.measure(task("dp_linear_mirrored", data="random"), lambda line: None)
