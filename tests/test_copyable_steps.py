"""Each workload has a file that one can copy, which stands alone and computes what the suite's step computes.

Both sides start from the suite's initial values, its keys for dropout among them, and take two steps. NNX draws a mask
from key and count, so equal keys drop the same units.
"""

import ast
import math
import sys
from contextlib import contextmanager
from dataclasses import replace

import factory
import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp
from steps import sides

from suite import models
from suite.nn import compiler
from suite.nn.trees import boosted
from suite.programs.jax.packing import PackedModel
from suite.programs.jax.step import training_step
from suite.report.pages import workload
from suite.report.parts.facts import Facts
from suite.results.evidence import copyable as evidence

ALLOWED = {"flax", "jax", "numpy", "optax", *sys.stdlib_module_names}
LINES = 150, 225
LONGER = {"serve_nasnet_mobile", "serve_nasnet_large"}  # their two kinds of cell
ROWS = 1_000
GROWTH = {
    "ROUNDS": "rounds",
    "DEPTH": "depth",
    "RATE": "rate",
    "LEAST_GAIN": "least_gain",
    "L1": "l1",
    "L2": "l2",
    "LEAST_HESSIAN": "least_hessian",
    "POSITIVE_WEIGHT": "positive_weight",
    "START": "start",
}
HEAVY_FLOP = 1_000_000_000  # an example of a model above it takes seconds
NEAR_LOSS = 2e-5  # relative
NEAR_ANSWER = 2e-4  # relative, after up to 150 convolutions
NEAR_IN_FLOAT64 = 1e-6  # of the same, in float64
NEAR_CHANGE = 2e-3  # of the change's norm, of each array: what rounding to float32 leaves of a difference of parameters


def heavy(name):
    return models.load(name).description.flop_per_example > HEAVY_FLOP


@pytest.fixture(params=sides.names())
def name(request):
    return request.param


def examples(name):
    """Return the examples of a batch: as many as other tests take, for which the suite's step is compiled already."""
    about = models.load(name).description
    return min(8 if heavy(name) else about.batch if about.family == "text" else 32, about.batch)


def relative(name):
    """Return whether a network is that of another file, but for a line or two: its loss is defined there."""
    home = models.load(name).loss.__module__.removeprefix("suite.models.")
    return home != name and home in models.names()


SLOWER = {"catdog_cnn_base", "cifar10_tf_cnn", "imdb_text_cnn"}  # seconds each; others have their layers


def marked(names):
    slow = {name for name in names if heavy(name) or relative(name)} | SLOWER
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in slow)) for name in names]


NETWORKS = [name for name in sides.names() if models.load(name).growth is None]
SERVED = [name for name in NETWORKS if models.load(name).optimizer is None]
DEEP = [name for name in NETWORKS if heavy(name) and name not in SERVED]


@contextmanager
def readers_jax():
    """Promote types as JAX does unasked, which optax relies on; compile in a hurry, which changes no result."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        jax.config.update("jax_disable_most_optimizations", True)
        try:
            yield
        finally:
            jax.config.update("jax_disable_most_optimizations", False)


def differences(suites, copied):
    """Return how far two steps of either side are from each other: the losses, then the change of each array."""
    before = [side.state() for side in (suites, copied)]
    found = []
    for _ in range(2):
        suites.run(1)
        with readers_jax():
            copied.run(1)
        found.append(abs(suites.loss() - copied.loss()) / abs(suites.loss()))
    return found, changes(before, [side.state() for side in (suites, copied)])


def changes(before, after):
    found = []
    for kind in range(2):
        wanted, made = (
            [new - old for old, new in zip(b[kind], a[kind], strict=True)] for b, a in zip(before, after, strict=True)
        )
        whole = math.sqrt(sum(np.sum(change**2) for change in wanted) or 1)
        for one, other in zip(wanted, made, strict=True):
            assert one.shape == other.shape
            found.append(np.linalg.norm(one - other) / max(np.linalg.norm(one), 1e-3 * whole))
    return found


def test_every_file_is_of_a_workload():
    assert set(sides.names()) <= set(models.names())


def test_a_file_stands_alone(name):
    tree = ast.parse((sides.FOLDER / f"{name}.py").read_text())
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {
        alias.split(".")[0]
        for node in parts
        for alias in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert found <= ALLOWED


def test_a_file_is_short_enough_to_be_read(name):
    lines = (sides.FOLDER / f"{name}.py").read_text().splitlines()
    assert len(lines) <= LINES[name in LONGER]


def test_a_file_says_what_it_computes_where_it_is_from_and_how_to_run_it(name):
    for label in ("\nComputes: ", "\nSource: ", f"python {name}.py"):
        assert label in sides.module(name).__doc__


def test_a_file_has_the_headline_batch_and_random_ones_of_the_documented_shape(name):
    about, file = models.load(name).description, sides.module(name)
    assert about.batch == file.BATCH
    mine, suites = file.random_batch(2), sides.batches(models.load(name), 2)[0]
    if models.load(name).growth is not None:
        suites["bins"] = suites["bins"].T  # column by column
    shapes = [{key: (array.shape, array.dtype) for key, array in batch.items()} for batch in (mine, suites)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("network", marked(NETWORKS))
def test_the_model_has_the_described_parameters(network):
    about, (_, params, rest) = models.load(network).description, sides.abstract(network)
    trained, moving = (
        sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(state))
        for state in (params, nnx.filter_state(rest, nnx.BatchStat))
    )
    assert (trained, trained + moving) == (about.trainable_parameters, about.parameters)


@pytest.mark.parametrize("network", marked(name for name in NETWORKS if name not in {*DEEP, *SERVED}))
def test_a_file_computes_what_the_suites_step_computes(network):
    sets = sides.batches(models.load(network), examples(network))[:1]
    losses, arrays = differences(*(side(network, examples(network), sets) for side in (sides.Suites, sides.Copied)))
    assert max(losses) < NEAR_LOSS
    assert all(one < NEAR_CHANGE for one in arrays)


def as_if_trained(model):
    """Return the model with other numbers in its norms than they start with, which leave a convolution as it is.

    The last norm of a residual branch is small, else fifty of them add up to numbers that decide alone.
    """
    rng, bottlenecks = np.random.default_rng(0), hasattr(model, "blocks") and hasattr(model.blocks[0], "reduce")
    graph, state = nnx.split(model)

    def drawn(path, leaf):
        least = {"scale": 0.5, "var": 0.5, "bias": -0.5, "mean": -0.5}.get(path[-2].key)
        if least is None:
            return leaf
        last = bottlenecks and "expand" in [getattr(part, "key", "") for part in path]
        share = 0.1 if last and path[-2].key in ("scale", "bias") else 1.0
        return (share * rng.uniform(least, least + 1, leaf.shape)).astype(np.float32)

    return nnx.merge(graph, jax.tree_util.tree_map_with_path(drawn, state))


@pytest.mark.parametrize("network", marked(SERVED))
def test_a_file_answers_what_the_suites_network_answers(network):
    workload = models.load(network)
    batch = sides.batches(workload, 1)[0]
    model = workload.served(as_if_trained(nnx.merge(*sides.values(network))))
    wanted = float(jax.jit(lambda batch: workload.loss(model, batch))(batch))
    with readers_jax():
        found = float(sides.module(network).inference_step(as_if_trained(sides.started(network)))(batch))
    assert 0.0011 < wanted < 0.999  # of 1,000 classes: neither says nothing
    assert found == pytest.approx(wanted, rel=NEAR_ANSWER)


def in_float64(model):
    """Return the model in float64 and without dropout, whose mask JAX draws otherwise there."""
    for _, module in nnx.iter_modules(model):
        if isinstance(module, nnx.Dropout):
            module.deterministic = True
    graph, state = nnx.split(model)
    return nnx.merge(graph, jax.tree.map(widened, state))


def widened(x):
    return np.asarray(x, np.float64) if x.dtype == np.float32 else x


@pytest.mark.slow
@pytest.mark.parametrize("network", DEEP)
def test_a_deep_file_computes_in_float64_what_the_suites_step_computes(network):
    """In float32 Adam moves a weight by the whole rate where its gradient is little more than what rounding left."""
    workload = models.load(network)
    with jax.enable_x64(True), readers_jax():
        batch = jax.tree.map(widened, sides.batches(workload, 2)[0])
        graph, params, rest = nnx.split(in_float64(nnx.merge(*sides.values(network))), nnx.Param, ...)
        optimizer = workload.optimizer()
        suites = jax.jit(training_step(workload, PackedModel(graph), optimizer, "float32-highest"))
        copied, mine = sides.module(network).training_step(in_float64(sides.started(network)))
        theirs = params, rest, optimizer.init(params)
        before = [sides.by_suite(theirs), sides.by_kind(mine[0])]
        for _ in range(2):
            (theirs, wanted), (mine, loss) = suites(theirs, batch), copied(mine, batch)
            assert float(loss) == pytest.approx(float(wanted), rel=1e-9)
        after = [sides.by_suite(theirs), sides.by_kind(mine[0])]
    assert max(changes(before, after)) < NEAR_IN_FLOAT64


def test_the_forest_has_the_described_parameters():
    _, (_, (_, thresholds, leaves), _) = sides.module("gbdt_mortgage").boosting_step(8)
    assert thresholds.size + leaves.size == models.load("gbdt_mortgage").description.parameters


def test_a_file_grows_the_trees_that_the_suite_grows(monkeypatch):
    """On a thousand rows, whose sums of float32 are nearly exact; the suite adds whole numbers."""
    workload, file = models.load("gbdt_mortgage"), sides.module("gbdt_mortgage")
    growth = replace(workload.growth, depth=4)
    assert all(getattr(file, constant) == getattr(workload.growth, name) for constant, name in GROWTH.items())
    monkeypatch.setattr(file, "DEPTH", growth.depth)  # compiled in half the time
    table, _ = sides.batches(workload, ROWS)
    bins, labels = jnp.asarray(table["bins"].T), jnp.asarray(table["labels"])
    grow = jax.jit(lambda margins: boosted(growth, margins, bins, labels, dense=True))
    margins = jnp.full(ROWS, growth.start, jnp.float32)
    step, state = file.boosting_step(ROWS)
    with readers_jax():
        for turn in range(2):
            margins, tree, wanted = grow(margins)
            state, loss = step(state, {"bins": bins, "labels": labels})
            columns, thresholds, leaves = (trees[turn] for trees in state[1])
            split = thresholds < file.BINS - 1
            assert split.sum() > 5
            assert np.array_equal(thresholds, tree.thresholds)
            assert np.array_equal(columns[split], tree.columns[split])
            assert np.allclose(leaves, tree.leaves, rtol=1e-4, atol=1e-6)
            assert np.allclose(state[0], margins, rtol=1e-5)
            assert float(loss) == pytest.approx(float(wanted), rel=NEAR_LOSS)


def compared(**changed):
    return evidence.Compared(
        **{
            "workload": "mnist_mlp",
            "backend": "cpu",
            "made": "2026-01-01",
            "commit": "0123456",
            "file": "",
            "machine": "Test CPU, 4 cores",
            "cores": 4,
            "packages": {},
            "rounds": 5,
            "copied_seconds": 0.00315,
            "suite_seconds": 0.003,
            "ratio": 1.05,
            "low": 1.03,
            "high": 1.07,
        }
        | changed
    )


def test_a_workloads_page_links_its_file_with_the_ratio_that_was_measured_of_it():
    timed = [compared(), compared(workload="mnist_cnn", ratio=3.0, low=2.9, high=3.1)]
    said = factory.pages(factory.campaign(), copied={"mnist_mlp": ""}, timed=timed)["workloads/mnist_mlp.md"]
    assert 'href="mnist_mlp.step.html"' in said
    assert "1.05x" in said
    assert "Test CPU, 4 cores" in said
    assert "3.00x" not in said


def test_only_a_workload_that_has_a_page_and_a_file_gets_one_for_its_code():
    facts = Facts(records=[factory.record("mnist_mlp"), factory.record("other")], copied={"mnist_mlp": "", "none": ""})
    assert [path for path in workload.files(facts) if "step" in path] == ["workloads/mnist_mlp.step.md"]


def test_a_page_of_code_has_the_whole_file_and_leads_to_it():
    code = (sides.FOLDER / "mnist_mlp.py").read_text()
    facts = Facts(records=[factory.record("mnist_mlp")], copied={"mnist_mlp": code}, timed=[compared()])
    made = workload.files(facts)["workloads/mnist_mlp.step.md"]
    assert code in made
    assert 'href="../steps/mnist_mlp.py"' in made
    assert "3.15 ms" in made


def test_what_was_measured_of_a_file_as_it_is_now_is_found_again(tmp_path):
    (tmp_path / "steps").mkdir()
    file = tmp_path / "steps" / "mnist_mlp.py"
    file.write_text("one")
    once, other = (
        compared(file=evidence.digest(file)),
        compared(file=evidence.digest(file), backend="gpu", low=None, high=None),
    )
    for one in (once, other, compared(workload="mnist_cnn")):
        one.write(tmp_path / "evidence")
    assert evidence.read(tmp_path / "evidence") == (once, other)
    file.write_text("another")
    assert evidence.read(tmp_path / "evidence") == ()


OWN_CPU_OPTIONS = {
    "imdb_bilstm": "the suite's options serve kernels of its own",
    "serve_mobilenet_v2": "the suite has depthwise kernels of its own; XLA's are slow, oneDNN's are fast",
    "serve_nasnet_large": "the suite's depthwise kernels let it take other products of oneDNN's",
}


def test_a_file_compiles_with_the_options_that_the_suite_found_fastest(name):
    workload = models.load(name)
    options = getattr(sides.module(name), "OPTIONS", {})
    assert options.get("gpu", {}) == compiler.gpu_options(workload.gpu_graph, workload.gpu_layout)
    if name not in OWN_CPU_OPTIONS:
        assert options.get("cpu", {}) == compiler.cpu_options(workload.cpu_kernels, workload.description.batch)


def test_a_file_that_has_options_compiles_with_them(name):
    file = sides.module(name)
    text = (sides.FOLDER / f"{name}.py").read_text()
    assert text.count("compiler_options=OPTIONS.get(jax.default_backend())") == hasattr(file, "OPTIONS")
