"""The input sets of a step: drawn by a seed, contiguous, and told apart by their digest."""

import numpy as np
import pytest

from suite.data import store
from suite.data.batches import batches, digest
from suite.data.edition import Edition
from suite.data.prepare.pictures import Pixels

TINY = Edition(train=40, test=20)


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(tmp_path_factory.mktemp("data")))
        yield


def sets(batch=8, count=4, seed=0):
    return batches("mnist", Pixels(), batch, count, seed, edition=TINY)


def test_there_are_as_many_sets_of_as_many_examples_as_asked_for():
    assert [(b["images"].shape, b["labels"].shape) for b in sets()] == [((8, 28, 28, 1), (8, 10))] * 4


def test_arrays_are_contiguous():
    assert all(array.flags.c_contiguous for batch in sets() for array in batch.values())


def test_the_same_seed_draws_the_same_and_another_draws_other():
    assert digest(sets()) == digest(sets())
    assert digest(sets()) != digest(sets(seed=1))


def test_no_example_comes_twice_while_there_are_enough():
    assert len({image.tobytes() for batch in sets(10, 4) for image in batch["images"]}) == TINY.train


def test_a_small_set_is_drawn_with_replacement():
    assert sum(len(batch["labels"]) for batch in sets(64, 2)) == 128


def test_the_digest_sees_names_types_shapes_and_bytes():
    array = np.arange(4, dtype=np.int32)
    variants = ({"a": array}, {"b": array}, {"a": array.view(np.uint32)}, {"a": array.reshape(2, 2)}, {"a": array + 1})
    assert len({digest([batch]) for batch in variants}) == len(variants)


def test_the_digest_sees_the_order_of_sets_but_not_of_names():
    a, b = np.zeros(2), np.ones(2)
    assert digest([{"x": a, "y": b}]) == digest([{"y": b, "x": a}])
    assert digest([{"x": a}, {"x": b}]) != digest([{"x": b}, {"x": a}])
