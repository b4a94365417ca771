"""Every fault that must lose nothing, injected one by one, and what became of it.

Most come through the whole command line with a fake worker; where the worker itself matters, it is the real one.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest import mock

import msgspec

from suite.case import Case
from suite.driver import campaign, collect, runner
from suite.driver.journal import FILE_NAME, Journal, Session
from suite.processes import children, lock
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.summary import summary
from suite.sessions import bench
from suite.system import machine
from suite.system.redact import anonymous
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.protocol import Message, Task
from trust import fake, kills

TITLE = "Does a fault lose or falsify anything?"

_ROOT = Path(__file__).parents[2]
_SMALL = "dp_linear_mirrored"
_STAGES = tuple(name for name in collect.STAGE_TIMEOUT_SECONDS if name != "start")
_SAMPLED = ("samples", "epoch")  # one of every case, one that a case of steps has not
PATCHES = threading.RLock()  # they change this whole process, so one fault at a time may have them
_HERE = Machine(name="test, 1 core", cpu_model="Test", cores=1)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A whole run of the command line."""

    code: int
    said: str
    seconds: float
    records: tuple[Record, ...]

    @property
    def reasons(self) -> set[str]:
        """Why its records have no result."""
        return {record.reason for record in self.records}

    @property
    def good(self) -> bool:
        """Whether it ended well, with records that all have a result."""
        return self.code == 0 and bool(self.records) and self.reasons == {""}


class Bench:
    """A folder of its own for each fault, and the command line run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.default: tuple[str, ...] = ()
        self.env = {**os.environ, "TMPDIR": str(folder), kills.TOKEN: str(folder), "SUITE_COMMIT": "trust"}
        self.env["PYTHONPATH"] = str(_ROOT)
        folder.mkdir(parents=True)

    def faked(self, fault: str = "good", **offered: tuple[str, ...]) -> "Bench":
        """Let a fake Python take the place of JAX's."""
        python = fake.interpreter(self.folder / "interpreter", **offered)
        self.env |= {"SUITE_JAX_PYTHON": str(python), "FAKE": fault}
        self.default = ("--all",)
        return self

    def start(self, *arguments: str, prefix: tuple[str, ...] = (), **options) -> subprocess.Popen:
        """Start the command line in a session of its own."""
        command = [*prefix, sys.executable, "-m", "suite", *arguments]
        with (self.folder / "log").open("wb") as log:
            return subprocess.Popen(
                command, env=self.env, cwd=self.folder, stdout=log, stderr=log, start_new_session=True, **options
            )

    def run(self, *arguments: str, **options) -> Ran:
        """Run `suite run --profile smoke` with more arguments to its end."""
        start = time.monotonic()
        every = () if arguments and not arguments[0].startswith("-") else self.default
        process = self.start("run", "--profile", "smoke", "--out", str(self.out), *every, *arguments, **options)
        code = process.wait(300)
        records, problems = store.load([self.out])
        said = " ".join((self.folder / "log").read_text(errors="replace").split())
        seconds = time.monotonic() - start
        return Ran(code=code, said="; ".join((said, *problems)), seconds=seconds, records=records)

    def workers(self, module: str) -> list[int]:
        """Return the processes of this folder that run a module."""
        found = []
        for process in kills.alive(str(self.folder)):
            with contextlib.suppress(OSError):
                if module.encode() in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
                    found.append(process)
        return found

    def wait_for_worker(self, after: float = 0.0, module: str = "suite.worker.main") -> int:
        """Return a child's process some seconds after it was started."""
        until = time.monotonic() + 60
        while not (found := self.workers(module)):
            if time.monotonic() > until:
                raise TimeoutError(f"no {module} was started")
            time.sleep(0.01)
        time.sleep(after)
        return found[0]

    def orphans(self) -> list[int]:
        """Return what is left of this folder's processes after some patience."""
        return [] if kills.gone(str(self.folder)) is not None else kills.alive(str(self.folder))


Outcome = tuple[bool, str]  # as it had to be, and what was found
FAULTS: list[tuple[str, str, str, bool, Callable[[Bench], Outcome]]] = []


def fault(what: str, expected: str, by: str, sample: bool = False):
    """Add a fault; those of the sample are quick."""

    def add(function: Callable[[Bench], Outcome]) -> Callable[[Bench], Outcome]:
        FAULTS.append((what, expected, by, sample, function))
        return function

    return add


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Return how many faults there were, and what became of each."""
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(3) as pool:
        chosen = [each for each in FAULTS if each[3] or not sample]
        places = [Path(place).resolve() / f"fault-{number}" for number in range(len(chosen))]
        findings = list(pool.map(injected, chosen, places))
    return {"faults as they had to be": f"{sum(f.good for f in findings)} of {len(findings)}"}, findings


def injected(one: tuple, folder: Path) -> Finding:
    """Return the finding on one fault."""
    what, expected, by, _, function = one
    try:
        good, found = function(Bench(folder))
    except Exception as error:
        good, found = False, f"{type(error).__name__}: {error}"
    return Finding(what=what, expected=expected, found=anonymous(found)[:400], by=by, good=good)


def recorded(ran: Ran, words: str) -> Outcome:
    """Return whether a run ended with exit 1, as nothing has a result, and every record says the words."""
    good = ran.code == 1 and bool(ran.records) and all(words in reason for reason in ran.reasons)
    return good, f"exit {ran.code}; {'; '.join(sorted(ran.reasons)) or ran.said[-300:]}"


def refused(ran: Ran, words: str) -> Outcome:
    """Return whether a run ended with exit 1, the words and no traceback."""
    good = ran.code == 1 and words in ran.said and "Traceback" not in ran.said
    return good, f"exit {ran.code}; {ran.said.rpartition('Error: ')[2][:300]}"


def whole(ran: Ran) -> Outcome:
    """Return whether a run gave all its results."""
    words = "" if ran.good else f"; {'; '.join(ran.reasons)}; {ran.said[-300:]}"
    return ran.good, f"exit {ran.code}; {len(ran.records)} records{words}"


A_RECORD, A_LINE, THE_RESULT = "a record with its reason, exit 1", "one line with what to do, exit 1", "the result"


# Memory


@fault("the GPU's memory is out (RESOURCE_EXHAUSTED)", A_RECORD, "the worker's last line", sample=True)
def _(place: Bench) -> Outcome:
    return recorded(place.faked("memory compile", backends=("cpu", "gpu")).run("--backend", "gpu"), "out of memory")


@fault("the host's memory is out (RLIMIT_AS, real worker)", A_RECORD, "the worker's last line, or how it ended")
def _(place: Bench) -> Outcome:
    limited = place.folder / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -v 12000000\nexec "{sys.executable}" "$@"\n')
    limited.chmod(0o755)
    place.env["SUITE_JAX_PYTHON"] = str(limited)
    ran = place.run(_SMALL, "--backend", "cpu", "--batch", str(10**9))
    good, found = recorded(ran, "")
    return good and all("memory" in reason or "killed" in reason for reason in ran.reasons), found


# The worker


@fault("the worker is killed (SIGKILL)", A_RECORD, "how the child ended", sample=True)
def _(place: Bench) -> Outcome:
    return recorded(place.faked("kill samples").run(), "killed by SIGKILL, in stage 'samples'")


@fault("the worker talks nonsense", A_RECORD, "the protocol's types")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("nonsense init").run(), "was not understood in stage 'init'")


@fault("the worker's last words name a path", "a record without the path", "what leaves the machine", sample=True)
def _(place: Bench) -> Outcome:
    ran = place.faked("exit compile").run()
    good, found = recorded(ran, "lost at <path>")
    text = b"".join(path.read_bytes() for path in place.out.glob("*/*.json"))
    return good and b"somebody" not in text, found


@fault("the loss is not a number", A_RECORD, "the run's losses")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("nan samples").run("--backend", "cpu"), "the loss is not finite")


def silent(place: Bench, how: str, stage: str) -> Outcome:
    """Let the worker fall silent in a stage whose limit is short, and see that it is ended and said."""
    seen = in_process(place, f"{how} {stage}", "smoke", {stage: 0.6})
    words = f"no word from the worker for 1 s in stage '{stage}'"
    good = bool(seen) and all(words in record.reason for record in seen) and not place.orphans()
    return good, "; ".join({record.reason for record in seen})


for _stage in _STAGES:
    fault(f"the worker hangs in stage '{_stage}' and ignores SIGTERM", f"{A_RECORD}, no process left",
          "the stage's limit", sample=_stage in _SAMPLED)(partial(silent, how="hang", stage=_stage))  # fmt: skip
fault("the worker is stopped (SIGSTOP) for ever", f"{A_RECORD}, no process left", "the stage's limit")(
    partial(silent, how="stop", stage="warmup")
)


def in_process(place: Bench, what: str, profile, limits: dict[str, float] | None = None) -> tuple[Record, ...]:
    """Return the records of a campaign of one case, run here with the fake worker and without waiting for quiet."""
    place.faked(what)
    case = Case(workload=fake.NAMES[0], backend="cpu", scope="step", batch=8)
    header = campaign.planned([case], [fake.description(case.workload)], profile, _HERE, datetime.now(UTC))
    journal = Journal(place.out / header.campaign / FILE_NAME)
    journal.append(header)
    run_fake(place, journal, dict.fromkeys(collect.STAGE_TIMEOUT_SECONDS, 60.0) | (limits or {}))
    return campaign.records(journal.header(), journal.done())


def run_fake(place: Bench, journal: Journal, limits: dict[str, float]) -> None:
    """Measure what the journal lacks with the fake worker."""

    def start(unit: campaign.ProcessGroup):
        return children.child("suite.worker.main", python=place.env["SUITE_JAX_PYTHON"], env=place.env)

    quiet = mock.patch.object(runner, "wait_until_quiet", return_value=0.0)
    with PATCHES, quiet, mock.patch.object(collect, "STAGE_TIMEOUT_SECONDS", limits):
        runner.run(journal.header(), journal, mock.Mock(), start)


# Signals to the parent


@fault("Ctrl-C while the worker hangs and ignores SIGTERM", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked("hang samples")
    return interrupted(place, 0.3)


@fault("Ctrl-C while a real worker imports JAX", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption")  # fmt: skip
def _(place: Bench) -> Outcome:
    return interrupted(place, 0.5, _SMALL)


@fault("Ctrl-C while a real worker compiles or samples", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption")  # fmt: skip
def _(place: Bench) -> Outcome:
    return interrupted(place, 3.5, "cifar10_resnet63")


def interrupted(
    place: Bench, after: float, *workloads: str, module: str = "suite.worker.main", code: int = 130
) -> Outcome:
    """Interrupt a run some seconds after its child was started."""
    asked = ("--profile", "smoke", "--backend", "cpu", "--out", str(place.out), *(workloads or place.default))
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what runs in the background is deaf to it
    process = place.start("run", *asked, preexec_fn=heard)
    place.wait_for_worker(after, module)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    found = process.wait(60)
    seconds = time.monotonic() - start
    good = found == code and seconds < 2 and not place.orphans()
    return good, f"exit {found} after {seconds:.2f} s; left: {place.orphans() or 'no process'}"


@fault("Ctrl-C while it is asked what JAX can run", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption")  # fmt: skip
def _(place: Bench) -> Outcome:
    return interrupted(place, 1.0, _SMALL, module="suite.worker.probe", code=130)


@fault("the parent is killed while a real worker is stopped (SIGSTOP)", "no process left",
       "the kernel's signal at the parent's end")  # fmt: skip
def _(place: Bench) -> Outcome:
    process = place.start("run", _SMALL, "--profile", "smoke", "--backend", "cpu", "--out", str(place.out))
    stopped = place.wait_for_worker(3.0)
    os.kill(stopped, signal.SIGSTOP)
    process.kill()
    process.wait(60)
    left = place.orphans()
    return not left, f"left: {left or 'no process'}"


# Time


@fault("a real worker is stopped for a while and goes on, during the samples", "unstable, and why",
       "the longest sample beside the median")  # fmt: skip
def _(place: Bench) -> Outcome:
    plan = clock.Plan(samples=8, chain_seconds=0.3, warmup_steps=3, warmup_seconds=0.5, sampling_seconds=60)
    case = Case(workload=_SMALL, backend="cpu", scope="step", batch=8, data="random")
    facts, samples = None, []
    with children.child("suite.worker.main", python=sys.executable, env=children.environment("cpu")) as child:
        child.tell(msgspec.json.encode(Task(cases=(case,), dataset="random", seed=1, plan=plan, flow=plan)))
        while facts is None and (raw := child.line(120)) is not None:
            line = msgspec.json.decode(raw, type=Message)
            facts = line.report
            samples += [line.sample] if line.sample else []
            if line.reason:
                return False, line.reason
            if line.stage == "samples" and line.sample is None:
                time.sleep(1.0)
                os.kill(child._process.pid, signal.SIGSTOP)
                time.sleep(3.0)
                os.kill(child._process.pid, signal.SIGCONT)
    import factory

    assert facts is not None
    run = msgspec.structs.replace(facts.runs["step"], samples=tuple(samples))
    found = summary(factory.record(runs=(run,), step_seconds=(0.1,)))
    return "one sample took" in str(found.reasons), "; ".join(found.reasons)


@fault("the clock goes backwards by an hour during a sample", A_RECORD, "the run's samples")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("backwards samples").run("--scope", "step"), "the clock stood still or went backwards")


@fault("the clock jumps ahead during a sample", "a reason against it", "the longest sample beside the median")
def _(place: Bench) -> Outcome:
    found = [summary(record) for record in in_process(place, "pause samples", "quick")]
    return all("one sample took" in str(f.reasons) for f in found), str([f.reasons for f in found])


@fault("the machine is suspended during the samples", "the run fails with its reason", "the clock that runs on",
       sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    target = mock.Mock(compilations=lambda: 0, steps_per_call=1)
    plan = clock.Plan(samples=3, chain_seconds=0.001, warmup_steps=1, warmup_seconds=0, sampling_seconds=1)
    try:
        with PATCHES, mock.patch.object(clock, "asleep_seconds", side_effect=(100.0, 160.0)):
            task = Task(cases=(Case(workload=_SMALL, backend="cpu", scope="step", batch=8),), dataset="random", seed=1,
                        plan=plan, flow=plan)  # fmt: skip
            mine = Process(task=task, say=lambda _: None)
            steady.steady_state(mine, lambda steps: time.sleep(0.001 * steps), target)
    except RuntimeError as error:
        return "suspended for 60 s" in str(error), str(error)
    return False, "it was not seen"


@fault("an odd time zone", "moments in UTC", "the records")
def _(place: Bench) -> Outcome:
    found = []
    for zone in ("Pacific/Kiritimati", "XYZ-24:59:59", "no such zone"):
        place.env["TZ"] = zone
        shutil.rmtree(place.out, ignore_errors=True)
        ran = place.faked().run("alpha")
        ages = [datetime.now(UTC) - datetime.fromisoformat(record.created) for record in ran.records]
        found.append(ran.good and all(0 <= age.total_seconds() < 120 for age in ages))
    return all(found), f"as it is: {found}"


# The GPU


@fault("no GPU, and one is asked for", A_LINE, "what JAX sees")
def _(place: Bench) -> Outcome:
    place.env["CUDA_VISIBLE_DEVICES"] = ""
    return refused(place.run(_SMALL, "--backend", "gpu"), "backend 'gpu' asked for, JAX sees only 'cpu'")


@fault("the driver does not fit its library", "one line that says so", "the driver's answer", sample=True)
def _(place: Bench) -> Outcome:
    import pynvml

    broken = mock.Mock(side_effect=pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH))
    from suite.driver.plan import make_plan
    from suite.driver.request import Request
    from suite.worker_api.protocol import Offer

    offer = Offer(implementation="jax", backends={"cpu": ("cpu",)}, workloads=(fake.description("alpha"),))
    with PATCHES, mock.patch.object(pynvml, "nvmlInit", broken):
        found = machine.gpus()
        try:
            make_plan(Request(backends=("gpu",)), _HERE, {"jax": offer})
        except RuntimeError as error:
            return found == () and "driver does not answer: RM has detected" in str(error), str(error)
    return False, "no error"


@fault("a GPU that JAX then does not have (silent fallback)", A_RECORD, "the backend obtained beside the one asked for")
def _(place: Bench) -> Outcome:
    place.faked("real worker", backends=("cpu", "gpu"), names=("mnist_mlp",))
    ran = place.run("mnist_mlp", "--backend", "gpu")
    good, found = recorded(ran, "")
    return good and all("gpu" in r or "cuda" in r.lower() for r in ran.reasons) and not any(
        run.samples for record in ran.records for run in record.runs
    ), found  # fmt: skip


# Disks and folders


@fault("the disk is full in the middle of a line (RLIMIT_FSIZE)", "one line; resumed with room, nothing is lost",
       "the journal", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked().run()
    (journal,) = map(Journal, place.out.glob(f"*/{FILE_NAME}"))
    plan, session, one, *_ = map(len, journal.path.read_bytes().splitlines(keepends=True))
    shutil.rmtree(place.out)

    def little() -> None:
        room = plan + session + one + one // 2
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

    first = place.run(preexec_fn=little)
    (journal,) = map(Journal, place.out.glob(f"*/{FILE_NAME}"))
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


@fault("the disk is full (tmpfs)", "one line; resumed with room, nothing is lost", "the journal and the store")
def _(place: Bench) -> Outcome:
    place.out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place.out], capture_output=True)
    if mounted.returncode:
        return True, "not tried: nothing may be mounted here; the limit on a file's size stands for it"
    try:
        first = place.faked().run()
        subprocess.run(["mount", "-o", "remount,size=16m", place.out], check=True)
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
    return refused(place.faked().run(), "cannot write '/dev/null/records/")


@fault("a home that cannot be written (real worker)", THE_RESULT, "the records")
def _(place: Bench) -> Outcome:
    nowhere = "/dev/null/home"
    place.env |= {"HOME": nowhere, "XDG_CACHE_HOME": f"{nowhere}/.cache", "XDG_CONFIG_HOME": f"{nowhere}/.config"}
    return whole(place.run(_SMALL, "--backend", "cpu"))


@fault("a compile cache that cannot be written (real worker)", THE_RESULT, "the worker's facts")
def _(place: Bench) -> Outcome:
    env = children.environment("cpu", cache=Path("/dev/null/cache"))
    case = Case(workload=_SMALL, backend="cpu", scope="cold", batch=8, data="random")
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
    return whole(odd.run("mnist_mlp", "--backend", "cpu"))


# Others, other places


@fault("two runs at once", "one measures, the other names it, exit 1", "the machine's lock", sample=True)
def _(place: Bench) -> Outcome:
    with lock.measuring("the-first", place.folder):
        return refused(
            place.faked().run(), f"(process {os.getpid()}, campaign the-first); two at once would distort both"
        )


@fault("an odd locale, or one that is not there", THE_RESULT, "the records and the exit code")
def _(place: Bench) -> Outcome:
    found = []
    for name in ("C", "tr_TR.UTF-8", "zh_CN.GB18030"):
        place.env |= {"LC_ALL": name, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": name}
        shutil.rmtree(place.out, ignore_errors=True)
        found.append(whole(place.faked().run("alpha")))
    return all(good for good, _ in found), " / ".join(words for _, words in found)


@fault("resumed on another machine of the same description", "a workload's cut round is measured from its beginning",
       "where the journal says it was measured", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked()
    cases = [Case(workload=name, backend="cpu", scope=scope, batch=8)
             for name in fake.NAMES[:2] for scope in ("step", "cold")]  # fmt: skip
    header = campaign.planned(cases, map(fake.description, fake.NAMES), "quick", _HERE, datetime.now(UTC))
    journal = Journal(place.out / header.campaign / FILE_NAME)
    journal.append(header, Session(place="there"))
    run_fake(place, journal, collect.STAGE_TIMEOUT_SECONDS)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join(lines[:9]))  # the plan, the session, a round, and three of four of the second
    before = journal.done()
    with PATCHES, mock.patch("suite.console.terminal.say") as said:
        bench.settle(journal)
    run_fake(place, journal, collect.STAGE_TIMEOUT_SECONDS)
    after = journal.done()
    note = "; ".join(call.args[0] for call in said.call_args_list)
    stay = [entry for entry in before if entry in after]
    good = len(before) == 7 and len(after) == 12 and len(stay) == 6 and "round 2 was cut" in note
    return good, f"{len(stay)} of {len(before)} runs stay; {note}"


@fault("resumed on a machine of another description", "one line that says what differs, exit 1",
       "the plan's machine beside this one")  # fmt: skip
def _(place: Bench) -> Outcome:
    other = msgspec.structs.replace(_HERE, cores=99)
    header = campaign.planned([Case(workload="alpha", backend="cpu", scope="step", batch=8)],
                              [fake.description("alpha")], "smoke", other, datetime.now(UTC))  # fmt: skip
    Journal(place.out / header.campaign / FILE_NAME).append(header)
    return refused(place.run("--resume"), "cores '99' there")


@fault("--resume when every campaign has ended", A_LINE, "the records beside the journal")
def _(place: Bench) -> Outcome:
    first = place.faked().run("alpha")
    code, said = refused(place.run("--resume"), "has ended, '")
    return first.good and code, said


# Data


_DATA = """
import sys, shutil, json
from pathlib import Path
from suite.data import batches, store
from suite.data.edition import Edition
from suite.data.prepare.pictures import Pixels
edition = Edition(train=200, test=20)
read = lambda: batches.digest(batches.batches("mnist", Pixels(), 50, 4, 1, edition=edition))
digest = read()
home = store.place("mnist", "embedded", edition)
shutil.copytree(home / "mnist", home / "kept")
(home / ".writing-killed" / "mnist").mkdir(parents=True)
found = {}
for file in sorted(p.relative_to(home / "kept") for p in (home / "kept").rglob("*") if p.is_file()):
    whole = (home / "kept" / file).read_bytes()
    middle = len(whole) // 2
    for how, content in {
        "missing": None, "empty": b"", "cut short": whole[:middle],
        "garbled": whole[:middle] + bytes(b ^ 255 for b in whole[middle:middle + 400]) + whole[middle + 400:],
    }.items():
        target = home / "mnist" / file
        target.unlink()
        if content is not None:
            target.write_bytes(content)
        try:
            found[f"{file.name} {how}"] = "as it was" if read() == digest else "OTHER DATA"
        except RuntimeError as error:
            told = "cannot be read" in str(error) and "remove that folder" in str(error)
            found[f"{file.name} {how}"] = "said" if told else f"UNCLEAR {error}"
        except Exception as error:
            found[f"{file.name} {how}"] = f"RAISED {type(error).__name__} {error}"
        target.write_bytes(whole)
shutil.rmtree(home / "mnist")
found["missing as a whole"] = "written anew" if read() == digest else "OTHER DATA"
print(json.dumps(found))
"""


@fault("a data set that is missing, half-written or corrupt, file by file", "said with what to do, or the same data",
       "the readers' checksums, and the digest of the batches", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    env = place.env | {"SUITE_DATA": str(place.folder / "data")}
    answer = subprocess.run([sys.executable, "-c", _DATA], env=env, capture_output=True, text=True, check=False)
    if answer.returncode:
        return False, answer.stderr[-400:]
    found = msgspec.json.decode(answer.stdout.splitlines()[-1], type=dict[str, str])
    bad = {name: words for name, words in found.items() if words.split()[0].isupper()}
    return not bad, str(bad or {words: list(found.values()).count(words) for words in sorted(set(found.values()))})


@fault("a corrupt data set in a whole run (real worker)", A_RECORD, "the reader")
def _(place: Bench) -> Outcome:
    place.env["SUITE_DATA"] = str(place.folder / "data")
    first = place.run("mnist_mlp", "--backend", "cpu", "--scope", "step")
    for file in (place.folder / "data").rglob("*.array_record*"):
        file.write_bytes(file.read_bytes()[:1000])
    shutil.rmtree(place.out)
    good, found = recorded(place.run("mnist_mlp", "--backend", "cpu", "--scope", "step"), "cannot be read")
    return good and first.good, found


@fault("no network, and no data yet (real worker)", f"{THE_RESULT} within 2 min", "a network of its own, without any")
def _(place: Bench) -> Outcome:
    place.env["SUITE_DATA"] = str(place.folder / "data")
    prefix = ("unshare", "-n") if os.getuid() == 0 else ("unshare", "-rn")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        return True, "not tried: no network can be taken away here"
    ran = place.run("mnist_mlp", "--backend", "cpu", prefix=prefix)
    return ran.good and ran.seconds < 120, f"{whole(ran)[1]} after {ran.seconds:.0f} s"
