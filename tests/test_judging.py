"""What is surely above or below a level, and which ratio is near a documented one."""

from types import SimpleNamespace

import factory
import pytest

from suite.claims import Part
from suite.claims._judging import (
    NOT_CERTIFIED,
    SIZE,
    SURELY,
    above,
    below,
    by_batch,
    certified,
    gains,
    groups,
    least,
    most,
    mostly,
    near,
    over_processes,
    own_first,
    steps,
    sure,
    unsure,
    usable,
    why_not_near,
)
from suite.results.stats.statistics import Estimate


def estimate(value, low=None, high=None):
    return Estimate(value=value, low=low, high=high)


@pytest.mark.parametrize(
    ("value", "is_above", "is_below"),
    [
        (estimate(1.2, 1.01, 1.4), True, False),
        (estimate(1.2, 1.0, 1.4), False, False),
        (estimate(0.8, 0.6, 0.99), False, True),
        (estimate(0.8, 0.6, 1.0), False, False),
        (estimate(1.02), False, False),
        (estimate(0.98), False, False),
        (estimate(2.0), False, False),
        (estimate(2.01), True, False),
        (estimate(0.5), False, False),
        (estimate(0.49), False, True),
        (estimate(0.0), False, True),
    ],
)
def test_a_value_is_surely_beyond_a_level_by_its_interval_or_by_a_factor_of_two(value, is_above, is_below):
    assert (above(value, 1), below(value, 1)) == (is_above, is_below)


def test_what_a_value_surely_is_are_the_ends_of_its_interval_or_a_factor_of_two():
    assert (least(estimate(10, 9, 12)), most(estimate(10, 9, 12))) == (9, 12)
    assert (least(estimate(10)), most(estimate(10))) == (5, 20)
    assert (SIZE, SURELY) == (1.25, 2.0)


@pytest.mark.parametrize(
    ("value", "documented", "is_near"),
    [
        (estimate(10), 10, False),
        (estimate(10, 9.99, 10.01), 12.4, True),
        (estimate(10, 9.99, 10.01), 12.6, False),
        (estimate(10, 9.99, 10.01), 8.1, True),
        (estimate(10, 9.99, 10.01), 7.9, False),
        (estimate(10, 2, 50), 10, False),
        (estimate(10, 8.1, 12.4), 10, True),
        (estimate(10, 7.9, 12.4), 10, False),
        (estimate(10, 8.1, 12.6), 10, False),
    ],
)
def test_a_ratio_is_near_if_its_whole_interval_is_within_the_factor(value, documented, is_near):
    assert near(value, documented) is is_near


def test_a_wider_interval_makes_nothing_easier_to_reproduce():
    for documented in range(1, 100):
        verdicts = [near(estimate(10, 10 / wide, 10 * wide), documented) for wide in (1.0, 1.1, 1.5, 2.0, 5.0)]
        assert verdicts == sorted(verdicts, reverse=True)


@pytest.mark.parametrize(
    ("share", "is_mostly"),
    [
        (estimate(0.96), True),
        (estimate(0.94), False),
        (estimate(0.95, 0.91, 0.99), True),
        (estimate(0.99, 0.89, 1.0), False),
    ],
)
def test_a_share_without_an_interval_is_surely_above_a_level_by_what_it_leaves(share, is_mostly):
    assert mostly(share, 0.9) is is_mostly


# Why nothing is decided

NO_SPREAD = "the spread of hosts or processes is unknown"
ANOTHER = "it is another, which other hardware may explain"


@pytest.mark.parametrize(
    ("values", "between", "why"),
    [
        ([estimate(1, 0.5, 2)], False, "the interval contains the bound"),
        ([estimate(1, 0.5, 2)], True, "its interval is not surely beyond either bound"),
        ([estimate(1)], True, NO_SPREAD),
        ([estimate(1, 0.5, 2), estimate(1)], False, NO_SPREAD),
        ([estimate(1, None, 2), estimate(1, 0.5, 2)], False, NO_SPREAD),
        ([estimate(1, 0.5, None)], False, NO_SPREAD),
    ],
)
def test_a_value_that_decides_nothing_says_why(values, between, why):
    assert unsure(*values, between=between) == why


def test_a_value_that_decides_nothing_has_one_bound_unless_two_are_said():
    assert unsure(estimate(1, 0.5, 2)) == "the interval contains the bound"


@pytest.mark.parametrize(
    ("value", "why"),
    [(7.9, ANOTHER), (8.0, ANOTHER), (8.1, NO_SPREAD), (12.4, NO_SPREAD), (12.5, ANOTHER), (12.6, ANOTHER)],
)
def test_a_ratio_that_is_not_near_is_uncertain_within_the_factor_and_another_beyond_it(value, why):
    assert why_not_near(estimate(value), 10, "it is another") == why


# Of processes


def test_values_of_processes_have_an_interval_unless_one_is_nothing():
    assert over_processes([]) is None
    found = over_processes([1.0, 4.0])
    assert (found.value, found.processes) == (pytest.approx(2.0), 2)
    assert found.low < 2.0 < found.high
    assert over_processes([0.0, 4.0]) == Estimate(value=2.0, processes=2)


@pytest.mark.parametrize(("value", "is_mostly"), [(0.75, False), (0.7501, True)])
def test_what_a_share_leaves_is_surely_less_than_half_of_what_may_be_left(value, is_mostly):
    assert mostly(estimate(value), 0.5) is is_mostly


# Results that may be judged by


def test_a_result_may_be_judged_by_if_there_is_one_that_is_whole():
    assert not usable(None)
    found = {state: usable(SimpleNamespace(usable=state)) for state in (True, False)}
    assert found == {True: True, False: False}


def item(workload="a", batch=128, ratio=10.0, state="quotable", headline=True, usual_data=True):
    """A speed-up; `headline`: whether its batch alone is not the headline's."""
    value = estimate(ratio, 0.99 * ratio, 1.01 * ratio)
    return SimpleNamespace(
        workload=workload,
        state=state,
        case=SimpleNamespace(batch=batch, scope="step"),
        record=SimpleNamespace(
            headline_step=lambda *free: headline and free == ("batch",),
            usual=lambda: headline,
            usual_data=usual_data,
        ),
        ratio=SimpleNamespace(estimate=value, value=ratio),
    )


def test_a_network_has_batches_to_compare_if_two_of_its_steps_may_be_judged_by():
    two = [item(batch=64), item(batch=128)]
    more = [*two, item("b"), item("c"), item("c", state="invalid"), item("d"), item("d", headline=False)]
    assert by_batch(SimpleNamespace(speedups=more)) == {"a": two}


def test_the_headlines_speed_ups_are_those_of_a_scope_that_are_valid_and_asked_for():
    every = [item("a"), item("b", state="invalid"), item("c", headline=False), item("d", state="open")]
    found = SimpleNamespace(speedups=every)
    assert list(steps(found)) == ["a", "d"]
    assert list(steps(found, ["d", "e"])) == ["d"]
    assert steps(found, scope="run") == {}
    both = SimpleNamespace(speedups=[item("a", ratio=2.0), item("a", ratio=3.0, usual_data=False)])
    assert steps(both)["a"].ratio.value == 2.0


@pytest.mark.parametrize(
    ("state", "is_certified"), [("quotable", True), ("open", True), ("not certified", False), ("invalid", False)]
)
def test_what_is_known_to_go_against_a_certificate_leaves_only_the_high_end(state, is_certified):
    one = item(state=state)
    assert certified(one) is is_certified
    value = one.ratio.estimate
    assert sure(one) == (value if is_certified else estimate(10.0, 0.0, value.high))


@pytest.mark.parametrize(
    ("ratio", "state", "holds", "why"),
    [
        (10.0, "quotable", True, ""),
        (0.9, "quotable", False, ""),
        (20.0, "quotable", None, "it is not 10x within a factor of 1.25, which other hardware may explain"),
        (10.0, "not certified", None, NOT_CERTIFIED),
        (0.9, "not certified", False, ""),
    ],
)
def test_a_gain_is_as_documented_or_a_loss_or_open_with_its_reason(ratio, state, holds, why):
    found = gains("it gains", item(ratio=ratio, state=state), 10)
    assert (found.says, found.holds, found.why) == ("it gains", holds, why)


def test_records_are_grouped_by_workload_and_backend_without_those_that_may_not_be_judged_by():
    made = [factory.record(backend=side, threads=count) for side in ("cpu", "gpu") for count in (None, 2)]
    smoke = factory.record(threads=3, profile="smoke")
    found = groups([*made, smoke, factory.record("b")], lambda record: record.workload == "mnist_mlp", 2)
    assert {name: len(mine) for name, mine in found.items()} == {("mnist_mlp", "cpu"): 2, ("mnist_mlp", "gpu"): 2}
    assert groups([*made[:1], smoke], lambda record: True, 2) == {}
    assert list(groups(made[:1], lambda record: True)) == [("mnist_mlp", "cpu")]


# An article's own networks


@pytest.mark.parametrize(
    ("own", "others", "holds", "by_others"),
    [
        ([True], [False], True, False),
        ([False], [True], False, False),
        ([None], [True], True, True),
        ([None], [None], None, False),
        ([], [False], False, True),
        ([], [None], None, True),
        ([None], [], None, False),
    ],
)
def test_other_networks_decide_only_where_an_articles_own_cannot(own, others, holds, by_others):
    found = own_first(own, others, lambda group: Part(says="", holds=group[0]))
    assert (found.holds, found.by_others) == (holds, by_others)


def test_of_no_network_nothing_is_judged():
    with pytest.raises(AssertionError, match=r"^there is a network$"):
        own_first([], [], lambda group: Part(says="", holds=True))
