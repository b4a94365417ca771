"""Faults of disks and file systems."""

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec

from suite.case import Case
from suite.driver.journal import FILE_NAME, Journal, Session
from suite.processes import children
from suite.worker_api import clock
from suite.worker_api.protocol import Message, Task
from trust.bench import A_LINE, SMALL, THE_RESULT, Bench, Outcome, fault, refused, refused_with_nothing_left, whole


@fault("the disk is full in the middle of a line (RLIMIT_FSIZE)", "one line; resumed with room, nothing is lost",
       "the journal", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked().run()
    journal = place.journal()
    plan, session, one, *_ = map(len, journal.path.read_bytes().splitlines(keepends=True))
    shutil.rmtree(place.out)

    first = place.run(planted=(("small_trial",), ("limit", "RLIMIT_FSIZE", plan + session + one + one // 2)))
    journal = place.journal()
    before = journal.done()
    cut = not journal.path.read_bytes().endswith(b"\n")
    last = place.run("--resume")
    kept = bool(before) and journal.done()[: len(before)] == before
    good = (
        refused(first, "raise the limit of a file's size (ulimit -f), then run --resume")[0]
        and cut
        and kept
        and last.good
    )
    return good, f"exit {first.code} with {len(before)} runs, a line cut: {cut}; resumed: {whole(last)[1]}"


@fault("files may have 50 kB at most (ulimit -f)", f"{A_LINE}, nothing left", "the preflight")
def _(place: Bench) -> Outcome:
    ran = place.faked().run(planted=(("limit", "RLIMIT_FSIZE", 50 * 1024),))
    return refused_with_nothing_left(place, ran, "raise the limit of a file's size (ulimit -f)")


@fault("the disk is full (tmpfs)", "one line; resumed with room, nothing is lost", "the journal and the store")
def _(place: Bench) -> Outcome:
    place.out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place.out], capture_output=True)
    if mounted.returncode:
        return True, "not tried: nothing may be mounted here; the limit on a file's size stands for it"
    try:
        first = place.faked().run(planted=(("full_after", 3, str(place.out)),))
        (place.out / "filling").unlink()
        kept = sum(len(Journal(path).done()) for path in place.out.glob(f"*/{FILE_NAME}"))
        last = place.run("--resume")
    finally:
        subprocess.run(["umount", "-l", place.out], check=True)
    good = refused(first, "No space left on device")[0] and kept > 0 and last.good
    return good, f"exit {first.code} with {kept} runs; resumed: {whole(last)[1]}"


@fault("the journal's disk answers ENOSPC (/dev/full)", "one line with what to do", "the journal", sample=True)
def _(place: Bench) -> Outcome:
    journal = place.folder / "journal"
    journal.symlink_to("/dev/full")
    try:
        Journal(journal).append(Session(place="here"))
    except RuntimeError as error:
        return "No space left on device; free some space, then run --resume: completed" in str(error), str(error)
    return False, "no error"


@fault("a folder for the records that cannot be written", A_LINE, "the journal")
def _(place: Bench) -> Outcome:
    place.out = Path("/dev/null/records")
    return refused(place.faked().run(), "cannot write '/dev/null/records': Not a directory; choose another folder")


@fault("a home that cannot be written (real worker)", THE_RESULT, "the records")
def _(place: Bench) -> Outcome:
    nowhere = "/dev/null/home"
    place.env |= {"HOME": nowhere, "XDG_CACHE_HOME": f"{nowhere}/.cache", "XDG_CONFIG_HOME": f"{nowhere}/.config"}
    return whole(place.run(SMALL, "--backend", "cpu", "--scope", "step"))


@fault("a compile cache that cannot be written (real worker)", THE_RESULT, "the worker's facts")
def _(place: Bench) -> Outcome:
    env = children.environment("cpu", cache=Path("/dev/null/cache"))
    case = Case(workload=SMALL, backend="cpu", scope="cold", batch=8, data="random")
    plan = clock.Plan(samples=3, chain_seconds=0.1, warmup_steps=2, warmup_seconds=0, sampling_seconds=5)
    with children.child("suite.worker.main", python=sys.executable, env=env) as child:
        child.tell(msgspec.json.encode(Task(cases=(case,), dataset="random", seed=1, plan=plan, flow=plan)))
        lines = iter(lambda: child.line(120), None)
        said = [msgspec.json.decode(line, type=Message) for line in lines]
    return said[-1].report is not None, said[-1].reason or f"stage '{said[-1].stage}'"


@fault("paths with blanks, quotes and letters beyond ASCII", THE_RESULT, "the records", sample=True)
def _(place: Bench) -> Outcome:
    return whole(Bench(place.folder / 'Zoë\'s  数据 "x" $HOME {y}').faked().run())


@fault("paths with blanks and letters beyond ASCII (real worker)", THE_RESULT, "the records")
def _(place: Bench) -> Outcome:
    odd = Bench(place.folder / "Zoë's  数据")
    odd.env["SUITE_DATA"] = str(odd.folder / "däta set")
    return whole(odd.run("mnist_mlp", "--backend", "cpu", "--scope", "step"))


def lacking(place: Bench, call: str, error: str) -> Outcome:
    """Measure where a file system lacks an operation."""
    ran = place.faked().run("alpha", "beta", planted=(("refuse", call, error),))
    left = [path.name for path in place.out.rglob(".writing-*")]
    good, found = whole(ran)
    return good and not left, f"{found}; left: {left or 'nothing'}"


for _call, _error, _where in (
    ("os.link", "EPERM", "exFAT"), ("os.link", "EOPNOTSUPP", "SMB"), ("os.link", "ENOSYS", "gcsfuse"),
    ("os.fsync", "EINVAL", "a FUSE"), ("os.fsync", "EOPNOTSUPP", "SMB"), ("os.fsync", "ENOSYS", "a FUSE"),
    ("os.chmod", "EPERM", "vfat"), ("os.chmod", "EOPNOTSUPP", "SMB"),
):  # fmt: skip
    fault(f"{_call} answers {_error}, as {_where} does", f"{THE_RESULT}, no draft left", "the store and the journal")(
        partial(lacking, call=_call, error=_error)
    )


@fault("a record is written a second time where hard links lack", "the first one stays", "the claim beside it")
def _(place: Bench) -> Outcome:
    ran = place.faked().run("alpha", planted=(("refuse", "os.link", "EPERM"),))
    before = {path: path.read_bytes() for path in place.out.rglob("*.json")}
    again = place.ran("run", "--resume", "--out", str(place.out), planted=(("refuse", "os.link", "EPERM"),))
    after = {path: path.read_bytes() for path in place.out.rglob("*.json")}
    return ran.good and again.code == 1 and before == after, f"{len(before)} records stay; {again.said[-150:]}"


def lockless(place: Bench, error: str) -> Outcome:
    """Measure where TMPDIR has no locks, while another run of the same kind measures."""
    local = place.folder.with_name(f"{place.folder.name}-local")
    local.mkdir()
    flock = (("refuse", "fcntl.flock", error, f"{place.folder}/"), ("local_locks", str(local)))
    place.faked().working("sleep 0.5")
    first = place.start("run", "--profile", "smoke", "--out", str(place.out), "alpha", planted=flock)
    place.wait_for_worker()
    (place.folder / "log").rename(place.folder / "first")
    second = refused(place.run("beta", planted=flock), "another run is measuring on this machine")
    (place.folder / "first").rename(place.folder / "log")
    good, found = whole(place.loaded(first.wait(60)))
    return good and second[0], f"{found}; the second: {second[1][:150]}"


for _error in ("ENOLCK", "ENOSYS", "EOPNOTSUPP"):
    fault(f"TMPDIR's file system has no locks ({_error})", "the result, and a second run is seen and refused",
          "the locks, in a local folder")(partial(lockless, error=_error))  # fmt: skip


@fault("no folder has locks", f"{A_LINE}, nothing left, no word of another run", "the locks")
def _(place: Bench) -> Outcome:
    ran = place.faked().run("alpha", planted=(("refuse", "fcntl.flock", "ENOSYS"),))
    good, found = refused_with_nothing_left(place, ran, "has no locks", "set TMPDIR to a folder on a local disk")
    return good and "another run is measuring" not in ran.said, found


def unwritten(place: Bench, error: str, remedy: str) -> Outcome:
    """Let the disk refuse the first line of a journal."""
    ran = place.faked().run("alpha", planted=(("refuse", "os.fsync", error),))
    return refused_with_nothing_left(place, ran, "cannot write '", remedy)


def cut(place: Bench, error: str, remedy: str) -> Outcome:
    """Let the disk refuse a line in the middle of a campaign, and resume it."""
    first = place.faked().run("alpha", "beta", planted=(("refuse", "os.fsync", error, "", 3),))
    done = place.journal().done()
    last = place.run("--resume")
    kept = bool(done) and place.journal().done()[: len(done)] == done
    good = refused(first, f"{remedy}, then run --resume: completed runs are kept")[0] and kept and last.good
    return good, f"exit {first.code}, {len(done)} runs stay: {kept}; resumed: {whole(last)[1]}"


for _error, _remedy in (
    ("EDQUOT", "free some space"),
    ("EIO", "check the disk and its connection"),
    ("ESTALE", "check the disk and its connection"),
    ("EROFS", "choose another folder with --out"),
):
    fault(f"the disk refuses a campaign's first line ({_error})", f"{A_LINE}, nothing left", "the journal")(
        partial(unwritten, error=_error, remedy=_remedy)
    )
for _error, _remedy in (("EIO", "check the disk and its connection"), ("EDQUOT", "free some space")):
    fault(f"the disk refuses a line in the middle of a campaign ({_error})", "one line; resumed, nothing is lost",
          "the journal")(partial(cut, error=_error, remedy=_remedy))  # fmt: skip


@fault("the disk is nearly full before anything is measured", f"{A_LINE}, nothing left", "the preflight")
def _(place: Bench) -> Outcome:
    ran = place.faked().run("alpha", planted=(("free_bytes", 2**20),))
    return refused_with_nothing_left(place, ran, "1.00 MiB free; free some space, or choose another folder with --out")


@fault("TMPDIR is a folder that does not exist", f"a note, and {THE_RESULT}", "the preflight")
def _(place: Bench) -> Outcome:
    place.env["TMPDIR"] = str(place.folder / "missing")
    ran = place.faked().run("alpha", planted=(("temporary", str(place.folder)),))
    return whole(ran, "which cannot be used, so '", "runs with another TMPDIR do not see this one")


@fault("a compile cache that cannot be written is asked for", f"{A_LINE}, nothing left", "the preflight")
def _(place: Bench) -> Outcome:
    ran = place.faked().run("alpha", "--compile-cache", "/dev/null/cache")
    return refused_with_nothing_left(place, ran, "cannot write '/dev/null/cache'", "--compile-cache, or leave it out")


@fault(
    "a folder for data sets that cannot be written, and a set is missing", f"{A_LINE}, nothing left", "the data store"
)
def _(place: Bench) -> Outcome:
    place.env["SUITE_DATA"] = "/dev/null/data"
    ran = place.faked().run("alpha")
    return refused_with_nothing_left(place, ran, "cannot write dataset 'mnist' to '/dev/null/data", "set SUITE_DATA")


@fault("a file stands where the folder for the records has to be", "one line, exit 2, the file as it was", "the option")
def _(place: Bench) -> Outcome:
    place.out.write_text("mine")
    code = place.faked().start("run", "alpha", "--out", str(place.out)).wait(60)
    good = code == 2 and f"Directory '{place.out}' is a file." in place.said() and "Traceback" not in place.said()
    return good and place.out.read_text() == "mine", f"exit {code}; {place.said()[-150:]}"
