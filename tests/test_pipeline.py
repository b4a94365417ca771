"""The input pipeline: the same batches for any number of workers, each epoch in a new order, faults told."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from suite.data import store
from suite.data.edition import Edition
from suite.data.pipeline import Plan, batches
from suite.data.prepare import Preparation
from suite.data.prepare.crops import Crop

pytest.importorskip("grain")

TINY = Edition(train=40, test=20)
PLAN = Plan(batch=8, seed=0, workers=1)


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(tmp_path_factory.mktemp("data")))
        store.prepare("cifar10", edition=TINY)
        yield store.split("cifar10", "train", edition=TINY)


def taken(train, plan, count=12, preparation=None):
    return list(islice(batches(train, preparation or Crop(), plan), count))


def same(one, other):
    return all(np.array_equal(a[name], b[name]) for a, b in zip(one, other, strict=True) for name in a)


@pytest.mark.parametrize(
    "change",
    [{"workers": 3}, {"queue": 1}, {"in_memory": True}, {"workers": 2, "loader": "processes"}],
    ids=lambda change: " ".join(f"{key} {value}" for key, value in change.items()),
)
def test_order_and_content_depend_on_the_seed_alone(train, change):
    assert same(taken(train, PLAN), taken(train, replace(PLAN, **change)))


def test_another_seed_gives_another_order_and_other_distortions(train):
    one, other = taken(train, PLAN), taken(train, replace(PLAN, seed=1))
    assert not same(one, other)


def test_each_epoch_has_every_example_once_in_another_order(train):
    plain = replace(PLAN, augmented=False)
    first, second = (taken(train, plain, 10)[start : start + 5] for start in (0, 5))
    keys = [[image.tobytes() for batch in epoch for image in batch["images"]] for epoch in (first, second)]
    assert len(set(keys[0])) == TINY.train
    assert sorted(keys[0]) == sorted(keys[1])
    assert keys[0] != keys[1]


def test_distortions_differ_from_epoch_to_epoch(train):
    epochs = taken(train, PLAN, 10)
    keys = [{image.tobytes() for batch in epochs[start : start + 5] for image in batch["images"]} for start in (0, 5)]
    assert not keys[0] & keys[1]


class Failing(Preparation):
    """Cannot read what it is given."""

    def compact(self, record, random=None):
        raise ValueError("a picture cannot be read")


@pytest.mark.parametrize("loader", ["threads", "processes"])
def test_a_failing_worker_is_told_in_one_line(train, loader):
    with pytest.raises(RuntimeError, match=r"the input pipeline failed: .*a picture cannot be read") as caught:
        taken(train, replace(PLAN, loader=loader), 1, Failing())
    assert "\n" not in str(caught.value)


def test_pytorch_reads_the_same_records_with_the_same_preparation(train):
    loader = pytest.importorskip("suite.controls._loader", reason="PyTorch is not installed here")
    plain = replace(PLAN, augmented=False, workers=2, loader="processes")
    ours, theirs = (list(islice(bring(train, Crop(), plain), 5)) for bring in (batches, loader.batches))
    keys = [sorted(image.tobytes() for batch in epoch for image in batch["images"]) for epoch in (ours, theirs)]
    assert keys[0] == keys[1]
    assert same(theirs, islice(loader.batches(train, Crop(), replace(plain, workers=1)), 5))
