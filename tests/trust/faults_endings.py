"""Faults of signals: whatever ends the command, its completed runs stay and no process does."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

from trust.bench import SMALL, THE_RESULT, Bench, Outcome, fault, whole


@fault("Ctrl-C while the worker hangs and ignores SIGTERM", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked("hang samples")
    return interrupted(place, 0.3)


@fault("Ctrl-C while a real worker imports JAX", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption")  # fmt: skip
def _(place: Bench) -> Outcome:
    return interrupted(place, 0.5, SMALL)


@fault("Ctrl-C while a real worker compiles or samples", "prompt back within 2 s, exit 130, no process left",
       "the parent, which owns interruption")  # fmt: skip
def _(place: Bench) -> Outcome:
    return interrupted(place, 3.5, "cifar10_resnet63")


def interrupted(
    place: Bench, after: float, *workloads: str, module: str = "suite.worker.main", code: int = 130
) -> Outcome:
    """Interrupt a run some seconds after its child was started."""
    asked = ("--profile", "smoke", "--backend", "cpu", "--out", str(place.out), *(workloads or place.default))
    process = place.start("run", *asked)
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
    return interrupted(place, 1.0, SMALL, module="suite.worker.probe", code=130)


@fault("the parent is killed while a real worker is stopped (SIGSTOP)", "no process left",
       "the kernel's signal at the parent's end")  # fmt: skip
def _(place: Bench) -> Outcome:
    process = place.start("run", SMALL, "--profile", "smoke", "--backend", "cpu", "--out", str(place.out))
    stopped = place.wait_for_worker(3.0)
    os.kill(stopped, signal.SIGSTOP)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    left = place.orphans()
    return not left, f"left: {left or 'no process'}"


def ended(place: Bench, name: str, after: int = 2) -> Outcome:
    """End a run by a signal while its worker hangs, after some completed runs."""
    number = getattr(signal, name)
    place.faked().working(f'[ "$count" -gt {after} ] && export FAKE="hang samples"')
    process = place.start("run", "--profile", "smoke", "--out", str(place.out), "alpha", "beta", "gamma")
    until = time.monotonic() + 60
    while not (place.folder / "interpreter" / f"worker-{after + 1}").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)
    start = time.monotonic()
    process.send_signal(number)
    code, seconds = process.wait(60), time.monotonic() - start
    ran, said = place.loaded(code), place.said()
    done = place.journal().done()
    words = f"interrupted by {name}; resume with: " in said and "suite run --resume --out" in said
    good = code == 128 + number and words and bool(ran.records) and bool(done) and "Traceback" not in said
    left = place.orphans()
    place.env["FAKE"] = "good"
    (place.folder / "interpreter" / "python").write_text(
        (place.folder / "interpreter" / "python").read_text().replace("hang samples", "good")
    )
    last = place.run("--resume")
    kept = place.journal().done()[: len(done)] == done
    good = good and not left and seconds < 2 and last.code == 0 and kept
    return good, f"exit {code} after {seconds:.1f} s, {len(ran.records)} records of {len(done)} runs, all kept: {kept}"


for _name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGALRM"):
    fault(f"{_name} while a worker hangs", "partial records, how to resume, 128 + its number within 2 s; resumed whole",
          "the parent, which treats it as Ctrl-C")(partial(ended, name=_name))  # fmt: skip


@fault("SIGHUP below nohup", THE_RESULT, "what the starter ignores")
def _(place: Bench) -> Outcome:
    return whole(place.faked().run("alpha", planted=(("ignore", "SIGHUP"), ("signal_after", 1, "SIGHUP"))))


def at_call(place: Bench, name: str, number: str, words: str) -> Outcome:
    """End a run as it calls a function for the first time; whatever is left can be resumed or is nothing."""
    ran = place.faked().run("alpha", planted=(("signal_at", name, number),))
    code = 128 + getattr(signal, number)
    good = ran.code == code and words in ran.said and "Traceback" not in ran.said and not place.orphans()
    left = [*place.out.glob("*")]
    if left:
        last = place.run("--resume")
        good = good and (last.code == 0 or "has ended" in last.said)
    return good, f"exit {ran.code}; {ran.said[-200:]}; left: {len(left)} folders"


for _what, _name, _number, _words in (
    ("while it is asked what JAX can run", "suite.driver.probing.offer", "SIGTERM", "interrupted by SIGTERM"),
    ("while it prepares data", "suite.data.store.prepare", "SIGTERM", "interrupted by SIGTERM; resume with"),
    ("while records are written", "suite.results.records.store.add", "SIGTERM", ""),
    ("while the table is printed", "suite.console.printing.print_results", "SIGTERM", ""),
):
    fault(f"{_number} {_what}", "exit 143, no process left, resumed whole", "the parent, which treats it as Ctrl-C")(
        partial(at_call, name=_name, number=_number, words=_words)
    )


@fault("a second SIGTERM, as nox sends one", "exit 143, partial records, how to resume", "the first one alone counts")
def _(place: Bench) -> Outcome:
    twice = (("signal_after", 2, "SIGTERM"), ("signal_at", "suite.sessions.bench.write", "SIGTERM"))
    ran = place.faked().run("alpha", "beta", planted=twice)
    good = ran.code == 143 and "interrupted by SIGTERM; resume with" in ran.said and bool(ran.records)
    return good and "Traceback" not in ran.said, f"exit {ran.code}; {len(ran.records)} records; {ran.said[-150:]}"


@fault("the parent is suspended (SIGTSTP, as by Ctrl-Z) and goes on", THE_RESULT, "the records")
def _(place: Bench) -> Outcome:
    place.faked().working("sleep 0.2")
    process = place.start("run", "--profile", "smoke", "--out", str(place.out), "alpha")
    place.wait_for_worker()
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    process.send_signal(signal.SIGCONT)
    return whole(place.loaded(process.wait(60)))


@fault("the parent is killed (SIGKILL) after two runs", "both stay; resumed whole", "the journal")
def _(place: Bench) -> Outcome:
    first = place.faked().run("alpha", "beta", planted=(("signal_after", 2, "SIGKILL"),))
    done = place.journal().done()
    last = place.run("--resume")
    kept = place.journal().done()[: len(done)] == done
    return first.code == -9 and len(
        done
    ) >= 2 and kept and last.good, f"{len(done)} runs stay: {kept}; {whole(last)[1]}"


@fault("what reads the output is gone (suite run | head)", "the records; no traceback", "the exit code and the records")
def _(place: Bench) -> Outcome:
    command = f'"{sys.executable}" -m suite run alpha --profile smoke --out "{place.out}" 2>"{place.folder}/log" | true'
    subprocess.run(["sh", "-c", command], env=place.faked().env, cwd=place.folder, check=False)
    ran = place.loaded(0)
    return whole(ran)


@fault("its processor time runs out (RLIMIT_CPU)", "partial records or one line; never a result that is lost",
       "the journal, and how the parent ended")  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked().working("sleep 0.1")
    first = place.run("alpha", "beta", planted=(("spend", 1),))
    done = len(place.journal().done())
    last = place.run("--resume")
    good = first.code == 152 and "interrupted by SIGXCPU" in first.said and last.code == 0
    return good, f"exit {first.code}; {done} runs; {first.said[-150:]}; resumed: exit {last.code}"
