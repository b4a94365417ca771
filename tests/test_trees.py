"""Boosted trees: sums are exact, splits are the best ones, devices change nothing, and XGBoost finds the same."""

import subprocess
import sys
from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from boosting import quality

from suite import controls_xgboost, models
from suite.case import Case
from suite.data.random_loans import binned, edges, loans
from suite.nn import histograms, trees
from suite.nn.growth import Growth
from suite.programs.jax import boosting
from suite.programs.jax.boosting import BoostingProgram

GROWTH = Growth(depth=3, rounds=4, least_hessian=5.0)
ROWS, COLUMNS = 500, 6
CASE = Case(workload="gbdt_mortgage", backend="cpu", scope="step", batch=4096, data="random")


@pytest.fixture
def drawn():
    """Bins uint8[C,N], labels float32[N] that two columns decide on, and margins float32[N]."""
    rng = np.random.default_rng(0)
    bins = 8 * rng.integers(0, 32, (COLUMNS, ROWS), dtype=np.uint8)
    labels = ((bins[2] > 100) ^ (bins[4] > 180)).astype(np.float32)
    return bins, labels, rng.normal(0.5, 0.1, ROWS).astype(np.float32)


def by_hand(growth, bins, labels, margins):
    """Return margins after one more tree that is grown node by node in float64, trying every split."""
    weights = np.where(labels > 0, growth.positive_weight, 1.0)
    gradients = weights * (margins.astype(np.float64) - labels)

    def sums(rows):
        return gradients[rows].sum(), weights[rows].sum()

    def kept(g):
        return np.sign(g) * max(abs(g) - growth.l1, 0)

    def score(rows):
        g, h = sums(rows)
        return kept(g) ** 2 / (h + growth.l2)

    def leaves(rows, depth):
        splits = [
            (score(rows[here]) + score(rows[~here]) - score(rows), -column, -edge)
            for column in range(len(bins))
            for edge in np.unique(bins[column, rows]).tolist()
            if min(weights[rows[here := bins[column, rows] <= edge]].sum(), weights[rows[~here]].sum())
            >= growth.least_hessian
        ]
        best = max(splits, default=(0.0, 0, 0))
        if depth == growth.depth or best[0] < growth.least_gain:
            g, h = sums(rows)
            yield rows, -growth.rate * kept(g) / (h + growth.l2)
            return
        here = bins[-best[1], rows] <= -best[2]
        yield from leaves(rows[here], depth + 1)
        yield from leaves(rows[~here], depth + 1)

    after = margins.astype(np.float64)
    for rows, value in leaves(np.arange(len(labels)), 0):
        after[rows] += value
    return after


BOOSTED = jax.jit(trees.boosted, static_argnames=("growth", "dense"))


def grown(growth, bins, labels, margins, dense=False):
    return BOOSTED(growth, margins, bins, labels, dense=dense)


@pytest.mark.parametrize("dense", [False, True])
def test_a_tree_is_the_one_that_trying_every_split_gives(drawn, dense):
    bins, labels, margins = drawn
    for _ in range(3):
        wanted = by_hand(GROWTH, bins, labels, margins)
        margins = np.asarray(grown(GROWTH, bins, labels, margins, dense=dense)[0])
        assert margins == pytest.approx(wanted, abs=1e-5)


@pytest.mark.slow  # each compiles a program of its own
@pytest.mark.parametrize(
    "wrong",
    [
        {"l1": 0.0},
        {"l2": 9.0},
        {"least_hessian": 300.0},
        {"positive_weight": 1.0},
        {"rate": 0.2},
        {"least_gain": 999.0},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_each_term_of_the_regularisation_matters(drawn, wrong):
    bins, labels, margins = drawn
    after, _, _ = grown(replace(GROWTH, **wrong), bins, labels, margins, dense=True)
    assert np.asarray(after) != pytest.approx(by_hand(GROWTH, bins, labels, margins), abs=1e-5)


def test_a_node_without_a_good_split_is_a_leaf(drawn):
    bins, labels, margins = drawn
    after, tree, _ = grown(replace(GROWTH, least_hessian=float(2 * ROWS)), bins, labels, margins)
    assert np.unique(np.round(np.asarray(after) - margins, 6)).size == 1
    assert np.all(np.asarray(tree.thresholds) == trees.BINS - 1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 0.7, 1.0])
def test_histograms_are_exact_whatever_share_of_the_rows_is_read(drawn, share):
    bins, _, _ = drawn
    rng = np.random.default_rng(1)
    node, rows = rng.integers(0, 4, ROWS, dtype=np.uint32), rng.integers(-(2**50), 2**50, ROWS)
    mine = rng.random(ROWS) < share
    wanted = np.zeros((COLUMNS + 1, 256, 4), np.int64)  # with an empty one
    for column in range(COLUMNS):
        np.add.at(wanted[column], (bins[column][mine], node[mine]), rows[mine])
    with jax.enable_x64(True):
        gathered = jax.jit(histograms.gathered, static_argnums=(4, 5))
        every = np.arange(ROWS, dtype=np.uint32)
        inside = np.where(mine, node, np.uint32(4))
        found = gathered(bins, inside, jnp.asarray(rows), every, 4, COLUMNS + 1)
        table = jax.jit(histograms.row_by_row)(bins)
        dense = jax.jit(histograms.added, static_argnums=(3, 4))(table, inside, jnp.asarray(rows), 4, COLUMNS + 1)
    assert np.array_equal(found, wanted)
    assert np.array_equal(dense, wanted)


def test_rows_that_fill_a_size_up_have_a_node_that_is_there(drawn, monkeypatch):
    bins, _, _ = drawn
    node, places = np.full(ROWS, 7, np.uint32), []
    node[3:9] = 1

    def watched(bins, node, *rest):
        jax.debug.callback(lambda x: places.append(x.max()), node)
        return counted(bins, node, *rest)

    counted = histograms.counted
    monkeypatch.setattr(histograms, "counted", watched)
    every = np.arange(ROWS, dtype=np.uint32)
    with jax.enable_x64(True):
        found = jax.jit(partial(histograms.gathered, nodes=2, columns=COLUMNS))(
            bins, node, jnp.ones(ROWS, jnp.int64), every
        )
    jax.effects_barrier()
    assert places == [1]
    assert np.asarray(found).sum() == 6 * COLUMNS


def test_no_level_below_the_root_adds_up_more_than_half_of_what_the_rows_weigh(drawn, monkeypatch):
    bins, labels, margins = drawn
    weights, counted = np.where(labels > 0, GROWTH.positive_weight, 1.0), []

    def watched(table, node, rows, every, nodes, columns):
        jax.debug.callback(lambda here: counted.append(weights[here].sum() / weights.sum()), node < nodes)
        return histograms.gathered(table, node, rows, every, nodes, columns)

    monkeypatch.setattr(trees, "gathered", watched)
    jax.block_until_ready(jax.jit(partial(trees.boosted, GROWTH))(margins, bins, labels))
    jax.effects_barrier()
    assert len(counted) == GROWTH.depth - 1
    assert 0 < max(counted) <= 0.5


def test_fields_come_back_from_sums_of_packed_numbers():
    rng = np.random.default_rng(0)
    gradients, hessians = rng.normal(0, 1, 1000).astype(np.float32), rng.integers(1, 3, 1000).astype(np.float32)
    with jax.enable_x64(True):
        sums = jnp.cumsum(histograms.packed(gradients, hessians, 2.0**20))
        found = histograms.fields(sums, 2.0**20)
    wanted = np.cumsum(np.round(gradients.astype(np.float64) * 2**20)) / 2**20
    assert wanted.min() < 0 < wanted.max()
    assert np.asarray(found[0]) == pytest.approx(wanted, rel=2.0**-23)
    assert np.array_equal(found[1], np.cumsum(hessians))


def test_more_rows_than_the_sums_can_hold_are_refused():
    rows = jax.ShapeDtypeStruct((2**23,), jnp.float32)
    bins = jax.ShapeDtypeStruct((1, 2**23), jnp.uint8)
    with pytest.raises(ValueError, match=r"8388608 rows asked for, boosting adds up to \d+; take fewer"):
        jax.eval_shape(lambda m, b, y: trees.boosted(GROWTH, m, b, y), rows, bins, rows)


def test_a_number_has_the_bin_that_it_has_alone_whatever_thread_looks_for_it():
    random = np.random.default_rng(5)
    features = random.standard_normal((3000, 7), np.float32)
    upper = [np.sort(random.standard_normal(count).astype(np.float32)) for count in (1, 2, 31, 64, 128, 254, 255)]
    alone = [[np.sum(edge < number) for edge, number in zip(upper, row, strict=True)] for row in features]
    np.testing.assert_array_equal(binned(features, upper), alone)


def test_no_table_is_drawn_that_no_round_needs():
    assert models.load("gbdt_mortgage").input_sets == controls_xgboost.load("gbdt_mortgage").input_sets == 2


def test_bins_hold_about_as_many_rows_each_and_keep_the_order():
    numbers = np.random.default_rng(0).normal(size=(10_000, 1)).astype(np.float32)
    found = binned(numbers, edges(numbers))[:, 0]
    counts = np.bincount(found, minlength=256)
    assert counts.min() >= 30
    assert counts.max() <= 50
    assert np.all(np.diff(found[np.argsort(numbers[:, 0])].astype(int)) >= 0)
    few = np.repeat(np.float32([1, 2, 3]), 100)[:, None]
    assert len(np.unique(binned(few, edges(few)))) == 3


def program(growth=GROWTH, case=CASE):
    made = BoostingProgram(replace(models.load("gbdt_mortgage"), growth=growth), case)
    made.initialise(0)
    made.put([loans(np.random.default_rng(seed), case.batch) for seed in range(2)])
    made.lower()
    made.compile()
    return made


@cache
def compiled():
    return program()


def begun():
    """Return the program before its first round, compiled once for all tests of a process."""
    compiled().initialise(0)
    return compiled()


def test_rounds_lower_the_loss_and_after_the_last_a_new_forest_begins():
    made, losses = begun(), []
    for _ in range(GROWTH.rounds + 2):
        made.chain(1)
        made.block()
        losses.append(made.loss())
    assert np.all(np.diff(losses[: GROWTH.rounds]) < 0)
    assert losses[GROWTH.rounds :] == losses[:2]


def test_the_forest_predicts_the_margins_that_training_ends_with():
    made = begun()
    made.chain(GROWTH.rounds)
    made.block()
    margins = np.asarray(made._state[0])
    predicted = trees.predicted(GROWTH, made.forest(), made._batches[0]["bins"])
    assert np.asarray(predicted) == pytest.approx(margins, abs=1e-6)


def test_the_program_needs_all_rows_and_a_table_copied_each_round_changes_nothing():
    made = begun()
    assert made.jaxpr_cost().examples == CASE.batch
    assert not made.settings()["jax_weights_constant"], "there are none"
    assert made.platform() == "cpu"
    made.feed(2)
    made.block()
    fed = made.state_digest()
    made.initialise(0)
    made.chain(2)
    made.block()
    assert made.state_digest() == fed


@pytest.mark.parametrize(("axis", "value"), [("variant", "scan"), ("precision", "bfloat16")])
def test_what_boosting_does_not_have_is_refused(axis, value):
    case = Case(**{"workload": "gbdt_mortgage", "backend": "cpu", "scope": "step", "batch": 64, axis: value})
    with pytest.raises((LookupError, ValueError), match=rf"{axis} '{value}' asked for, boosting"):
        BoostingProgram(models.load("gbdt_mortgage"), case)


def test_more_rows_than_can_be_added_up_are_refused_before_they_are_drawn():
    case = Case(workload="gbdt_mortgage", backend="cpu", scope="step", batch=4_500_000)
    with pytest.raises(ValueError, match="4500000 rows asked for, boosting adds up to 4194304; take fewer"):
        BoostingProgram(models.load("gbdt_mortgage"), case)


DEVICES = """
import sys
sys.path.insert(0, sys.argv[2])
from test_trees import CASE, GROWTH, program
import msgspec
made = program(case=msgspec.structs.replace(CASE, devices=int(sys.argv[1])))
made.chain(GROWTH.rounds)
made.block()
print(made.settings()["jax_devices"], made.state_digest())
"""


def test_four_devices_grow_the_same_trees_as_one(monkeypatch):
    monkeypatch.setattr(boosting, "granted_cores", lambda: 1)
    made = program()
    made.chain(GROWTH.rounds)
    made.block()
    assert made.settings()["jax_devices"] == 1
    command = [sys.executable, "-c", DEVICES, "4", str(quality.STORED.parent.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", made.state_digest()]


@pytest.mark.parametrize(("cores", "parts"), [(1, 1), (4, 4), (16, 16), (64, 16)])
def test_a_cpu_has_no_more_parts_than_take_work_from_each_other(monkeypatch, cores, parts):
    monkeypatch.setattr(boosting, "granted_cores", lambda: cores)
    assert BoostingProgram(models.load("gbdt_mortgage"), CASE)._cpu_devices() == parts


@pytest.mark.slow
@pytest.mark.parametrize("form", quality.SMALL, ids=lambda form: form.name)
def test_the_trees_are_as_good_as_those_of_xgboost(form):
    assert quality.by_jax(form) == pytest.approx(quality.stored()[form.name], abs=quality.BOUND)
