"""Every file in suite/models is the documented model: counts, claims, shapes, learning; and wrong models are caught."""

import math
from functools import cache

import jax
import numpy as np
import optax
import pytest
import reference
import synthetic
from flax import nnx
from jax import numpy as jnp

from suite import models
from suite.case import Case
from suite.nn import dropout, flop, optimizers
from suite.nn.initial import Constant, TruncatedNormal, filled
from suite.nn.losses import softmax_cross_entropy
from suite.programs.jax.jaxpr_cost import needed, product_flop
from suite.programs.jax.packing import PackedModel
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.step import inference_step, training_step

HEAVY_FLOP = 1_000_000_000  # an example of a model above it takes seconds


def heavy(name):
    return models.load(name).description.flop_per_example > HEAVY_FLOP


def takes_long(name):
    """Return whether it takes seconds to see a network learn; of texts 120 whole batches are needed."""
    return heavy(name) or models.load(name).description.family == "text"


@pytest.fixture(params=models.names())
def workload(request):
    return models.load(request.param)


NETWORKS = [name for name in models.names() if models.load(name).growth is None]  # trees have tests of their own


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.slow] if takes_long(name) else []) for name in NETWORKS],
)
def network(request):
    """A workload's program on the CPU, compiled once for the tests of it, and two batches."""
    name = request.param
    workload = models.load(name)
    about = workload.description
    enough = about.batch if about.family == "text" else 32  # to learn from
    examples = min(8 if heavy(name) else enough, about.batch)
    case = Case(workload=about.name, backend="cpu", scope="step", batch=examples, data=about.data)
    program = JaxProgram(workload, case)
    program.initialise(0)
    program.put(sets := batches(workload, examples))
    program.lower()
    program.compile()
    return program, sets


@pytest.fixture
def running(network):
    """The program before its first step; where it has a data set, each class has a picture."""
    program, sets = network
    program.initialise(0)
    program.put(sets)
    return program


def batches(workload, examples):
    """Return two batches: drawn, or of pictures that are noisy versions of one prototype a class."""
    rng = np.random.default_rng(0)
    if (first := synthetic.drawn(workload, rng, examples)) is not None:
        return [first, synthetic.drawn(workload, rng, examples)]
    side = synthetic.SIDES[workload.description.dataset]
    prototypes = rng.integers(0, 256, (10, *side))
    made = []
    for _ in range(2):
        labels = rng.integers(0, 10, examples)
        noisy = prototypes[labels] + rng.normal(0, 20, (examples, *side))
        made.append(synthetic.pictured(workload.preparation, noisy.clip(0, 255).astype(np.uint8), labels))
    return made


def timed_step(workload, graph, params, rest, precision="float32-highest"):
    """Return the step that is timed, the shapes of what it takes before its state, and of its state."""
    if workload.optimizer is None:
        number = jax.ShapeDtypeStruct((), jnp.float32)
        return inference_step(workload, PackedModel(graph), precision), ((params, rest),), (number, number)
    optimizer = workload.optimizer()
    step = training_step(workload, PackedModel(graph), optimizer, precision)
    return step, (), (params, rest, jax.eval_shape(optimizer.init, params))


def abstract(workload):
    """Return the graph, the parameters and the rest of the state without a value in them; nobody writes into these."""
    return split(workload.model)


@cache
def split(model):
    return nnx.split(nnx.eval_shape(lambda: model(nnx.Rngs(0))), nnx.Param, ...)


def size(state):
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(state))


def statistics(rest):
    return nnx.filter_state(rest, nnx.BatchStat)


@cache
def inputs(name):
    """Return the specification of a headline batch."""
    workload = models.load(name)
    one = batches(workload, workload.description.batch)[0]
    return {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in one.items()}


@cache
def traced_step(name, precision="float32-highest"):
    """Return a step at the headline batch as it is traced, the state that it takes, and the shapes that it gives."""
    workload = models.load(name)
    step, weights, state = timed_step(workload, *abstract(workload), precision)
    jaxpr, new = jax.make_jaxpr(step, return_shape=True)(*weights, state, inputs(name))
    return jaxpr.jaxpr, state, new


@cache
def traced_loss(name, dtype=jnp.float32):
    """Return the loss of a headline batch as it is traced, its parameters of a type as the step has them, its shape."""
    workload = models.load(name)
    graph, params, rest = abstract(workload)
    cast = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, dtype), params)
    batch = {
        name: jax.ShapeDtypeStruct(of.shape, dtype if of.dtype == jnp.float32 else of.dtype)
        for name, of in inputs(name).items()
    }
    traced = jax.make_jaxpr(lambda p, r, b: workload.loss(nnx.merge(graph, p, r), b), return_shape=True)
    jaxpr, out = traced(cast, rest, batch)
    return jaxpr.jaxpr, out


def test_every_model_has_its_documented_counts(workload):
    about = workload.description
    counts = reference.of(about.name)["counts"]
    assert counts
    assert {field: getattr(about, field) for field in counts} == counts


def test_every_model_states_each_documented_claim_and_no_other(workload):
    about = workload.description
    stated = [[c.metric, c.unit, c.cpu_value, c.gpu_value, c.speedup, c.grade] for c in about.claims]
    assert stated == reference.of(about.name)["claims"]


def test_a_claimed_speedup_is_the_ratio_of_its_times(workload):
    for claim in workload.description.claims:
        if claim.cpu_value is not None and claim.gpu_value is not None and claim.speedup is not None:
            rates = claim.unit.endswith("/s")
            ratio = claim.gpu_value / claim.cpu_value if rates else claim.cpu_value / claim.gpu_value
            written = 0.51 if claim.speedup == round(claim.speedup) else 0.0051  # half of its last digit
            assert ratio == pytest.approx(claim.speedup, abs=written)


def test_a_model_is_named_after_its_file_and_its_docstring_has_the_labelled_lines(workload):
    name = workload.description.name
    words = __import__(f"suite.models.{name}", fromlist=["_"]).__doc__
    assert name in models.names()
    for label in ("\nSource: ", "\nReported: ", "\nDiffers: "):
        assert label in words


def test_the_network_has_the_stated_parameters(workload):
    _, params, rest = abstract(workload)
    assert size(params) == workload.description.trainable_parameters
    assert size(params) + size(statistics(rest)) == workload.description.parameters


def test_the_loss_is_a_float32_number_at_every_precision(workload):
    for dtype in (jnp.float32, jnp.bfloat16):
        _, out = traced_loss(workload.description.name, dtype)
        assert (out.shape, out.dtype) == ((), jnp.float32)


def test_a_step_keeps_the_shapes_and_dtypes_of_its_state(workload):
    for precision in ("float32-highest", "bfloat16"):
        _, state, (new, _) = traced_step(workload.description.name, precision)
        before, after = (jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), jax.tree.leaves(s)) for s in (state, new))
        assert after == before


def test_the_stated_flop_are_those_of_the_traced_step(workload):
    about = workload.description
    (loss, *_), (step, *_) = traced_loss(about.name), traced_step(about.name)
    assert product_flop(needed(loss)) == about.batch * about.forward_flop_per_example
    assert product_flop(needed(step)) == about.batch * about.flop_per_example


def test_xla_counts_nearly_the_stated_flop(workload, monkeypatch):
    about = workload.description
    monkeypatch.setattr(dropout, "bernoulli", jax.random.bernoulli)  # XLA counts whole numbers, but not in a loop
    if about.family != "dense":
        pytest.skip("XLA leaves out the products with a convolution's padding; the traced step is counted instead")
    graph, params, rest = abstract(workload)
    step, weights, state = timed_step(workload, graph, params, rest)
    lowered = jax.jit(step).lower(*weights, state, inputs(about.name))
    assert lowered.cost_analysis()["flops"] == pytest.approx(about.batch * about.flop_per_example, rel=0.05)


def test_initial_values_are_repeated_by_the_seed_and_changed_by_another(workload):
    if workload.growth is not None:
        pytest.skip("trees begin with nothing")
    _, params, _ = abstract(workload)
    once, again, other = (jax.tree.leaves(filled(params, seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(once, other, strict=True))


def test_initial_values_are_those_of_keras(workload):
    if workload.growth is not None:
        pytest.skip("trees begin with nothing")
    _, params, rest = abstract(workload)
    for path, leaf in nnx.to_flat_state(filled(params, 0)):
        value = leaf.get_value()
        if isinstance(leaf.get_metadata().get("draw"), TruncatedNormal | Constant):
            continue  # TensorFlow's tutorial has values of its own, and they a test
        if path[-1] == "embedding":
            assert 0.0499 < abs(value).max() <= 0.05
            assert value.std() == pytest.approx(0.05 / math.sqrt(3), rel=0.01)
        elif path[-1] == "recurrent_kernel":
            assert value @ value.T == pytest.approx(np.eye(len(value)), abs=1e-6)
        elif path[-2:] in {("forward", "bias"), ("backward", "bias")}:  # of an LSTM's gates, the forget gate second
            assert value.reshape(4, -1).tolist() == [[number] * (value.size // 4) for number in (0, 1, 0, 0)]
        elif path[-1] == "kernel":
            limit = math.sqrt(6 / (math.prod(value.shape[:-2]) * sum(value.shape[-2:])))
            if "depthwise" in str(path):  # Keras draws these for as many inputs as channels: signals would fade
                limit = math.sqrt(3 / math.prod(value.shape[:-2]))
            assert abs(value).max() <= limit
            if value.size < 100:
                continue  # too few for a distribution
            chance = max(0.05, 2 / math.sqrt(value.size))  # of a few numbers
            assert limit * (1 - chance) < abs(value).max()
            assert value.std() == pytest.approx(limit / math.sqrt(3), rel=chance)
        else:
            assert np.all(value == {"bias": 0, "scale": 1}[path[-1]])
    for path, leaf in nnx.to_flat_state(filled(statistics(rest), 0)):
        assert np.all(leaf.get_value() == {"mean": 0, "var": 1}[path[-1]])


def test_an_inference_answers_each_batch_alike_whatever_came_before(running):
    if models.load(running._case.workload).optimizer is not None:
        pytest.skip("its steps learn")
    answers = []
    for _ in range(4):
        running.chain(1)
        running.block()
        answers.append(running.loss())
        running._batches.reverse()
    assert np.all(np.isfinite(answers))
    assert answers[0] == answers[2]
    assert answers[1] == answers[3]
    assert answers[0] != answers[1]


def test_initial_values_of_the_tutorial_network_are_those_of_its_source():
    deviations_and_biases = {
        "conv1": (0.05, 0.0),
        "conv2": (0.05, 0.1),
        "local3": (0.04, 0.1),
        "local4": (0.04, 0.1),
        "softmax_linear": (1 / 192, 0.0),
    }
    _, params, _ = abstract(models.load("cifar10_tf_cnn"))
    for (layer, leaf), variable in nnx.to_flat_state(filled(params, 0)):
        value, (deviation, bias) = variable.get_value(), deviations_and_biases[layer]
        if leaf == "bias":
            assert np.all(value == np.float32(bias))
        else:
            assert 1.9 * deviation < abs(value).max() <= 2 * deviation
            assert value.std() == pytest.approx(0.8796 * deviation, rel=0.05)  # what cutting at two deviations leaves


def test_the_loss_falls_on_learnable_data(running):
    if models.load(running._case.workload).optimizer is None:
        pytest.skip("an inference learns nothing")
    running.chain(1)
    running.block()
    first = running.loss()
    steps = reference.of(running._case.workload)["learns"].get("jax")
    running.chain(steps or 12)
    running.block()
    assert np.isfinite(first)
    assert np.isfinite(running.loss())
    assert steps is None or running.loss() < 0.7 * first


def test_nothing_is_compiled_between_steps(running):
    running.chain(1)
    running.block()
    before = running.compilations()
    running.chain(3)
    running.block()
    assert running.compilations() == before


def test_an_unknown_model_is_named_with_all_there_are():
    with pytest.raises(LookupError, match=r"no workload 'mnist_mpl'.*there are: .*mnist_mlp"):
        models.load("mnist_mpl")


def test_flop_of_layers_by_hand():
    assert flop.dense(3, 4) == 24
    assert flop.conv(2, 2, 3, 4, 1) == 4 * flop.dense(3, 4)
    assert flop.training(10, 4) == 26


GRADIENTS = [np.float64(g) for g in (1e-7, -3e-6, 2e-7, 1.0, -0.5, 1e-8, 0.0, 2e-3, -1e-7, 5e-7)]  # near epsilon


def moved(optimizer):
    """Return where one parameter is after each of the gradients, in float64."""
    with jax.enable_x64(True):
        place, positions = jnp.float64(0), []
        state = optimizer.init(place)
        for gradient in GRADIENTS:
            with jax.numpy_dtype_promotion("standard"):  # which optax's own Adam needs
                updates, state = optimizer.update(jnp.asarray(gradient), state, place)
            place = optax.apply_updates(place, updates)
            positions.append(float(place))
    return positions


def keras_rmsprop():
    place, square, positions = 0.0, 0.0, []
    for gradient in GRADIENTS:
        square = 0.9 * square + 0.1 * gradient**2
        place -= 1e-3 * gradient / (math.sqrt(square) + 1e-7)
        positions.append(place)
    return positions


def keras_adam():
    place, mean, square, positions = 0.0, 0.0, 0.0, []
    for t, gradient in enumerate(GRADIENTS, 1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        place -= 1e-3 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * mean / (math.sqrt(square) + 1e-7)
        positions.append(place)
    return positions


def keras_adadelta():
    place, square, way, positions = 0.0, 0.0, 0.0, []
    for gradient in GRADIENTS:
        square = 0.95 * square + 0.05 * gradient**2
        move = gradient * math.sqrt(way + 1e-7) / math.sqrt(square + 1e-7)
        way = 0.95 * way + 0.05 * move**2
        place -= move
        positions.append(place)
    return positions


def test_sgd_moves_by_a_hundredth_of_the_gradient():
    assert moved(optimizers.sgd()) == pytest.approx(-0.01 * np.cumsum(GRADIENTS), rel=1e-12)


def test_rmsprop_is_that_of_keras_in_2018():
    assert moved(optimizers.rmsprop()) == pytest.approx(keras_rmsprop(), rel=1e-9)


def test_adam_is_that_of_keras():
    assert moved(optimizers.adam()) == pytest.approx(keras_adam(), rel=1e-9)


def test_adadelta_is_that_of_keras():
    assert moved(optimizers.adadelta()) == pytest.approx(keras_adadelta(), rel=1e-9)


def test_a_staircase_lowers_the_rate_after_so_many_steps():
    rates = np.repeat([0.1, 0.01, 0.001], [4, 4, 2])
    assert moved(optimizers.staircase_sgd(0.1, 4, 0.1)) == pytest.approx(-np.cumsum(rates * GRADIENTS), rel=1e-9)


def test_the_average_of_the_parameters_follows_them_as_in_tensorflow():
    with jax.enable_x64(True):
        optimizer = optimizers.averaged(optimizers.sgd(1.0), decay=0.3)
        place = jnp.float64(5.0)
        state, average = optimizer.init(place), 5.0
        for step in range(1, 5):
            updates, state = optimizer.update(jnp.float64(1.0), state, place)
            place = optax.apply_updates(place, updates)
            decay = min(0.3, (1 + step) / (10 + step))
            average = decay * average + (1 - decay) * float(place)
            assert float(state.averages) == pytest.approx(average, rel=1e-6)
        assert float(place) == 1.0


def test_rmsprop_with_epsilon_inside_the_root_is_caught():
    inside = optax.rmsprop(1e-3, decay=0.9, eps=1e-7, eps_in_sqrt=True)
    assert moved(inside) != pytest.approx(keras_rmsprop(), rel=1e-3)


def test_adam_with_epsilon_where_optax_has_it_is_caught():
    assert moved(optax.adam(1e-3, eps=1e-7)) != pytest.approx(keras_adam(), rel=1e-3)


def test_a_network_without_biases_is_caught(workload):
    if workload.growth is not None:
        pytest.skip("trees have none")
    _, params, _ = abstract(workload)
    kept = [(path, leaf) for path, leaf in nnx.to_flat_state(params) if path[-1] != "bias"]
    assert size(nnx.from_flat_state(kept)) != workload.description.trainable_parameters


def test_labels_shifted_by_one_class_are_caught():
    logits = jnp.asarray(np.random.default_rng(0).normal(size=(4, 10)), jnp.float32)
    labels = np.eye(10, dtype=np.float32)[[1, 2, 3, 4]]
    by_hand = np.mean(
        [np.log(np.exp(row).sum()) - row[k] for row, k in zip(np.asarray(logits), [1, 2, 3, 4], strict=True)]
    )
    assert softmax_cross_entropy(logits, jnp.asarray(labels)) == pytest.approx(by_hand, rel=1e-6)
    assert softmax_cross_entropy(logits, jnp.asarray(np.roll(labels, 1, 1))) != pytest.approx(by_hand, rel=1e-2)
