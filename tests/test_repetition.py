"""A standard speed-up is repeated once a sound campaign, an hour apart on such a machine, finds it again."""

from datetime import datetime, timedelta

import factory
import msgspec
import pytest

from suite.results.repetition import description, found_again, repeats
from suite.results.speedup import current, speedups
from suite.results.statistics import Estimate

START = datetime.fromisoformat("2026-01-01T10:00:00+00:00")
NOISE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004, 0.996, 1.0)


def at(minutes):
    return (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def side(backend, seconds, campaign, minutes, profile="standard", lasts=9, **changes):
    runs = tuple(factory.run(n, seconds * noise, started=at(minutes + lasts * n / 9)) for n, noise in enumerate(NOISE))
    made = factory.record(backend=backend, campaign=campaign, created=at(minutes), profile=profile, runs=runs)
    return msgspec.structs.replace(made, rounds=len(NOISE), **changes)


def campaign(name, minutes, ratio=50.0, **changes):
    """A campaign's two sides, whose noise differs so that the ratio has an interval of about 1 %."""
    cpu, gpu = side("cpu", 0.01, name, minutes, **changes), side("gpu", 0.01 / ratio, name, minutes, **changes)
    return cpu, msgspec.structs.replace(
        gpu, runs=tuple(msgspec.structs.replace(r, round=9 - r.round) for r in gpu.runs)
    )


def statuses(*records):
    found = sorted(speedups([record for pair in records for record in pair]), key=lambda s: s.gpu.record.created)
    return [item.status for item in found]


def test_a_ratio_found_again_is_repeated_in_both_campaigns():
    assert statuses(campaign("a", 0), campaign("b", 70)) == ["repeated", "repeated"]
    (found,) = current(speedups([*campaign("a", 0), *campaign("b", 70)]))
    assert found.gpu.record.campaign == "b"


def test_one_campaign_alone_is_standard():
    assert statuses(campaign("a", 0)) == ["standard"]


@pytest.mark.parametrize(("gap", "status"), [(59, "standard"), (60, "repeated")])
def test_the_campaigns_lie_an_hour_apart_from_end_to_start(gap, status):
    assert statuses(campaign("a", 0, lasts=120), campaign("b", 120 + gap)) == [status, status]


def test_a_ratio_beside_the_interval_is_not_found_again():
    assert statuses(campaign("a", 0), campaign("b", 70, ratio=50.5)) == ["standard", "standard"]


def test_a_ratio_that_moved_is_unstable_in_both_campaigns_until_a_further_one_decides():
    assert statuses(campaign("a", 0), campaign("b", 70, ratio=52.0)) == ["unstable", "unstable"]
    decided = statuses(campaign("a", 0), campaign("b", 70, ratio=52.0), campaign("c", 140, ratio=52.0))
    assert decided == ["unstable", "unstable", "repeated"]


def test_a_quick_result_confirms_a_standard_one_and_is_never_repeated_itself():
    assert statuses(campaign("a", 0), campaign("b", 70, profile="quick")) == ["repeated", "quick"]


def test_an_unsteady_or_a_smoke_result_confirms_nothing():
    shaky = [msgspec.structs.replace(record, runs=record.runs[:9]) for record in campaign("b", 70)]
    assert statuses(campaign("a", 0), shaky) == ["standard", "incomplete"]
    assert statuses(campaign("a", 0), campaign("b", 70, profile="smoke")) == ["standard", "smoke"]


@pytest.mark.parametrize(
    "other",
    [
        {"cores": 8},
        {"memory_bytes": 2**38},
        {"cpu_model": "Another CPU"},
        {"name": "another, 16 cores"},
        {"cpu_quota_cores": 4.0},
        {"gpus": (msgspec.structs.replace(factory.H100, power_limit_watts=300.0),)},
        {"gpus": ()},
    ],
)
def test_a_machine_of_another_description_confirms_nothing(other):
    machine = msgspec.structs.replace(factory.HOST, **other)
    assert statuses(campaign("a", 0), campaign("b", 70, machine=machine)) == ["standard", "standard"]


def test_a_newer_driver_and_kernel_are_the_same_machine():
    gpu = msgspec.structs.replace(factory.H100, driver="590.1")
    machine = msgspec.structs.replace(factory.HOST, gpus=(gpu,), system="Linux 7.0 x86_64", memory_bytes=2**37 - 2**32)
    assert statuses(campaign("a", 0), campaign("b", 70, machine=machine)) == ["repeated", "repeated"]


def test_the_ends_of_the_interval_belong_to_it_and_without_one_nothing_is_found():
    record, other = campaign("a", 0)[1], campaign("b", 70)[1]
    for value, found in ((1.07, True), (1.13, True), (1.0699, False), (1.1301, False)):
        assert found_again(record, Estimate(value=1.1, low=1.07, high=1.13), [(other, Estimate(value=value))]) is found
    for ends in ({}, {"low": 1.07}, {"high": 1.13}):
        assert found_again(record, Estimate(value=1.1, **ends), [(other, Estimate(value=1.1))]) is False
    assert found_again(record, Estimate(value=1.1, low=1.07, high=1.13), []) is False


RATIO = Estimate(value=10.0, low=9.7, high=10.3)
ELSEWHERE = (15.0, 15.2, 14.8, 15.1, 10.1, 15.3, 14.9)


def other(number, value, width=0.0):
    """A campaign a day later than the one before it, with a ratio whose interval is so wide, none if it is not."""
    ends = {"low": value / (1 + width), "high": value * (1 + width)} if width else {}
    return side("gpu", 0.01, f"other-{number}", 1440 * number), Estimate(value=value, **ends)


def test_one_of_many_that_happens_to_lie_within_the_interval_confirms_nothing():
    one = campaign("a", 0)[1]
    for width in (0.0, 0.01):
        assert found_again(one, RATIO, [other(n, value, width) for n, value in enumerate(ELSEWHERE, 1)]) is False


@pytest.mark.parametrize(
    ("values", "found"), [((10.1, 15.0), True), ((15.0, 10.1), False), ((10.1, 10.1), True), ((15.0, 15.0), False)]
)
def test_the_campaign_that_is_nearest_in_time_decides(values, found):
    others = [other(number, value) for number, value in enumerate(values, 1)]
    for order in (others, others[::-1]):
        assert found_again(campaign("a", 0)[1], RATIO, order) is found


def test_of_two_that_are_as_near_both_decide():
    one = campaign("a", 2880)[1]
    for values, found in (((10.1, 9.9), True), ((10.1, 15.0), False), ((15.0, 10.1), False)):
        before, after = side("gpu", 0.01, "before", 1440), side("gpu", 0.01, "after", 4320)
        pairs = zip((before, after), values, strict=True)
        assert found_again(one, RATIO, [(record, Estimate(value=value)) for record, value in pairs]) is found


def test_a_campaign_within_the_hour_is_none_of_the_nearest():
    soon = side("gpu", 0.01, "soon", 30), Estimate(value=15.0, low=14.9, high=15.1)
    assert found_again(campaign("a", 0)[1], RATIO, [soon, other(1, 10.1)]) is True


def test_a_campaign_does_not_repeat_itself():
    early, late = campaign("a", 0)[1], campaign("a", 700)[1]
    assert repeats(early, late) is False


def tight(slow):
    """One standard campaign with hardly any noise, its first CPU process slower by that factor."""
    times = [0.01 * (1 + 0.0001 * n) for n in range(10)]
    cpu = factory.record(step_seconds=[times[0] * slow, *times[1:]], profile="standard")
    return cpu, factory.record(step_seconds=[0.0002] * 10, backend="gpu", profile="standard")


def test_a_ratio_that_one_round_drags_out_of_the_sign_interval_is_unstable():
    (found,) = speedups(tight(1.15))
    assert (found.cpu.status, found.status) == ("standard", "unstable")
    assert found.reasons[0].startswith("skewed: the ratio lies outside the sign interval, 50.0 to 50.1;")
    (found,) = speedups(tight(1 / 1.15))
    assert found.status == "unstable"
    (found,) = speedups(tight(1.0))
    assert found.status == "standard"


def test_a_repeated_speed_up_with_a_peer_is_solid():
    peers = [side("cpu", 0.009, name, minutes, case=_torch()) for name, minutes in (("a", 0), ("b", 70))]
    (found,) = current(speedups([*campaign("a", 0), *campaign("b", 70), *peers]))
    assert (found.status, found.solid) == ("repeated", True)


def test_ratios_that_are_all_the_same_are_not_skewed():
    equal = [factory.record(step_seconds=[0.0101] * 10, backend=b, profile="standard") for b in ("cpu", "gpu")]
    third = msgspec.structs.replace(equal[1], runs=tuple(factory.run(n, 0.0003) for n in range(10)))
    (found,) = speedups([equal[0], third])
    assert found.status == "standard"


def test_the_page_has_the_word_in_its_table_and_the_mark_is_full():
    from suite.report import pages, tables

    records = [*campaign("a", 0), *campaign("b", 70)]
    records += [side("cpu", 0.009, name, minutes, case=_torch()) for name, minutes in (("a", 0), ("b", 70))]
    (found,) = current(speedups(records))
    assert found.solid
    (row,) = tables.speedup_table(records).rows
    assert row[tables.SPEEDUP_COLUMNS.index("status")].text == "repeated"
    assert "repeated" in pages.pages(records, frozenset())["index.md"]


def _torch():
    return factory.record(implementation="torch").case


@pytest.mark.parametrize(("gib", "alike"), [(64, True), (74, True), (56, True), (90, False), (48, False), (128, False)])
def test_machines_are_alike_whose_memory_is_the_same_to_half_a_power_of_two(gib, alike):
    one, other = (msgspec.structs.replace(factory.HOST, memory_bytes=size * 2**30) for size in (64, gib))
    assert (description(one) == description(other)) is alike
