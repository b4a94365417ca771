"""A time that the last JAX for Python 3.11 took on a CPU is shown, and flatters no GPU."""

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli
from suite.report.parts import one_campaign, placing, tables
from suite.results.cite.one_host import numbers
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records import store
from suite.results.single import old_jax
from suite.results.single.paired_speedup import speedups
from suite.results.single.summary import summary
from suite.results.views.table import reasons

OLD = "0.10.2"
MINE = msgspec.structs.replace(factory.PLAIN, name="mine, 4 cores")


def aged(record, version=OLD):
    software = msgspec.structs.replace(record.software, packages={"jax": version})
    return store.sealed(msgspec.structs.replace(record, software=software))


@pytest.mark.parametrize(
    ("version", "slow"),
    [
        (OLD, True),
        ("0.4.30", True),
        ("0.11.0", False),
        ("0.12.0.1", False),
        ("1.0", False),
        ("0.10", True),
        ("0", False),
    ],
)
def test_the_record_alone_says_whether_its_jax_is_slow_on_a_cpu(version, slow):
    assert bool(old_jax.slow(aged(factory.record(), version))) is slow
    assert not old_jax.slow(aged(factory.record(backend="gpu"), version))
    assert not old_jax.slow(aged(factory.record(implementation="torch"), version))
    assert old_jax.slow_on_a_cpu({"jax": "1.0"}) == ""
    without = msgspec.structs.replace(factory.record().software, packages={})
    assert not old_jax.slow(msgspec.structs.replace(factory.record(), software=without))


@pytest.mark.parametrize(
    ("seconds", "profile", "before"),
    [
        ((0.010, 0.0101, 0.0099), "quick", 0),
        ((0.010, 0.0101, 0.0099), "standard", 0),
        ((0.010, 0.0150, 0.0070), "quick", 0),
        ((0.010, 0.0101, 0.0099), "smoke", 1),
    ],
)
def test_a_reason_says_so_and_what_helps_and_it_is_not_judged_by(seconds, profile, before):
    found = summary(aged(factory.record(step_seconds=seconds, profile=profile)))
    assert (found.state, found.complete, found.usable) == ("open", True, False)
    assert found.reasons[before] == (
        "JAX 0.10.2 is the last for Python 3.11, slow on a CPU, at convolutions above all; the one for a newer "
        "Python is not: install Python 3.13, which nox takes when it is there, or name one in SUITE_PYTHON"
    )
    assert not any("JAX" in reason for reason in summary(factory.record(step_seconds=seconds, profile=profile)).reasons)


def test_what_cannot_be_true_or_is_not_whole_stays_that():
    assert summary(aged(factory.record(runs=(factory.run(0, 0.01, compilations=1),)))).state == "invalid"
    assert summary(aged(factory.record(runs=()))).lacking


def test_it_makes_no_speed_up_which_the_page_says_but_the_gpu_s_own_time_may_be_quoted():
    assert [(item.cpu.usable, item.gpu.usable) for item in speedups(ageing())] == [(False, True)]
    assert pooled_speedups(ageing()) == ()
    page = factory.pages(ageing())["index.md"]
    assert "timed on both CPU and GPU here. JAX 0.10.2 is the last for Python 3.11, slow on a CPU" in page
    caveats = {(n.key.metric, n.record.backend): n.reasons for n in numbers(ageing()) if is_step_of_jax(n.record)}
    assert caveats["seconds", "gpu"] == ()
    assert caveats["seconds", "cpu"][0].startswith("JAX 0.10.2")
    assert caveats["speedup", "gpu"][0].startswith("cpu: JAX 0.10.2")


def ageing(**changes):
    return tuple(map(aged, factory.campaign(("mnist_mlp",), **changes)))


def is_step_of_jax(record):
    return (record.case.implementation, record.case.scope) == ("jax", "step")


def test_a_newer_one_moves_no_speed_up():
    newer = ageing(cpu=0.1, campaign="20260301-000000-new", created="2026-03-01T00:00:00Z")
    (found,) = pooled_speedups((*factory.campaign(("mnist_mlp",)), *newer))
    assert (found.cpu.campaigns, found.ratio.value) == (("20260101-000000-test",), pytest.approx(50))


def test_it_stands_beside_no_gpu_of_another_machine_and_the_table_of_steps_says_why():
    published = factory.campaign(("mnist_mlp",))
    for profile in ("quick", "smoke"):
        new = factory.record(machine=MINE, profile=profile)
        assert len(tables.elsewhere((*published, new), MINE.slug).rows) == 1
        assert tables.elsewhere((*published, aged(new)), MINE.slug).rows == ()
        records = (*published, aged(new))
        (steps,) = tables.for_terminal(records, MINE.slug, one_campaign.table([aged(new)]))
        assert [line.split(",")[0].replace("it only shows that it runs; ", "") for line in reasons(steps)] == [
            "mnist_mlp: JAX 0.10.2 is the last for Python 3.11"
        ]


def test_it_stands_beside_no_cpu_of_another_machine():
    published, new = factory.campaign(("mnist_mlp",)), factory.record(machine=MINE)
    assert len(placing.place(placing.headlines(factory.current((*published, new))), MINE.slug).sentences) == 1
    assert placing.place(placing.headlines(factory.current((*published, aged(new)))), MINE.slug).sentences == ()
    assert placing.place(placing.headlines(factory.current((*map(aged, published), new))), MINE.slug).sentences == ()


def test_a_file_that_is_checked_is_called_so(tmp_path):
    answer = CliRunner().invoke(cli.main, ["validate", str(store.add(aged(factory.record()), tmp_path))])
    assert "mnist_mlp.cpu.step, open: JAX 0.10.2" in answer.output
    assert answer.exit_code == 0
