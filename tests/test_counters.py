"""What the system counts: CPU time of the cores that are ours, the group's throttling, the packages' energy."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest

from suite.system import causes, counters, limits


@pytest.mark.parametrize(
    ("own", "files", "periods"),
    [
        ("0::/a/b\n", {"a/b": 3, "a": 2, "": 1}, 6),  # version 2: own group and those around it
        ("0::/\n", {"": 4}, 4),
        ("3:cpu,cpuacct:/x\n0::/\n", {"cpu,cpuacct/x": 5}, 5),  # version 1
        ("1:cpu:/\n", {"cpu": 7}, 7),
        ("4:memory:/x\n0::/\n", {}, None),
        ("nonsense\n::::\n", {}, None),
    ],
)
def test_throttled_periods_are_those_of_the_group_and_all_around_it(tmp_path, own, files, periods):
    for folder, count in files.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "cpu.stat").write_text(f"nr_periods 9\nnr_throttled {count}\nthrottled_usec 1\n")
    (tmp_path / "own").write_text(own)
    assert counters.throttled(counters.cpu_stats(tmp_path, tmp_path / "own")) == periods


def test_a_system_without_control_groups_throttles_nothing(tmp_path):
    assert counters.cpu_stats(tmp_path, tmp_path / "none") == ()
    assert counters.throttled(()) is None
    (tmp_path / "cpu.stat").write_bytes(b"nr_throttled \xff\n")
    assert counters.throttled([tmp_path / "cpu.stat"]) is None


@pytest.mark.parametrize(
    ("files", "count"),
    [
        (
            {
                "a/b/memory.events": "low 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n",
                "a/memory.events": "oom_kill 8\n",
            },
            3,
        ),
        ({"a/b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"}, 5),
        ({"vmstat": "nr_free_pages 1\noom_kill 7\n"}, 7),
        ({"a/b/memory.events": "oom_kill x\n"}, None),
        ({}, None),
    ],
)
def test_what_the_system_killed_for_want_of_memory_is_counted_in_the_own_group_or_on_the_host(tmp_path, files, count):
    for name, words in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(words)
    groups = [tmp_path / "a" / "b", tmp_path / "a", tmp_path]
    assert causes.kills(groups, tmp_path / "vmstat") == count


@pytest.mark.parametrize("version", ["0::/a\n", "4:cpu:/\n3:memory:/a\n0::/\n"])
def test_the_group_of_a_controller_is_found_in_both_versions(tmp_path, version):
    (tmp_path / "own").write_text(version)
    folder = tmp_path / "memory" / "a" if "memory" in version else tmp_path / "a"
    assert folder in counters.control_groups(tmp_path, tmp_path / "own", "memory")
    assert tmp_path / "memory" / "a" not in counters.control_groups(tmp_path, tmp_path / "own")


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ({}, 2**36),
        ({"a/memory.max": "max\n", "memory.limit_in_bytes": "9223372036854771712\n"}, 2**36),
        ({"a/b/memory.max": f"{2**33}\n", "a/memory.max": f"{2**32}\n"}, 2**32),
        ({"a/b/memory.limit_in_bytes": f"{2**33}\n", "a/memory.limit_in_bytes": f"{2**35}\n"}, 2**33),
    ],
)
def test_the_memory_of_a_machine_is_the_smaller_of_the_hosts_and_the_groups(tmp_path, monkeypatch, written, size):
    monkeypatch.setattr(limits.psutil, "virtual_memory", lambda: SimpleNamespace(total=2**36))
    for name, words in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(words)
    assert limits.usable_bytes([tmp_path / "a" / "b", tmp_path / "a", tmp_path]) == size


def powercap(folder, **joules):
    for name, value in {"intel-rapl:0": 1.0, "intel-rapl:1": 2.0, **joules}.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "name").write_text(f"package-{name[-1]}\n")
        (folder / name / "energy_uj").write_text(f"{int(value * 1e6)}\n")
        (folder / name / "max_energy_range_uj").write_text("10000000\n")


def test_the_packages_energy_is_summed_and_wraps_are_undone(tmp_path):
    powercap(tmp_path, **{"intel-rapl:0": 8.0})
    (tmp_path / "intel-rapl:0:0").mkdir()  # a part of the first package, which would count twice
    (tmp_path / "intel-rapl:0:0" / "energy_uj").write_text("1\n")
    packages = counters.Packages(tmp_path)
    assert packages.joules() == 0.0
    powercap(tmp_path, **{"intel-rapl:0": 9.5, "intel-rapl:1": 4.0})
    assert packages.joules() == pytest.approx(3.5)
    powercap(tmp_path, **{"intel-rapl:0": 0.5, "intel-rapl:1": 4.0})  # 9.5 to 10, then 0.5
    assert packages.joules() == pytest.approx(4.5)


@pytest.mark.parametrize("trouble", ["gone", "words", "no range"])
def test_a_package_that_stops_answering_ends_the_count_for_good(tmp_path, trouble):
    powercap(tmp_path, **{"intel-rapl:1": 5.0})
    if trouble == "no range":
        (tmp_path / "intel-rapl:1" / "max_energy_range_uj").unlink()
    packages = counters.Packages(tmp_path)
    assert packages.joules() == 0.0
    if trouble == "gone":
        (tmp_path / "intel-rapl:1" / "energy_uj").unlink()
    else:
        (tmp_path / "intel-rapl:1" / "energy_uj").write_text("-5" if trouble == "words" else "1")
    assert packages.joules() is None
    powercap(tmp_path, **{"intel-rapl:1": 6.0})
    assert packages.joules() is None


def test_without_readable_packages_there_is_no_energy(tmp_path):
    assert counters.Packages(tmp_path / "none").joules() is None
    assert counters.Packages(tmp_path).joules() is None
    powercap(tmp_path)
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()  # as where only root may read it
    assert counters.Packages(tmp_path).joules() is None


def test_a_process_is_followed_with_its_children_and_lost_without_harm():
    tree = counters.Tree()
    assert tree.seconds() is None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        tree.follow(os.getpid())
        assert tree.seconds() > 0
        assert {os.getpid(), child.pid} <= tree.pids
        tree.follow(child.pid)
        assert tree.seconds() is not None
        child.communicate(b"\n")
    assert tree.seconds() is None
    for nobody in (2**31 - 1, 2**70, -1):
        tree.follow(nobody)
        assert tree.seconds() is None


class CpuTimes(NamedTuple):
    """As psutil gives them on Linux."""

    user: float = 5.0
    nice: float = 1.0
    system: float = 2.0
    idle: float = 10.0
    iowait: float = 1.0
    steal: float = 3.0
    guest: float = 4.0


def machine_of(monkeypatch, tmp_path, cores, mine, online=""):
    """Have as many cores as `cores` holds, of which `mine` are granted; `online`: which numbers they have."""
    (tmp_path / "online").write_text(online or f"0-{len(cores) - 1}\n")
    monkeypatch.setattr(counters, "_ONLINE", tmp_path / "online")
    together = CpuTimes(*map(sum, zip(*cores, strict=True)))
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu=False: cores if percpu else together)
    monkeypatch.setattr(os, "cpu_count", lambda: len(cores))
    monkeypatch.setattr(counters, "granted", lambda: frozenset(mine))


def test_steal_is_no_work_of_ours(tmp_path, monkeypatch):
    machine_of(monkeypatch, tmp_path, [CpuTimes()], {0})
    assert counters.cpu_time() == counters.CpuTime(capacity=22.0, busy=8.0, steal=3.0)


def test_work_on_cores_that_are_not_ours_is_no_load(tmp_path, monkeypatch):
    cores = [CpuTimes(), CpuTimes(user=100.0), CpuTimes(user=7.0)]
    machine_of(monkeypatch, tmp_path, cores, {0, 2})
    assert counters.cpu_time() == counters.CpuTime(capacity=46.0, busy=18.0, steal=6.0)
    machine_of(monkeypatch, tmp_path, cores, {0, 1, 2})
    assert counters.cpu_time() == counters.CpuTime(capacity=163.0, busy=121.0, steal=9.0)


def test_a_core_behind_one_that_is_switched_off_is_found_by_its_number(tmp_path, monkeypatch):
    cores = [CpuTimes(), CpuTimes(user=7.0), CpuTimes(user=100.0)]
    machine_of(monkeypatch, tmp_path, cores, {2}, "0,2-3\n")
    assert counters.cpu_time() == counters.CpuTime(capacity=24.0, busy=10.0, steal=3.0)
    machine_of(monkeypatch, tmp_path, cores, {2}, "0-3\n")  # one too many: nobody knows which time is whose
    assert counters.cpu_time().capacity == 163.0


def test_where_every_core_is_ours_the_system_is_asked_once(tmp_path, monkeypatch):
    machine_of(monkeypatch, tmp_path, [CpuTimes()] * 2, {0, 1})
    asked = []
    monkeypatch.setattr(psutil, "cpu_times", lambda *given, **named: (asked.append(named), CpuTimes())[1])
    counters.cpu_time()
    assert asked == [{}]


@pytest.mark.parametrize(("mine", "counted"), [({0, 1}, 0.0), ({1}, None)])
def test_packages_whose_cores_are_others_too_count_nothing(tmp_path, monkeypatch, mine, counted):
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    for name, words in {"name": "package-0", "energy_uj": "5", "max_energy_range_uj": "100"}.items():
        (zone / name).write_text(words)
    monkeypatch.setattr(counters, "_POWERCAP", tmp_path)
    machine_of(monkeypatch, tmp_path, [CpuTimes()] * 2, mine)
    assert counters.packages().joules() == counted


def test_guests_are_counted_once_and_what_a_system_does_not_tell_is_nothing(tmp_path, monkeypatch):
    class Guests(NamedTuple):
        user: float = 5.0
        idle: float = 10.0
        guest: float = 1.0
        guest_nice: float = 0.5

    monkeypatch.setattr(counters, "granted", lambda: frozenset({0}))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu=False: Guests())
    assert counters.cpu_time() == counters.CpuTime(capacity=15.0, busy=5.0, steal=None)


def test_the_cores_of_a_process_are_those_it_may_run_on(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5} if pid == 0 else set(), raising=False)
    assert counters.granted() == {3, 5}
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert counters.granted() == {0, 1, 2}
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert counters.granted() == {0}


class Fake:
    """A process that has had so many seconds, of each kind another; None: it has ended."""

    def __init__(self, pid, seconds, *children):
        self.pid, self.had, self.below, self.looked = pid, seconds, list(children), 0

    def cpu_times(self):
        if self.had is None:
            raise psutil.NoSuchProcess(self.pid)
        kinds = ("user", "system", "children_user", "children_system")
        return type("Times", (), {name: self.had * 10**power for power, name in enumerate(kinds)})

    def children(self, recursive):
        assert recursive
        self.looked += 1
        return self.below


def test_a_tree_has_the_time_of_all_its_processes_and_of_those_they_waited_for(monkeypatch):
    child = Fake(2, 2)
    root = Fake(1, 1, child)
    monkeypatch.setattr(psutil, "Process", lambda pid: {1: root}[pid])
    tree = counters.Tree()
    assert tree.pids == frozenset()
    tree.follow(1)
    assert tree.seconds() == 3333
    assert tree.pids == {1, 2}
    assert [tree.seconds() for _ in range(59)] == [3333] * 59
    assert root.looked == 1
    root.below = [child, Fake(3, 3)]
    assert tree.seconds() == 6666
    assert root.looked == 2


def test_a_child_that_ended_is_left_out_and_looked_for_at_the_next_reading(monkeypatch):
    child = Fake(2, 2)
    root = Fake(1, 1, child, Fake(3, 3))
    monkeypatch.setattr(psutil, "Process", lambda pid: root)
    tree = counters.Tree()
    tree.follow(1)
    tree.seconds()
    child.had = None
    assert tree.seconds() == 4444
    root.below = [Fake(4, 4)]
    assert tree.seconds() == 5555
    root.had = None
    assert tree.seconds() is None


def test_another_process_that_is_followed_is_looked_at_at_once(monkeypatch):
    one, other = Fake(1, 1), Fake(2, 2)
    monkeypatch.setattr(psutil, "Process", {1: one, 2: other}.__getitem__)
    tree = counters.Tree()
    tree.follow(1)
    assert tree.seconds() == 1111
    tree.follow(2)
    assert tree.pids == frozenset()
    assert tree.seconds() == 2222
    assert tree.pids == {2}


def test_the_folders_of_a_control_group_are_its_own_and_those_around_it_once_each(tmp_path):
    (tmp_path / "own").write_text("2:memory:/m\n1:cpu,cpuacct:/x\n0::/a/b\n")
    folders = counters.control_groups(tmp_path, tmp_path / "own")
    named = [str(folder.relative_to(tmp_path)) for folder in folders]
    assert named == [
        "cpu,cpuacct/x",
        "cpu,cpuacct",
        "cpu/x",
        "cpu",
        "a/b",
        "a",
        ".",
        "unified/a/b",
        "unified/a",
        "unified",
    ]


def test_the_parts_of_a_package_and_what_is_no_package_do_not_count(tmp_path):
    powercap(tmp_path)
    (tmp_path / "intel-rapl:1" / "name").write_text("psys\n")
    packages = counters.Packages(tmp_path)
    powercap(tmp_path, **{"intel-rapl:0": 2.5, "intel-rapl:1": 9.0})
    assert packages.joules() == pytest.approx(1.5)
    assert packages.joules() == pytest.approx(1.5)


def test_a_counter_that_stands_still_has_not_wrapped(tmp_path):
    powercap(tmp_path)
    packages = counters.Packages(tmp_path)
    assert packages.joules() == 0.0
    (tmp_path / "intel-rapl:0" / "max_energy_range_uj").unlink()
    assert packages.joules() == 0.0


def test_the_places_are_those_of_linux():
    found = (counters._CGROUPS, counters._OWN_GROUPS, counters._POWERCAP, counters._ONLINE)
    assert tuple(map(str, found)) == (
        "/sys/fs/cgroup",
        "/proc/self/cgroup",
        "/sys/class/powercap",
        "/sys/devices/system/cpu/online",
    )
