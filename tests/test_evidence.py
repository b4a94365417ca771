"""What the sessions found is good where what is whole passes and what is broken does not."""

import msgspec
import pytest

from suite.results.evidence import learning, parity


def forests(difference=0.0, planted=0.1):
    grown = {"table": "higgs", "columns": 28, "rows": 1000, "tested": 500, "xgboost": 0.5}
    return parity.Trees(
        made="2026-01-01",
        commit="abc",
        machine="a processor",
        cores=2,
        packages={"jax": "0.12.0"},
        bound=0.25,
        forests=(parity.Forest(jax=0.5, **grown), parity.Forest(jax=0.5 + difference, **grown)),
        planted=(
            parity.Planted(bug="no gain", table="higgs", rows=1000, difference=0.5),
            parity.Planted(bug="no leaf", table="higgs", rows=1000, difference=planted),
        ),
    )


@pytest.mark.parametrize(
    ("difference", "planted", "good"),
    [
        (0.25, 0.3, True),
        (-0.25, -0.3, True),
        (0.3, 0.3, False),  # told from XGBoost's on one table
        (-0.3, 0.3, False),
        (0.0, 0.25, False),  # one bug is not seen
        (0.0, -0.25, False),
    ],
)
def test_trees_are_good_where_they_are_as_xgboost_s_and_no_bug_is(difference, planted, good):
    assert forests(difference, planted).good is good


def test_what_was_found_of_trees_is_read_again(tmp_path):
    assert parity.Trees.read(tmp_path) is None
    assert forests().write(tmp_path) == tmp_path / "trees.json"
    assert parity.Trees.read(tmp_path) == forests()
    (tmp_path / "trees.json").write_text('{"made": 1}')
    with pytest.raises(ValueError, match="is not what the boosting session writes"):
        parity.Trees.read(tmp_path)


def trained(*accuracies, **broken):
    return learning.Trained(
        data="mnist", batch=8, steps=10, examples=100, accuracies=accuracies, bound=0.75, broken=broken
    )


@pytest.mark.parametrize(
    ("found", "good"),
    [
        (trained(0.75, 0.9), True),  # nothing was broken
        (trained(0.75, 0.9, loss=0.5, labels=0.7), True),
        (trained(0.7, 0.9, loss=0.5), False),  # one seed falls short
        (trained(0.9, loss=0.5, labels=0.75), False),  # something broken learns as well
    ],
)
def test_a_network_learns_from_each_seed_and_never_where_it_is_broken(found, good):
    assert found.good is good
    assert found.spread == max(found.accuracies) - min(found.accuracies)


def learning_check(*goods, found=None):
    checks = tuple(learning.LossCheck(expected="it falls", found="it fell", good=good) for good in goods)
    return learning.LearningCheck(
        network="mnist_mlp",
        made="2026-01-01",
        commit="abc",
        machine="a processor",
        cores=2,
        backend="cpu",
        seconds=1.0,
        seeds=(0, 1),
        trained=found,
        checks=checks,
    )


def test_a_lesson_is_good_if_nothing_that_was_tried_is_not():
    assert learning_check().good
    assert learning_check(True, None, found=trained(0.9)).good
    assert not learning_check(True, False, found=trained(0.9)).good
    assert not learning_check(True, found=trained(0.7)).good


def test_a_lesson_is_read_again(tmp_path):
    assert learning_check(True).write(tmp_path) == tmp_path / "learning.jsonl"
    assert learning.LearningCheck.read_all(tmp_path) == (learning_check(True),)
    (tmp_path / "learning.jsonl").write_text('{"made": 1}')
    with pytest.raises(ValueError, match="is not what the learning session writes"):
        learning.LearningCheck.read_all(tmp_path)


def test_a_lesson_takes_the_place_of_the_one_before_it_on_its_backend(tmp_path):
    other = msgspec.structs.replace(learning_check(True), backend="gpu")
    for check in (other, learning_check(False), learning_check(True)):
        check.write(tmp_path)
    assert learning.LearningCheck.read_all(tmp_path) == (learning_check(True), other)
    assert len((tmp_path / "learning.jsonl").read_text().splitlines()) == 2
