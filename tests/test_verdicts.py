"""A verdict follows from interval, signs, chance and band alone, each to its bound."""

from dataclasses import replace

import factory
import msgspec
import pytest

from suite.report.parts import comparison as report
from suite.results.compare.comparison import LEAST_BAND, Comparison, axes, compared, noise_floor
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate, paired_p_value, unpaired_p_value

CALM = summary(factory.record(step_seconds=(0.01, 0.01, 0.01)))


def comparison(low=1.1, value=1.2, high=1.3, chance=0.01, paired=False, **changes):
    made = Comparison(
        first=CALM, second=CALM, ratio=Estimate(value=value, low=low, high=high), paired=paired, chance=chance
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("given", "band", "verdict"),
    [
        ({}, 0.0, "faster"),
        ({"low": 1 / 1.3, "value": 1 / 1.2, "high": 1 / 1.1}, 0.0, "slower"),
        ({"low": 0.99}, 0.0, "not separated"),
        ({"low": 1.0}, 0.0, "not separated"),
        ({"low": 0.8, "value": 0.9, "high": 1.0}, 0.0, "not separated"),
        ({"chance": 0.05}, 0.0, "not separated"),
        ({"chance": 0.0499}, 0.0, "faster"),
        ({"chance": None}, 0.0, "not separated"),
        ({"low": None}, 9.0, "not separated"),
        ({"high": None}, 9.0, "not separated"),
        ({}, 0.29, "faster"),
        ({}, 0.31, "same within 31 %"),
        ({"low": 1 / 1.5, "value": 1.0}, 0.4, "not separated"),
        ({"low": 1 / 1.39, "value": 1.0}, 0.4, "same within 40 %"),
        ({"low": 0.5, "value": 1.25, "high": 1.5}, 0.5, "not separated"),
        ({"low": 1.0, "value": 1.0, "high": 1.0, "chance": 1.0}, 0.0, "same within 0 %"),
        ({"low": 1.001, "value": 1.002, "high": 1.004, "chance": 0.9}, 0.0123, "same within 1.2 %"),
    ],
)
def test_a_verdict_follows_from_interval_chance_and_band(given, band, verdict):
    assert comparison(**given).verdict(band) == verdict


@pytest.mark.parametrize("changes", [{"state": "invalid"}, {"lacking": True}])
def test_a_side_that_is_not_whole_is_not_judged_and_one_with_a_reason_against_it_is(changes):
    for side in ("first", "second"):
        made = comparison(**{side: replace(CALM, **changes)})
        assert (made.verdict(0.0), made.state) == ("not separated", changes.get("state", "open"))
        assert comparison(**{side: replace(CALM, reasons=("busy",))}).verdict(0.0) == "faster"


def sided(ratios):
    """A comparison of records whose rounds have these ratios, whose t interval says what it is told."""
    one = summary(factory.record(step_seconds=tuple(0.01 * ratio for ratio in ratios)))
    other = summary(factory.record(step_seconds=(0.01,) * len(ratios)))
    return one, other


@pytest.mark.parametrize(
    ("ratios", "given", "verdict"),
    [
        ((1.2,) * 6, {}, "faster"),
        ((1.2,) * 5 + (0.999,), {}, "not separated"),
        ((1.2,) * 4 + (0.999,), {}, "faster"),  # too few rounds for signs
        ((1.2,) * 8 + (0.999,), {}, "faster"),  # of nine the sign interval leaves out one
        ((0.8,) * 6, {"low": 0.7, "value": 0.8, "high": 0.9}, "slower"),
        ((0.8,) * 5 + (1.001,), {"low": 0.7, "value": 0.8, "high": 0.9}, "not separated"),
    ],
)
def test_the_sign_interval_has_to_exclude_one_too_where_rounds_are_paired(ratios, given, verdict):
    one, other = sided(ratios)
    made = comparison(**given, paired=True, first=one, second=other)
    assert made.verdict(0.0) == verdict
    apart = replace(made, paired=False)
    assert apart.signs is None
    assert apart.verdict(0.0) == ("faster" if ratios[0] > 1 else "slower")


def test_the_signs_are_those_of_the_rounds_in_common():
    one, other = sided((1.5, 1.4, 1.3, 1.2, 1.1, 1.6))
    assert comparison(paired=True, first=one, second=other).signs == pytest.approx((1.1, 1.6))
    short = summary(factory.record(runs=other.record.runs[:5]))
    assert comparison(paired=True, first=one, second=short).signs is None


def named(name, times, **changes):
    made = factory.record(step_seconds=times)
    return msgspec.structs.replace(made, case=msgspec.structs.replace(made.case, workload=name), **changes)


def test_chances_are_corrected_over_the_rows_that_have_one():
    first = [named("a", (0.012, 0.013, 0.011)), named("b", (0.012, 0.0121, 0.0119)), named("c", (0.012,), rounds=1)]
    second = [named(name, (0.01, 0.0101, 0.0102)) for name in "ab"] + [named("c", (0.01,), rounds=1)]
    rows = {row.first.record.case.workload: row for row in compared(first, second)}
    plain = [
        paired_p_value(*({run.round: run.samples[2].wall_seconds for run in r.runs} for r in pair))
        for pair in zip(first[:2], second[:2], strict=True)
    ]
    assert rows["c"].chance is None
    assert rows["b"].chance == pytest.approx(2 * plain[1])
    assert rows["a"].chance == pytest.approx(max(2 * plain[1], plain[0]))
    assert list(rows) == ["a", "b", "c"]
    assert all(row.paired for row in rows.values())


@pytest.mark.parametrize("changes", [{"campaign": "b"}, {"machine": factory.PLAIN}])
def test_other_campaigns_and_machines_are_not_paired(changes):
    one, other = named("a", (0.012, 0.013, 0.011)), named("a", (0.01, 0.0101, 0.0103), **changes)
    (row,) = compared([one], [other])
    assert not row.paired
    sides = [[run.samples[2].wall_seconds for run in r.runs] for r in (one, other)]
    on_one_host = one.machine == other.machine
    assert row.chance == (pytest.approx(unpaired_p_value(*sides)) if on_one_host else None)
    assert row.ratio.value == pytest.approx((0.012 * 0.013 * 0.011 / (0.01 * 0.0101 * 0.0103)) ** (1 / 3))


def test_each_side_has_its_current_record_of_a_machine_that_both_have():
    def made(time, year, **changes):
        when = {"campaign": f"{year}0101-000000-x", "created": f"{year}-01-01T00:00:00Z"}
        return named("a", (time, 1.01 * time, 0.99 * time), **when, **changes)

    def times(first, second):
        (row,) = compared(first, second)
        return row.first.record.created[:4], row.second.record.created[:4]

    here, there = {}, {"machine": factory.PLAIN}
    assert times([made(1.0, 2021, **here)], [made(1.0, 2022, **here), made(1.0, 2024, **there)]) == ("2021", "2022")
    assert times([made(1.0, 2021, **here)], [made(1.0, 2024, **there)]) == ("2021", "2024")
    both = [made(1.0, 2021, **here), made(1.0, 2022, **there)]
    assert times(both, [made(1.0, 2023, **here), made(1.0, 2024, **there)]) == ("2022", "2024")
    assert times(both, [made(1.0, 2025, **here), made(1.0, 2024, **there)]) == ("2021", "2025")
    assert times([made(1.0, 2021), made(1.0, 2022, profile="smoke")], [made(1.0, 2023)]) == ("2021", "2023")


def of_version(version, *machines, time=1.0, **changes):
    software = msgspec.structs.replace(factory.record().software, packages={"jax": version})
    times = (time, 1.01 * time, 0.99 * time)
    return [named("a", times, software=software, machine=machine, **changes) for machine in machines]


def test_versions_are_compared_on_a_machine_that_both_ran_on_and_two_machines_only_by_themselves():
    other = msgspec.structs.replace(factory.PLAIN, name="third, 4 cores")
    old, new = of_version("1", factory.HOST, factory.PLAIN), of_version("2", factory.PLAIN, other)
    (row,) = compared(old, new)
    assert {side.record.machine.name for side in (row.first, row.second)} == {factory.PLAIN.name}
    with pytest.raises(ValueError, match="no case on the same machine in common; to compare two machines, name them"):
        compared(of_version("1", factory.HOST, factory.PLAIN), of_version("2", other))
    (row,) = compared(of_version("1", factory.HOST), of_version("2", other))
    assert row.differs == ("machine", "jax")


def test_a_step_on_random_content_and_on_a_stand_in_are_one_row():
    made = factory.record("mnist_mlp", step_seconds=(1.0, 1.01, 0.99))
    drawn = msgspec.structs.replace(made, case=msgspec.structs.replace(made.case, data="random"), created="2027")
    (row,) = compared([made, drawn], [made, drawn])
    assert row.first.record == row.second.record == drawn


def test_rows_without_a_common_round_are_left_out():
    one, other = named("a", (0.012, 0.013)), named("a", (0.01, 0.01))
    apart = tuple(msgspec.structs.replace(run, round=run.round + 2) for run in other.runs)
    assert compared([one], [msgspec.structs.replace(other, runs=apart)]) == ()


def test_several_records_without_a_common_case_are_refused_even_if_one_side_is_single():
    with pytest.raises(ValueError, match=r"no case in common; choose two that measured the same$"):
        compared([named("a", (1.0,)), named("b", (1.0,))], [named("c", (1.0,))])
    with pytest.raises(ValueError, match="no case in common"):
        compared([named("c", (1.0,))], [named("a", (1.0,)), named("b", (1.0,))])


def test_two_records_of_other_machines_and_packages_may_differ_in_one_axis_of_their_case():
    one = factory.record(batch=128)
    software = msgspec.structs.replace(one.software, packages=dict.fromkeys(one.software.packages, "0"))
    other = msgspec.structs.replace(factory.record(batch=256, machine=factory.PLAIN), software=software)
    (row,) = compared([one], [other])
    assert row.differs[:2] == ("batch", "machine")
    with pytest.raises(ValueError, match="differ in batch, precision; "):
        compared([one], [factory.record(batch=256, precision="tf32", machine=factory.PLAIN)])


def test_the_axes_are_those_of_case_machine_and_common_packages():
    one = factory.record()
    software = msgspec.structs.replace(one.software, packages={"jax": "9", "flax": "1"})
    other = msgspec.structs.replace(factory.record(batch=7, machine=factory.PLAIN), software=software)
    assert axes(one, other) == ("batch", "machine", "jax")
    assert axes(one, one) == ()
    assert comparison(first=summary(one), second=summary(other)).differs == ("batch", "machine", "jax")


def under(record, **settings):
    return msgspec.structs.replace(record, software=msgspec.structs.replace(record.software, settings=settings))


def test_settings_are_an_axis_each_and_none_of_the_case():
    client, flags = {"XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT": "1"}, {"XLA_FLAGS": "--xla_a"}
    one, other = under(factory.record(), JAX_PLATFORMS="cpu"), under(factory.record(), **client, **flags)
    wanted = ("setting XLA_FLAGS", "setting XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT")
    assert axes(one, other) == axes(other, one) == wanted
    (row,) = compared([one], [under(factory.record(batch=256), **client, **flags)])
    assert row.differs == ("batch", *wanted)


def test_the_settings_in_which_two_differ_are_said_below_the_table():
    sides = [[under(factory.record(), XLA_FLAGS=flags)] for flags in ("--xla_a", "--xla_b")]
    assert "The two differ in: setting XLA_FLAGS." in report.table("a", "b", compared(*sides)).notes
    assert not any("differ in" in note for note in report.table("a", "b", compared(sides[0], sides[0])).notes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ()),
        ({"memory_bytes": factory.HOST.memory_bytes // 2}, ("host",)),
        ({"memory_bytes": int(1.012 * factory.HOST.memory_bytes)}, ("host",)),
        ({"memory_bytes": int(0.993 * factory.HOST.memory_bytes)}, ()),
        ({"cpu_model": "Another CPU"}, ("host",)),
        ({"system": "Linux 7.0 x86_64"}, ()),
        ({"name": "another, 16 cores"}, ("machine",)),
        ({"name": "another, 16 cores", "memory_bytes": 1, "cpu_model": "Another CPU"}, ("machine",)),
    ],
)
def test_another_host_of_the_same_machine_s_name_is_an_axis(changes, said):
    other = factory.record(machine=msgspec.structs.replace(factory.HOST, **changes))
    assert axes(factory.record(), other) == axes(other, factory.record()) == said


def test_the_noise_floor_is_a_median_of_medians_and_has_a_least():
    def stepping(*shares):
        made, times = 1.0, [1.0]
        for share in shares:
            made *= 1 + share
            times.append(made)
        return factory.record(step_seconds=tuple(times))

    assert LEAST_BAND == 0.01
    assert noise_floor([stepping(0.02, 0.04, 0.5)]) == pytest.approx(0.04)
    assert noise_floor([stepping(0.02), stepping(0.9), stepping(0.05)]) == pytest.approx(0.05)
    assert noise_floor([stepping(0.001)]) == 0.01
    assert noise_floor([stepping()]) == noise_floor([]) == 0.01
    assert noise_floor([stepping(), stepping(0.03)]) == pytest.approx(0.03)
    turned = stepping(0.02, 0.3)
    turned = msgspec.structs.replace(turned, runs=(turned.runs[2], turned.runs[0], turned.runs[1]))
    assert noise_floor([turned]) == pytest.approx((1.02 * 1.3) ** 0.5 - 1)
