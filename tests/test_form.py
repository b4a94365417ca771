"""How a model's numbers lie in memory, and that a step computes the same whichever way they do."""

from dataclasses import replace

import jax
import numpy as np
import pytest
import synthetic

from suite import models
from suite.case import Case
from suite.programs.jax.packing import ALONE, PackedModel, vectors_of
from suite.programs.jax.program import JaxProgram

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
        *((name, "float32-highest") for name in PACKED),
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
