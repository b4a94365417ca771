"""What cannot be measured is refused once, before anything is planned or written, and the doctor tells all of it."""

import errno
import resource
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import factory
import pytest
from click.testing import CliRunner
from test_telemetry import FakeNvml

from suite import units
from suite.cli import main
from suite.driver import preflight, probing
from suite.processes import children, lock
from suite.sessions import bench, resuming
from suite.system import folders, limits, machine, variables
from suite.system.nvml import Gpus
from suite.worker_api.protocol import Offer

JAX = Offer(implementation="jax", backends={"cpu": ("cpu",)}, packages={"jax": "0.12"})

COUNTS = limits.counts


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in an empty folder of a machine that has nothing to complain of; return the folder."""
    for name in (*variables.settings(), "SUITE_COMMIT", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SUITE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(preflight.software, "origin", lambda: preflight.software.Origin(commit="abc"))
    monkeypatch.setattr(limits, "memory_limits", lambda: (limits.Limit(of_bytes=2**35, what="the host's memory"),))
    monkeypatch.setattr(limits, "counts", lambda: ())
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda place: SimpleNamespace(free=2**40))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(**options):
    return {check.name: check for check in preflight.checks(**options)}


def everything_below(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


@pytest.mark.usefixtures("here")
def test_a_machine_without_trouble_passes_without_a_note_and_nothing_is_left():
    assert preflight.passed(preflight.checks(Path("some/records"), Path("cache"))) == ()
    assert {check.verdict for check in preflight.checks()} == {"good"}
    assert everything_below(Path()) == []


@pytest.mark.usefixtures("here")
def test_no_process_is_started_but_git(monkeypatch):
    monkeypatch.setattr(children, "Child", lambda *_, **__: pytest.fail("a child was started"))
    began = time.process_time()
    preflight.checks()
    assert time.process_time() - began < 1.0


def no_locks():
    raise RuntimeError("'/tmp' has no locks (No locks available); set TMPDIR to a folder on a local disk")


@pytest.fixture
def five_troubles(here, monkeypatch):
    """Plant five troubles; return the words of each with its remedy. The default --out leads below a file."""
    (here / "file").write_text("in the way")
    for name, value in (
        ("JAX_DISABLE_JIT", "1"),
        ("SUITE_COMMIT", "feature/x"),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(preflight.software, "origin", ORIGIN)
    monkeypatch.setattr(preflight.lock, "place", no_locks)
    (here / "records").symlink_to("file/records")
    group = here / "group"
    group.mkdir()
    (group / "memory.max").write_text(f"{2**28}\n")
    monkeypatch.setattr(limits, "memory_limits", lambda: MEMORY_LIMITS([group]))
    return (
        "JAX_DISABLE_JIT is '1': nothing is compiled, and the suite times compiled programs; unset it",
        "SUITE_COMMIT is 'feature/x', which records do not accept; set it to at most 80 letters",
        "'/tmp' has no locks (No locks available); set TMPDIR to a folder on a local disk",
        "cannot write 'records': Not a directory; choose another folder with --out",
        f"a process may use {units.memory(2**28)}, the limit of the control group (memory.max); the smallest",
    )


ORIGIN, MEMORY_LIMITS = preflight.software.origin, limits.memory_limits


@pytest.mark.parametrize("words", [(), ("--resume",)])
def test_five_troubles_are_refused_at_once_and_nothing_is_left(five_troubles, words, here, monkeypatch):
    monkeypatch.setattr(probing, "answered", lambda name: pytest.fail("measuring had begun"))
    before = everything_below(here)
    result = CliRunner().invoke(main, ["run", "mnist_mlp", *words])
    assert result.exit_code == 1
    assert "Error: 5 things on this machine prevent measuring:\n- " in result.output
    for trouble in five_troubles:
        assert f"- {trouble}" in result.output
    assert everything_below(here) == before


@pytest.fixture
def quick_doctor(monkeypatch):
    """A doctor that asks no process."""
    monkeypatch.setattr(probing, "answered", lambda name: JAX)
    monkeypatch.setattr(probing, "_baselines", lambda: ())
    monkeypatch.setattr(probing.counters, "others_now", lambda seconds: 0.0)
    telemetry = SimpleNamespace(counters=lambda: None)
    monkeypatch.setattr(probing.windows, "telemetry", lambda: nullcontext(telemetry))
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.mark.usefixtures("quick_doctor")
def test_the_doctor_tells_five_troubles_each_with_its_remedy(five_troubles):
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    for trouble in five_troubles:
        assert any(line.startswith(trouble) for line in lines), trouble
    assert sum(line.startswith("no ") for line in lines) == 5


@pytest.mark.usefixtures("here", "quick_doctor")
def test_the_doctor_tells_what_is_well_too():
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0
    for name in ("code", "commit", "results", "data", "temporary files", "memory", "visible GPUs", "JAX", "load"):
        assert f"ok    {name}" in result.output


@pytest.mark.usefixtures("here")
def test_the_doctor_of_a_machine_without_a_gpu_says_what_is_measured_there(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr(probing.counters, "others_now", lambda seconds: 0.0)
    monkeypatch.setattr(machine, "machine", lambda: factory.PLAIN)
    monkeypatch.setattr(machine, "Gpus", lambda: Gpus(FakeNvml(names=())))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "note  GPU" in result.output
    assert "CPU times are measured; their speed-ups use published GPUs" in result.output
    assert "visible GPUs        none (CUDA_VISIBLE_DEVICES is '')" in result.output


@pytest.mark.parametrize("name", [name for name in variables.REPLACED if not name.startswith("JAX_TRANSFER_GUARD_")])
def test_a_users_default_of_jax_is_noted_and_reaches_no_child_and_no_record(name, here, monkeypatch):
    monkeypatch.setenv(name, "1")
    (note,) = preflight.passed(preflight.checks())
    assert note.startswith(f"{name} is '1': not used here, since ")
    assert name not in children.environment("cpu")
    assert name not in bench.campaign.settings()


@pytest.mark.usefixtures("here")
def test_a_default_that_is_off_is_not_noted(monkeypatch):
    for name in variables.REPLACED:
        monkeypatch.setenv(name, "0")
    assert preflight.passed(preflight.checks()) == ()


def test_workers_get_the_same_environment_whatever_a_user_sets_for_own_programs(monkeypatch):
    plain = children.environment("cpu")
    for name in variables.REPLACED:
        monkeypatch.setenv(name, "disallow")
    assert children.environment("cpu") == plain


def test_a_limit_of_a_files_size_is_refused_with_its_remedy_though_a_part_could_be_written(here):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50 * 1024, hard))
    try:
        check = found()["results"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert check.verdict == "bad"
    assert check.advice.endswith("File too large; raise the limit of a file's size (ulimit -f)")
    assert not list(here.glob(".trying-*"))


def test_a_data_folder_that_holds_sets_may_be_read_only(here, monkeypatch):
    (here / "data" / "embedded" / "x").mkdir(parents=True)
    monkeypatch.setattr(folders, "probed", lambda path: folders.Folder(error=OSError(errno.EROFS, "Read-only")))
    check = found()["data"]
    assert check.verdict == "remark"
    assert check.advice.startswith("new data sets cannot be prepared: cannot write")


@pytest.mark.parametrize(("free", "verdict"), [(2**40, "good"), (2**29, "remark"), (2**20, "bad")])
def test_a_nearly_full_disk_is_told_before_it_ends_a_campaign(free, verdict, here, monkeypatch):
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    check = found()["results"]
    assert check.verdict == verdict
    assert ("free some space, or choose another folder with --out" in check.advice) == (verdict != "good")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("size", "verdict"), [(2**28, "bad"), (2**31, "remark"), (2**34, "good")])
def test_a_limit_of_memory_is_told_with_what_sets_it(size, verdict, tmp_path, monkeypatch):
    (tmp_path / "memory.limit_in_bytes").write_text(str(size))
    monkeypatch.setattr(limits.psutil, "virtual_memory", lambda: SimpleNamespace(total=2**36))
    monkeypatch.setattr(limits, "memory_limits", lambda: MEMORY_LIMITS([tmp_path]))
    check = found()["memory"]
    assert check.verdict == verdict
    assert "the control group (memory.limit_in_bytes)" in check.found


def test_the_hosts_memory_counts_where_no_limit_is_set(tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert MEMORY_LIMITS([tmp_path])[-1].what == "the host's memory"
    assert not any("control group" in limit.what for limit in MEMORY_LIMITS([tmp_path]))


def test_a_limit_of_each_process_counts(monkeypatch):
    monkeypatch.setattr(limits.resource, "getrlimit", lambda kind: (2**30, 2**31))
    (first, *_) = MEMORY_LIMITS([])
    assert (first.of_bytes, first.what) == (2**30, "the limit of each process (ulimit -v)")


UNLIMITED = limits.resource.RLIM_INFINITY


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("files", "soft", "name", "shown", "verdict"),
    [
        ({"pids.max": "max", "pids.current": "9"}, {}, "processes", "", "good"),
        ({"pids.max": "40", "pids.current": "35"}, {}, "processes", "5 (pids.max of the control group)", "bad"),
        ({"pids.max": "140", "pids.current": "35"}, {}, "processes", "105 (pids.max of the control group)", "remark"),
        ({"pids.max": "9140", "pids.current": "35"}, {}, "processes", "9105 (pids.max of the control group)", "good"),
        ({}, {"RLIMIT_NPROC": 1}, "processes", "(ulimit -u)", "bad"),
        ({}, {"RLIMIT_NOFILE": 32}, "open files", "32 (ulimit -n)", "bad"),
        ({}, {"RLIMIT_NOFILE": 128}, "open files", "128 (ulimit -n)", "remark"),
        ({}, {"RLIMIT_NOFILE": 1024}, "open files", "1024 (ulimit -n)", "good"),
        ({}, {"RLIMIT_CPU": 5}, "processor time", "5 s (ulimit -t)", "bad"),
        ({}, {"RLIMIT_CPU": 600}, "processor time", "600 s (ulimit -t)", "remark"),
        ({}, {"RLIMIT_CPU": UNLIMITED}, "processor time", "", "good"),
    ],
)
def test_what_a_worker_may_not_have_enough_of_is_told(files, soft, name, shown, verdict, tmp_path, monkeypatch):
    for each, words in files.items():
        (tmp_path / each).write_text(words)
    kinds = {getattr(limits.resource, kind): value for kind, value in soft.items()}
    monkeypatch.setattr(limits.resource, "getrlimit", lambda kind: (kinds.get(kind, UNLIMITED), UNLIMITED))
    monkeypatch.setattr(limits.os, "getuid", lambda: 65534)
    monkeypatch.setattr(limits.counters, "granted_cores", lambda: 2)
    monkeypatch.setattr(limits, "counts", lambda: COUNTS([tmp_path]))
    told = found().get(name)
    assert (told is None) == (not shown)
    assert told is None or (told.verdict, shown in told.found) == (verdict, True)


@pytest.mark.usefixtures("here")
def test_shared_memory_that_is_missing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "_SHARED", tmp_path / "missing")
    (note,) = preflight.passed(preflight.checks())
    assert note.endswith("cannot be used (it is missing): pipelines of processes and several GPUs need it")


def test_keras_reads_no_settings_of_a_user_and_writes_none():
    home = Path(children.environment("cpu")["KERAS_HOME"])
    assert not (home / "keras.json").exists()
    with pytest.raises(NotADirectoryError):
        (home / "keras.json").write_text("{}")


@pytest.mark.usefixtures("here")
def test_a_gpu_that_is_asked_for_and_hidden_is_refused_before_jax_is_asked(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    monkeypatch.setattr(machine, "Gpus", lambda: Gpus(FakeNvml()))
    with pytest.raises(RuntimeError, match="CUDA_VISIBLE_DEVICES is '7', which names none of the driver's GPUs"):
        preflight.passed(preflight.checks(gpu=True))
    assert preflight.passed(preflight.checks()) == ()


@pytest.mark.usefixtures("here")
def test_locks_that_are_missing_are_told(monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    with pytest.raises(RuntimeError, match=r"has no locks .*; set TMPDIR to a folder on a local disk"):
        preflight.passed(preflight.checks())


@pytest.mark.usefixtures("here")
def test_a_folder_of_temporary_files_that_is_not_used_is_told(monkeypatch):
    monkeypatch.setenv("TMPDIR", "/nowhere")
    (note,) = preflight.passed(preflight.checks())
    assert note.startswith("TMPDIR is '/nowhere', which cannot be used, so '")


def test_a_folder_is_tried_and_left_as_it_was(tmp_path, monkeypatch):
    nested = folders.probed(tmp_path / "a" / "b")
    assert nested.problem == ""
    (tmp_path / "file").write_text("")
    assert folders.probed(tmp_path / "file" / "x").problem == "Not a directory"
    monkeypatch.setattr(folders.os, "write", lambda *_: (tmp_path / "no").stat())
    assert folders.probed(tmp_path).problem == "No such file or directory"
    assert everything_below(tmp_path) == [Path("file")]


@pytest.mark.usefixtures("here")
def test_a_compile_cache_that_cannot_be_written_is_refused():
    Path("file").write_text("")
    with pytest.raises(RuntimeError, match=r"cannot write 'file/x': .*choose another folder with --compile-cache"):
        resuming.resumed(Path("records"), compile_cache=Path("file/x"))
    with pytest.raises(RuntimeError, match="--resume asked for, but 'records' holds no campaign"):
        resuming.resumed(Path("records"), compile_cache=Path("cache"))


@pytest.mark.usefixtures("five_troubles")
def test_a_host_that_joins_is_refused_for_its_own_troubles():
    result = CliRunner().invoke(main, ["join", "localhost:9"])
    assert result.exit_code == 1
    assert "Error: 4 things on this machine prevent measuring:\n- SUITE_COMMIT is 'feature/x'" in result.output
    assert "--out" not in result.output


def test_a_plan_for_other_machines_is_refused_only_for_what_holds_there(here):
    names = {check.name for check in preflight.of_a_plan(here)}
    assert names == {"code", "commit", "recorded variables", "results"}
