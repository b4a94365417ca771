"""How far campaigns agree is counted over pairs of steady ones of the same, each asked of each."""

import random

import factory
import msgspec
import pytest

from suite.report import trust as report
from suite.results.between import Agreement, agreements

DAYS = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")


def timed(seconds, day=0, **changes):
    record = factory.record(step_seconds=seconds, campaign=f"c{day}", created=DAYS[day])
    return msgspec.structs.replace(record, **changes)


NEAR = (0.0100, 0.0101, 0.0099)
APART = (0.0120, 0.0121, 0.0119)


def test_two_campaigns_are_a_pair_and_a_third_makes_three():
    found = agreements([timed(NEAR), timed(NEAR, 1)])["cpu", True]
    assert (found.pairs, found.inside, found.apart) == (1, 1.0, 0)
    found = agreements([timed(NEAR), timed(NEAR, 1), timed(APART, 2)])["cpu", True]
    assert (found.pairs, found.inside, found.apart) == (3, pytest.approx(1 / 3), 2)


@pytest.mark.parametrize("settings", [{"CUDA_VISIBLE_DEVICES": "1"}, {"JAX_PLATFORMS": "cpu"}])
def test_which_of_equal_gpus_was_taken_makes_no_other_campaign(settings):
    software = msgspec.structs.replace(factory.record().software, settings=settings)
    assert agreements([timed(NEAR), timed(NEAR, 1, software=software)])["cpu", True].pairs == 1


def test_a_package_that_only_newer_records_name_tells_no_campaigns_apart():
    older = factory.record().software
    newer = msgspec.structs.replace(older, packages={**older.packages, "numpy": "2.5"})
    assert agreements([timed(NEAR, software=older), timed(NEAR, 1, software=newer)])["cpu", True].pairs == 1


def test_one_campaign_is_no_pair():
    assert agreements([timed(NEAR)]) == {}


def test_a_value_inside_one_interval_alone_is_half_an_agreement():
    wide, narrow = (0.0100, 0.0102, 0.0098), (0.01030, 0.01031, 0.01029)
    found = agreements([timed(wide), timed(narrow, 1)])["cpu", True]
    assert (found.inside, found.apart) == (0.5, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"machine": factory.PLAIN},
        {"machine": msgspec.structs.replace(factory.record().machine, cpu_model="another")},
        {"case": msgspec.structs.replace(factory.record().case, batch=64)},
        {"case": msgspec.structs.replace(factory.record().case, scope="cold")},
        {"software": msgspec.structs.replace(factory.record().software, settings={"XLA_FLAGS": "--other"})},
        {"software": msgspec.structs.replace(factory.record().software, packages={"jax": "0.1"})},
        {"profile": "smoke"},
        {"runs": factory.record(step_seconds=(0.01, 0.02, 0.03)).runs},  # not steady
    ],
)
def test_what_is_not_the_same_or_not_steady_is_no_pair(change):
    assert agreements([timed(NEAR), timed(NEAR, 1, **change)]) == {}


def test_campaigns_of_two_states_of_the_suite_are_pairs_of_any_commit():
    found = agreements([timed(NEAR, commit="a" * 40), timed(NEAR, 1, commit="b" * 40)])
    assert list(found) == [("cpu", False)]


def test_equal_campaigns_agree_as_often_as_their_processes_say():
    noise = random.Random(1)
    found = []
    for _ in range(1000):
        days = [timed([0.01 * noise.lognormvariate(0, 0.003) for _ in range(3)], day) for day in (0, 1)]
        found.append(agreements(days)["cpu", True])
    assert found[0].expected == pytest.approx(0.907, abs=0.001)
    assert sum(each.inside for each in found) / len(found) == pytest.approx(found[0].expected, abs=0.02)


def test_the_page_of_the_proof_has_the_counts_of_each_side_and_says_nothing_without_pairs():
    page = report.page([], [timed(NEAR), timed(APART, 1)])
    assert "Do campaigns agree?" in page
    assert "91" in page
    assert "Do campaigns agree?" not in report.page([], [timed(NEAR)])
    (row, *_) = report.agreeing({("gpu", True): Agreement(pairs=7, inside=0.5, expected=0.91, apart=2)}).rows
    assert [cell.text for cell in row] == ["GPU", "the same commit", "7", "50 %", "91 %", "2"]
