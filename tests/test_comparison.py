"""Two sides get the verdict that their numbers deserve, and wrong words get a clear line."""

import re

import factory
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from suite.cli import main
from suite.report.parts import comparison
from suite.results.compare.comparison import axes, compared, noise_floor
from suite.results.records import store
from suite.results.single import selection
from suite.results.single.selection import by_machine, selected

BAND = 0.02


def side(times, campaign="one", **changes):
    return msgspec.structs.replace(factory.record(step_seconds=tuple(map(float, times)), campaign=campaign), **changes)


def noisy(centre, spread, count, seed=0):
    return centre * np.exp(np.random.default_rng(seed).normal(0, spread, count))


@pytest.mark.parametrize(
    ("factor", "spread", "verdict"),
    [
        (1.0, 0.001, "same within 2 %"),
        (1.01, 0.001, "same within 2 %"),
        (1.2, 0.01, "faster"),
        (1 / 1.2, 0.01, "slower"),
        (1.05, 0.2, "not separated"),
        (1.0, 0.2, "not separated"),
    ],
)
@pytest.mark.parametrize("campaigns", [("one", "one"), ("one", "two")])
def test_a_second_side_is_called_what_it_is(factor, spread, verdict, campaigns):
    first, second = (
        side(noisy(value, spread, 10, seed), campaign)
        for seed, (value, campaign) in enumerate(zip((0.01 * factor, 0.01), campaigns, strict=True))
    )
    (found,) = compared([first], [second])
    assert found.verdict(BAND) == verdict
    assert found.paired == (campaigns[0] == campaigns[1])


def test_one_round_that_is_no_difference_takes_a_verdict_back_where_there_are_six():
    first = side([0.0110, 0.0111, 0.0112, 0.0110, 0.0111, 0.0099])
    (found,) = compared([first], [side([0.01] * 6)])
    assert found.ratio.low > 1
    assert found.signs[0] < 1
    assert found.verdict(0.0) == "not separated"


def test_drift_that_both_sides_have_is_no_difference():
    drift = np.linspace(1, 1.3, 10)
    first, second = side(0.0105 * drift), side(0.01 * drift)
    (found,) = compared([first], [second])
    assert (found.ratio.low, found.ratio.high) == pytest.approx((1.05, 1.05))
    (apart,) = compared([first], [msgspec.structs.replace(second, campaign="two")])
    assert apart.verdict(BAND) == "not separated"


def test_a_table_of_equals_raises_a_false_alarm_in_at_most_one_of_twenty():
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(100):
        sides = [
            [side(0.01 * np.exp(rng.normal(0, 0.01, 6)), workload=f"w{i}", case=named(f"w{i}")) for i in range(4)]
            for _ in range(2)
        ]
        alarms += any(row.verdict(0.0) in ("faster", "slower") for row in compared(*sides))
    assert alarms <= 9  # of 100 at 5 %: more has a chance below 3 %


def named(name):
    return msgspec.structs.replace(factory.record().case, workload=name)


def test_an_incomplete_side_is_not_judged():
    first = side([0.02, 0.02, 0.02])
    second = side([0.01, 0.01, 0.01], rounds=4)
    assert compared([first], [second])[0].verdict(BAND) == "not separated"


def test_the_newest_record_of_a_case_counts():
    old, new = side([0.02] * 3, created="2026-01-01T00:00:00Z"), side([0.01] * 3, created="2026-01-02T00:00:00Z")
    (found,) = compared([new, old], [side([0.01] * 3, campaign="two")])
    assert found.ratio.value == pytest.approx(1.0)


def test_two_records_may_differ_in_one_axis_of_their_case():
    one = side([0.01] * 3)
    other = msgspec.structs.replace(one, case=msgspec.structs.replace(one.case, variant="nnx-jit"))
    assert compared([one], [other])[0].differs == ("variant",)
    third = msgspec.structs.replace(one, case=msgspec.structs.replace(other.case, batch=7))
    with pytest.raises(ValueError, match="differ in batch, variant; compare two that differ in one"):
        compared([one], [third])


def test_sides_without_a_common_case_are_refused():
    with pytest.raises(ValueError, match="no case in common"):
        compared([], [side([0.01] * 3)])


def test_versions_are_an_axis():
    one = side([0.01] * 3)
    packages = dict.fromkeys(one.software.packages, "0")
    other = msgspec.structs.replace(one, software=msgspec.structs.replace(one.software, packages=packages))
    assert axes(one, other) == tuple(sorted(packages))


def test_the_noise_floor_is_that_of_processes_that_follow_each_other():
    assert noise_floor([side([0.010, 0.0105, 0.010, 0.0105])]) == pytest.approx(0.05)
    assert noise_floor([side([0.01, 0.01])]) == 0.01
    assert noise_floor([]) == 0.01


def test_cases_that_differ_in_batch_or_threads_have_names_of_their_own():
    cases = [{"batch": 64}, {"batch": 128}, {"threads": 1}, {"threads": 2}]
    sides = [[side([factor * 0.01] * 3, **case) for case in map(cased, cases)] for factor in (1, 2)]
    rows = comparison.table("a", "b", compared(*sides)).rows
    assert len({row[0].text for row in rows}) == len(cases)


def test_why_a_smoke_result_separates_nothing_is_said():
    sides = [[side([0.01], profile="smoke")], [side([0.02], profile="smoke")]]
    (row,) = comparison.table("a", "b", compared(*sides)).rows
    assert row[-1].text.startswith("not separated")
    assert "it only shows that it runs" in row[-1].remark


def cased(changes):
    return {"case": msgspec.structs.replace(factory.record().case, **changes)}


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A folder with the same case from two machines, versions and campaigns, seen from where nothing is published."""
    (checkout := tmp_path / "checkout").mkdir()
    monkeypatch.chdir(checkout)
    one = side([0.02, 0.021, 0.02], campaign="20260101-000000-a")
    machine = msgspec.structs.replace(one.machine, name="quick, 8 cores")
    packages = {**one.software.packages, "jax": "0.99"}
    software = msgspec.structs.replace(one.software, packages=packages)
    two = side([0.01, 0.0101, 0.01], campaign="20260102-000000-b", machine=machine, software=software)
    return [store.add(record, tmp_path) for record in (one, two)]


@pytest.mark.parametrize("by", ["file", "folder", "campaign", "machine", "version"])
def test_a_side_is_named_in_any_way(records, by):
    folder = records[0].parent.parent
    words = {
        "file": map(str, records),
        "folder": (str(path.parent) for path in records),
        "campaign": (path.parent.name for path in records),
        "machine": (store.read(path).machine.slug for path in records),
        "version": (f"jax=={store.read(path).software.packages['jax']}" for path in records),
    }[by]
    result = CliRunner(env={"COLUMNS": "150"}).invoke(main, ["compare", *words, "--out", str(folder)])
    said = " ".join(result.output.split())
    assert result.exit_code == 0, said
    assert "faster" in said
    assert "The two differ in: machine, jax." in said
    assert "Measured at different times" in said


def test_an_unknown_side_is_named_with_what_is_near(records):
    folder = str(records[0].parent.parent)
    result = CliRunner().invoke(main, ["compare", "20260101-000000-x", str(records[0]), "--out", folder])
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert "no record matches '20260101-000000-x'; did you mean '20260101-000000-a'" in said


@pytest.mark.parametrize(
    ("word", "words"),
    [("Quick", "; did you mean 'quick-8-cores'?"), ("nosuch", "; there are: quick-8-cores, test-gpu-16-cores")],
)
def test_a_part_of_a_machines_name_is_near_it(records, word, words):
    with pytest.raises(LookupError, match=re.escape(f"no record matches '{word}'{words}")):
        selected(word, [store.read(path) for path in records])


def test_a_folder_of_campaigns_with_a_catalogue_beside_them_is_a_side(records):
    folder = records[0].parent.parent
    (folder / "catalogue.json").write_text("[]")
    assert selected(str(folder), []) == store.load([folder])[0]


def test_a_folder_without_a_record_is_no_side(records, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    folder = str(records[0].parent.parent)
    result = CliRunner().invoke(main, ["compare", str(empty), str(records[0]), "--out", folder])
    assert result.exit_code == 1
    assert f"folder '{empty}' holds no record" in " ".join(result.output.split())


@pytest.mark.parametrize(("by", "code"), [("campaign", 0), ("folder", 1)])
def test_a_record_that_was_changed_is_said_beside_the_comparison_and_is_no_side(records, by, code):
    folder = records[0].parent.parent
    changed = records[0].with_name("mnist_mlp.cpu.step.json" if by == "folder" else "other.json")
    changed.write_bytes(records[0].read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    words = [path.parent.name if by == "campaign" else str(path.parent) for path in records]
    result = CliRunner(env={"COLUMNS": "150"}).invoke(main, ["compare", *words, "--out", str(folder)])
    assert result.exit_code == code
    assert "it was changed after it was written" in " ".join(result.output.split())


def test_machines_with_a_gpu_come_first_then_those_with_most_records():
    slow, small, fast = (msgspec.structs.replace(factory.HOST, name=f"{n}, 2 cores") for n in ("mmm", "bbb", "zzz"))
    records = [
        factory.record(machine=small),
        *(factory.record(name, machine=slow) for name in ("mnist_mlp", "cifar10_mlp")),
        factory.record(backend="gpu", machine=fast),
    ]
    assert list(by_machine(records)) == [fast.slug, slow.slug, small.slug]


def test_rows_of_several_machines_name_theirs():
    both = [side([0.01] * 3, machine=machine) for machine in (factory.HOST, factory.PLAIN)]
    each = [msgspec.structs.replace(r, case=msgspec.structs.replace(r.case, batch=n)) for n, r in enumerate(both, 4)]
    labels = [row[0].text for row in comparison.table("a", "b", compared(each, each)).rows]
    assert [label.rpartition(" on ")[2] for label in labels] == [factory.HOST.name, factory.PLAIN.name]
    (alone,) = comparison.table("a", "b", compared(each[:1], each[:1])).rows
    assert factory.HOST.name not in alone[0].text


def test_a_folder_that_may_not_be_read_is_called_that(tmp_path, monkeypatch):
    monkeypatch.setattr(selection.os, "access", lambda path, mode: False)  # root may read everything
    with pytest.raises(ValueError, match="is not readable"):
        selection.selected(str(tmp_path), ())


@pytest.mark.parametrize(("campaign", "promised"), [("", True), ("another", False)])
def test_how_often_an_alarm_is_false_is_promised_within_one_campaign_alone(campaign, promised):
    first, second = factory.record(), factory.record(precision="tf32")
    if campaign:
        second = msgspec.structs.replace(second, campaign=campaign)
    notes = " ".join(comparison.table("a", "b", compared([first], [second])).notes)
    assert ("one false alarm" in notes) is promised
    assert ("beyond three standard errors" in notes) is not promised


def on(host, centre, campaign, workload="mnist_mlp"):
    """Return a step of three processes on a host, about so long."""
    runs = tuple(factory.run(number, centre * noise, host=host) for number, noise in enumerate((1.0, 1.03, 0.97)))
    return factory.record(workload, runs=runs, campaign=campaign)


HOSTS = [
    on(f"{number:016x}", 0.01 * away, f"c{number}", workload)
    for number, away in enumerate((0.9, 1.0, 1.1, 0.95, 1.05))
    for workload in "abcd"
]


@pytest.mark.parametrize(("factor", "verdict"), [(1.2, "not separated"), (2.5, "faster"), (1 / 2.5, "slower")])
def test_on_two_hosts_a_difference_has_to_be_beyond_what_hosts_differ_by(factor, verdict):
    first, second = on("aaaaaaaaaaaaaaaa", 0.01 * factor, "a"), on("bbbbbbbbbbbbbbbb", 0.01, "b")
    (found,) = compared([first], [second], HOSTS)
    assert found.verdict(BAND) == verdict
    assert found.chance is None


def test_on_one_host_the_same_difference_is_one():
    first, second = on("aaaaaaaaaaaaaaaa", 0.012, "a"), on("aaaaaaaaaaaaaaaa", 0.01, "b")
    (found,) = compared([first], [second], HOSTS)
    assert found.verdict(BAND) == "faster"


def test_two_hosts_of_which_nothing_is_known_are_not_separated():
    first, second = on("aaaaaaaaaaaaaaaa", 0.1, "a"), on("bbbbbbbbbbbbbbbb", 0.01, "b")
    (found,) = compared([first], [second])
    assert found.verdict(BAND) == "not separated"
