"""Whether a step's speed-up is of the hosts of another result, and its value on these alone."""

import factory
import msgspec
import pytest

from suite.report.parts import ladder as shown
from suite.report.parts import lead, rungs
from suite.results.pooled import ladder
from suite.results.pooled.same_hosts import step_beside
from suite.results.pooled.side_by_side import common_hosts
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records.store import sealed

SHARES = (1.0, 1.01, 0.99)


def timed(shares, first=1, cpu=0.1, gpu=0.01, **axes):
    """Both sides of one amount of work, on hosts that are numbered from `first` on."""
    sides = [factory.record(backend=side, step_seconds=[seconds] * 3, **axes)
             for side, seconds in (("cpu", cpu), ("gpu", gpu))]  # fmt: skip
    unused = (1.0,) * (first - 1)
    return [r for r in factory.on_hosts(sides, (*unused, *shares)) if int(r.runs[0].host, 16) >= first]


def of(records):
    """The speed-ups by scope."""
    return {item.case.scope: item for item in pooled_speedups(records)}


def test_a_step_is_set_beside_another_result_on_the_hosts_that_timed_both():
    slower = [*timed((1.0,), first=3, gpu=0.02), *timed((1.0,), first=3, gpu=0.03, scope="transfer")]
    found = of([*timed(SHARES[:2]), *slower])
    assert found["step"].ratio.hosts == 3
    assert found["step"].ratio.value > 7
    assert step_beside(found["step"], found["transfer"]).value == pytest.approx(5)
    assert step_beside(found["step"], found["transfer"]).hosts == 1


def test_other_hosts_leave_no_step_beside_and_neither_does_a_host_of_one_side():
    found = of([*timed(SHARES), *timed(SHARES, first=4, scope="transfer")])
    assert step_beside(found["step"], found["transfer"]) is None
    one_side = [r for r in timed(SHARES, first=1, scope="transfer") if r.backend == "cpu"]
    other = [r for r in timed(SHARES, first=4, scope="transfer") if r.backend == "gpu"]
    found = of([*timed(SHARES), *one_side, *other])
    assert step_beside(found["step"], found["transfer"]) is None


def without_host(records):
    runs = [tuple(msgspec.structs.replace(run, host="") for run in r.runs) for r in records]
    return [sealed(msgspec.structs.replace(r, digest="", runs=its)) for r, its in zip(records, runs, strict=True)]


def test_an_unknown_host_is_the_same_within_its_campaign_alone():
    one, other = (without_host(timed((1.0,), first=number)) for number in (1, 2))
    assert common_hosts(one, one)
    assert not common_hosts(one, other)


def test_a_model_s_sentence_says_which_results_are_of_other_hosts():
    def said(records):
        return str(lead.of_model(rungs.rungs(pooled_speedups(records)), "mnist_mlp").striptags())

    step, stored = timed(SHARES), timed(SHARES, first=4, gpu=0.05, scope="epoch")
    copied = timed((1.0,), first=3, gpu=0.02, scope="transfer")
    alone = said([*step, *stored]).partition("timed on other hosts: ")[2]
    assert alone.startswith("read from storage on the stand-in, 2.00x")
    slow = timed((1.0,), first=3, gpu=0.02)
    mixed = said([*step, *slow, *copied, *stored]).partition("of the work: ")[2]
    assert [clause.rstrip(".").endswith("(other hosts)") for clause in mixed.split("; ")] == [False, True]
    assert "a step on the same hosts: " in mixed
    assert "hosts" not in said([*step, *timed(SHARES, gpu=0.02, scope="transfer")]).partition("of the work")[2]


def test_a_ladder_has_the_step_of_the_same_hosts_or_names_the_rungs_of_others():
    def table(records):
        return shown.table(ladder.ladder(records, pooled_speedups(records)), factory.description(), "here")

    step, stored = timed(SHARES), timed(SHARES, first=4, gpu=0.05, scope="epoch")
    slow, copied = timed((1.0,), first=3, gpu=0.02), timed((1.0,), first=3, gpu=0.02, scope="transfer")
    mixed = table([*step[:4], *slow, *copied, *stored])
    place = mixed.columns.index("step, same hosts")
    assert [row[place].sort for row in mixed.rows] == [None, pytest.approx(5), None]
    assert mixed.notes[-1].startswith("Timed on other hosts than the step: from storage. ")
    together = table([*step, *timed(SHARES, gpu=0.02, scope="transfer")])
    assert "step, same hosts" not in together.columns
    assert not any("other hosts" in note for note in together.notes)


def test_the_chart_s_title_counts_the_results_of_other_hosts():
    def finding(records):
        return lead.finding(rungs.rungs(pooled_speedups(records)))

    names = ("mnist_mlp", "cifar10_mlp")
    steps = [r for name in names for r in timed(SHARES, workload=name)]
    stored = [r for name, first in zip(names, (1, 4), strict=True)
              for r in timed(SHARES, first=first, gpu=0.05, scope="epoch", workload=name)]  # fmt: skip
    assert finding([*steps, *stored]).endswith("2.0x read from storage, 1 of them on other hosts")
    far = [r for name in names for r in timed(SHARES, first=4, gpu=0.05, scope="epoch", workload=name)]
    assert finding([*steps, *far]).endswith("2.0x read from storage, on other hosts")
    near = [r for name in names for r in timed(SHARES, gpu=0.05, scope="epoch", workload=name)]
    assert "other hosts" not in finding([*steps, *near])


def test_pools_of_hosts_that_timed_both_sides_come_before_newer_ones_of_one_side():
    newer = [
        sealed(
            msgspec.structs.replace(
                record,
                digest="",
                created="2027-01-01T00:00:00Z",
                runs=tuple(msgspec.structs.replace(run, program="f" * 16) for run in record.runs),
            )
        )
        for record in timed(SHARES, first=4, cpu=0.4, scope="epoch")
        if record.backend == "cpu"
    ]
    item = of([*timed((1.0,), cpu=0.1, gpu=0.05, scope="epoch"), *newer])["epoch"]
    assert item.ratio.value == pytest.approx(2)
    assert of([*timed((1.0,), cpu=0.1, gpu=0.05), *newer]).keys() == {"step"}


@pytest.mark.parametrize(("scope", "alone"), [("epoch", True), ("run", True), ("transfer", False), ("step", False)])
def test_what_waits_for_its_host_is_divided_on_the_hosts_that_timed_both_sides(scope, alone):
    slow_input = [r for r in timed((1.0,), first=4, cpu=0.4, scope=scope) if r.backend == "cpu"]
    found = of([*timed(SHARES, cpu=0.1, gpu=0.05, scope=scope), *slow_input])[scope]
    assert (found.ratio.value == pytest.approx(2, rel=0.02)) is alone
    assert found.cpu.hosts == (3 if alone else 4)
    assert of([*slow_input, *(r for r in timed(SHARES, scope=scope) if r.backend == "gpu")]).keys() == (
        set() if alone else {scope}
    )
