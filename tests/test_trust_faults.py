"""The bench on which faults are injected: its faults, and the forks that stand for fresh commands."""

import pkgutil
import sys

import pytest
import trust
from trust import bench, forks, part_faults

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a fork is found in Linux's abstract namespace")


def module(fault):
    return getattr(fault.function, "func", fault.function).__module__


def test_each_fault_is_told_once_and_every_file_of_faults_has_some():
    faults = part_faults.faults()
    assert len({fault.what for fault in faults}) == len(faults) >= 120
    files = {found.name for found in pkgutil.iter_modules(trust.__path__) if found.name.startswith("faults_")}
    assert {module(fault).rpartition(".")[2] for fault in faults} == files


def test_a_fault_whose_own_code_fails_is_no_good_finding(tmp_path):
    def broken(place):
        raise LookupError("no such thing")

    fault = bench.Fault(what="a", expected="b", by="c", sample=False, function=broken)
    finding = fault.finding(tmp_path / "a")
    assert (finding.good, finding.found) == (False, "LookupError: no such thing")


@pytest.mark.parametrize(
    ("name", "value"), [("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("LD_PRELOAD", "/a.so"), ("LANG", "tr_TR.UTF-8")]
)
def test_what_an_interpreter_reads_as_it_starts_needs_a_fresh_one(tmp_path, name, value):
    place = bench.Bench(tmp_path / "a")
    assert forks.permits(place.env)
    assert not forks.permits(place.env | {name: value})
    assert forks.permits(place.env | {"SUITE_COMMIT": "another", "TMPDIR": "/elsewhere"})


@ON_LINUX
def test_a_fork_is_a_command_in_its_folder_with_its_environment_and_leaves_the_next_one_as_it_was(tmp_path):
    one, other = bench.Bench(tmp_path / "one").faked(), bench.Bench(tmp_path / "other").faked()
    one.env["SUITE_COMMIT"] = "feature/x"
    assert bench.refused_with_nothing_left(one, one.run("alpha"), "SUITE_COMMIT is 'feature/x'")[0]
    planted = (("signal_at", "suite.driver.preflight.checks", "SIGKILL"),)
    assert other.run("alpha", planted=planted).code == -9
    ran = other.run("alpha", "--scope", "step")
    assert bench.whole(ran)[0], ran.said
    assert {record.commit for record in ran.records} == {"trust"}
    assert not one.out.exists()


@ON_LINUX
def test_what_is_not_as_it_had_to_be_is_no_good_finding(tmp_path):
    place = bench.Bench(tmp_path / "a").faked()
    ran = place.run("alpha", "--scope", "step", planted=(("refuse", "os.link", "EIO"),))
    assert not bench.whole(ran)[0]
    assert bench.refused(ran, "check the disk and its connection")[0]
    assert not bench.refused(ran, "free some space")[0]
