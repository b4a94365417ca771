"""A step's program: how a model's numbers lie in memory, and what is counted in what it computes."""

from contextlib import nullcontext
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic

from suite import models
from suite.case import Case
from suite.programs.jax import jaxpr_cost
from suite.programs.jax.packing import ALONE, PackedModel, vectors_of
from suite.programs.jax.program import JaxProgram
from suite.results.records.run import JaxprCost
from suite.worker import checks
from suite.worker_api import clock

PACKED = ("mnist_mlp", "catdog_cnn_dropout", "cifar10_tf_cnn", "imdb_bilstm")


class Packed(JaxProgram):
    """What a GPU is given, on a CPU."""

    def _packed(self, graph, params, rest):
        return PackedModel(graph, vectors_of(params), vectors_of(rest))


def tree():
    vectors = {"bias": np.arange(3, dtype=np.float32), "scale": np.arange(2, dtype=np.float32) + 10}
    return {
        "kernel": np.ones((2, 3), np.float32),
        "count": np.int32(7),
        "keys": np.arange(2, dtype=np.uint32),
        **vectors,
    }


def test_the_vectors_of_a_tree_lie_side_by_side_and_come_back():
    packing = vectors_of(tree())
    vector, alone = packing.pack(tree())
    assert vector.tolist() == [0, 1, 2, 10, 11]
    assert [np.shape(leaf) for leaf in alone] == [(), (2, 3), (2,)]
    jax.tree.map(np.testing.assert_array_equal, packing.unpack((vector, alone)), tree())


def test_a_tree_of_one_vector_stays_as_it_is():
    one = {"kernel": np.ones((2, 3), np.float32), "bias": np.ones(3, np.float32)}
    assert vectors_of(one) is ALONE
    assert ALONE.pack(one) is one
    assert ALONE.unpack(one) is one


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("mnist_mlp", "bfloat16"),
        *((name, "float32-highest") for name in PACKED[:2]),
        *(pytest.param(name, "float32-highest", marks=pytest.mark.slow) for name in PACKED[2:]),
        *(pytest.param(name, "bfloat16", marks=pytest.mark.slow) for name in PACKED[1:]),
    ],
)
def test_a_packed_step_computes_the_same(name, precision):
    workload = models.load(name)
    case = Case(workload=name, batch=4, backend="cpu", scope="step", precision=precision)
    programs = [kind(workload, case) for kind in (JaxProgram, Packed)]
    losses = []
    for program in programs:
        program.initialise(0)
        program.put(synthetic.batches(workload, workload.description.dataset, 4, 2))
        program.lower()
        program.compile()
        losses.append([])
        for _ in range(4):
            program.chain(1)
            losses[-1].append(program.loss())
    np.testing.assert_allclose(*losses, rtol=1e-6 if precision == "float32-highest" else 2e-2)
    apart, packed = (len(jax.tree.leaves(program._state)) for program in programs)
    assert packed < apart


def lowered(precision, unset=False):
    """Return the lowered step of a network, `unset` without any setting of the precision."""
    case = Case(workload="mnist_mlp", batch=4, backend="cpu", scope="step", precision=precision)
    program = JaxProgram(models.load("mnist_mlp"), case)
    if unset:
        program._precision = nullcontext
    program.initialise(0)
    program.put(synthetic.batches(models.load("mnist_mlp"), "mnist", 4, 2))
    program.lower()
    return program.lowered_texts()


def test_the_frameworks_default_is_what_jax_lowers_if_nothing_is_set():
    assert lowered("framework-default") == lowered("float32-highest", unset=True)
    assert lowered("framework-default") != lowered("float32-highest")


@pytest.mark.parametrize("variant", ["plain", "scan"])
@pytest.mark.parametrize(("trained", "least", "most"), [(True, 9, 99), (False, 3, 4)])
def test_no_call_takes_containers_of_variables_apart_or_is_handed_weights(trained, least, most, variant):
    workload = models.load("mnist_mlp")
    case = Case(workload="mnist_mlp", batch=4, backend="cpu", scope="step", variant=variant)
    program = JaxProgram(workload if trained else replace(workload, optimizer=None), case)
    program.initialise(0)
    program.put(synthetic.batches(workload, workload.description.dataset, 4, 2))
    program.lower()
    program.compile()
    assert least <= program._compiled.in_tree.num_leaves <= most
    for structure in (program._compiled.in_tree, program._compiled.out_tree):
        assert "CustomNode" not in str(structure)


def test_a_step_with_its_batch_copied_hands_the_call_the_batch_itself(monkeypatch):
    workload = models.load("mnist_mlp")
    sets = synthetic.batches(workload, "mnist", 4, 2)
    losses = []
    for steps in ("chain", "feed"):
        program = JaxProgram(workload, Case(workload="mnist_mlp", batch=4, backend="cpu", scope="transfer"))
        program.initialise(0)
        program.put(sets)
        program.lower()
        program.compile()
        with monkeypatch.context() as patched:
            patched.setattr(jax, "device_put", None)
            getattr(program, steps)(4)
        losses.append(program.loss())
    assert losses[0] == losses[1]


def flop(function, *arguments):
    return jaxpr_cost.product_flop(jaxpr_cost.needed(jaxpr_cost.opened(jax.make_jaxpr(function)(*arguments))))


X = np.ones((4, 4), np.float32)
PRODUCT = 2 * 4 * 4 * 4


def test_a_product_in_a_loop_counts_in_every_turn_that_changes_it():
    assert flop(lambda x: jax.lax.scan(lambda y, _: (y @ x, None), x, length=5)[0], X) == 5 * PRODUCT
    assert flop(lambda x, rows: jax.lax.scan(lambda y, row: (y, row @ x), x, rows)[1], X, jnp.ones((5, 4, 4))) == (
        5 * PRODUCT
    )


def test_a_product_that_no_turn_changes_counts_once():
    def repeated(x):
        return jax.lax.scan(lambda kept, _: (kept, jax.jit(jnp.matmul)(kept, x)), x, length=5)[1]

    assert flop(repeated, X) == PRODUCT


def test_a_product_that_nobody_needs_does_not_count():
    assert flop(lambda x: (x @ x, x)[1], X) == 0


def seen(function, *arguments, batch):
    return jaxpr_cost.jaxpr_cost(jax.make_jaxpr(function)(*arguments, batch), batch, 0, 1)


def test_a_traced_step_tells_its_parameters_examples_and_the_kinds_of_its_products():
    found = seen(lambda w, b: b["x"] @ w, jnp.ones((3, 2)), batch={"x": jnp.ones((7, 3))})
    assert found == JaxprCost(
        flop_per_step=2 * 7 * 3 * 2,
        parameters=6,
        examples=7,
        product_dtypes=("float32",),
        product_precisions=("default",),
    )


def test_a_batch_that_is_not_used_has_no_examples():
    batch = {"x": jnp.ones((7, 3))}
    assert seen(lambda w, b: jnp.ones((7, 3)) @ w, jnp.ones((3, 2)), batch=batch).examples == 0


def test_a_batch_that_is_closed_over_has_no_examples_and_weights_that_are_stay_parameters():
    given, known, weights = {"x": jnp.ones((7, 3))}, jnp.ones((7, 3)), jnp.ones((3, 2))
    assert seen(lambda w, b: known @ w, weights, batch=given).examples == 0
    found = seen(lambda w, b: (b["x"] @ weights) * w, 1.0, batch=given)
    assert (found.examples, found.parameters) == (7, 3 * 2 + 1)


def test_a_narrow_product_is_seen_inside_a_call():
    def narrow(w, b):
        return jax.jit(lambda x: x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))(b["x"])

    found = seen(narrow, jnp.ones((3, 2)), batch={"x": jnp.ones((7, 3))})
    assert found.product_dtypes == ("bfloat16",)


def test_arrays_that_are_not_there_yet_are_waited_for():
    x = jnp.ones((600, 600))
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda _, y: y @ x / 600, x)).lower(x).compile()
    found = slow(x)
    awaited = checks.watch_until_idle(clock.Clock()).awaited_seconds
    assert found.is_ready()
    looks = [
        checks.watch_until_idle(clock.Clock()).awaited_seconds for _ in range(5)
    ]  # other work may come between one of them
    assert min(looks) < 0.01 < awaited
