"""The parent killed at each of its calls, at random calls and at random times, with a fake worker and a real one."""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from suite.results.evidence.trust import Finding
from trust import fake, kills
from trust.kills import Series

TITLE = "Is anything lost when the suite is killed?"
MINUTES = 5.0

_ROOT = Path(__file__).parents[2]
_REAL = ("dp_linear_mirrored", "mnist_mlp", "imdb_text_cnn")
_PLANNED = ("--rounds", "2")
_ADDED = ("--budget", "60", "--within", "40")  # rounds are added to what the fake's scatter leaves wide
_AT_CALLS = 5  # series; with the sixth, of random times, three for a core of two, since half of a run is waiting


def prove(sample: bool, minutes: float, seed: int) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Return how many kills there were and what was lost, which is to be nothing."""
    kills_wanted, seconds = (8, None) if sample else (None, 60 * minutes)
    count = 1 if sample else _AT_CALLS
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        folder = Path(place).resolve()
        common = {"seed": seed, "names": fake.NAMES[:2], "kills": kills_wanted, "seconds": seconds}
        at_calls = [
            Series(folder=f"{folder}/call-{n}", number=n, of=_AT_CALLS, options=_PLANNED, **common)
            for n in range(count)
        ]
        at_times = Series(folder=f"{folder}/time", number=count, options=_ADDED, longest=0.8, **common)
        faked = list(tallies([start(series) for series in (*at_calls, at_times)]))
    real = [] if sample else with_real_workers(seed)
    called, timed = faked[:count], faked[count:]
    findings = [each_call(called, sample), finding("at a random call", "a fake worker", called)]
    findings.append(finding("at a random point", "a fake worker", timed))
    if not sample:
        findings.append(finding("at a random point", "a real worker", real))
    at = sum((Counter(one["at"]) for one in called), Counter())
    found = [*faked, *real]
    count, longest = sum(one["kills"] + one["each"] for one in faked), max(one["seconds"] for one in faked)
    figures = {
        "kills with a fake worker": count,
        "kills with a real worker": sum(one["kills"] for one in real),
        "kills a second, with a fake worker": round(count / longest, 1),
        "kills by call": ", ".join(f"{call} {times}" for call, times in at.most_common()),
        "campaigns resumed until they were done": sum(one["campaigns"] for one in found),
        "completed samples lost or twice": sum(len(one["troubles"]) for one in found),
        "longest life of a child after its parent, in s": round(max(one["slowest_end"] for one in found), 2),
    }
    return figures, findings


def memory() -> str | None:
    """Return a folder in memory for many small files; None, for the usual one, if there is none."""
    place = "/dev/shm"
    return place if os.access(place, os.W_OK) else None


def with_real_workers(seed: int) -> list[dict]:
    """Return what became of two series with real workers, on a real disk."""
    with tempfile.TemporaryDirectory() as place:
        series = [
            Series(
                folder=f"{Path(place).resolve()}/real-{n}", seed=seed, number=n, names=_REAL, kills=10, longest=9.0,
                options=("--profile", "smoke"), faked=False,
            )
            for n in range(2)
        ]  # fmt: skip
        return list(tallies([start(one) for one in series]))


def start(series: Series) -> subprocess.Popen:
    """Start a series in its folder."""
    home = Path(series.folder)
    home.mkdir()
    env = {**os.environ, "TMPDIR": str(home), kills.TOKEN: str(home), "SUITE_COMMIT": "trust"}
    env["PYTHONPATH"] = os.pathsep.join([str(_ROOT), str(_ROOT / "tests")])
    if series.faked:
        compiled = fake.program(home / "interpreter", series.names)
        env["SUITE_JAX_PYTHON"] = str(compiled or fake.interpreter(home / "interpreter", names=series.names))
        env["SUITE_DATA"] = str(home / "data")
        if compiled and not series.longest:  # at random times the telemetry is the real one
            series = msgspec.structs.replace(series, telemetry=str(compiled))
    command = [sys.executable, "-m", "trust.kills", msgspec.json.encode(series).decode()]
    return subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tallies(runs: list[subprocess.Popen]) -> Iterator[dict]:
    """Yield what each series did."""
    for run in runs:
        answer, errors = run.communicate()
        if run.returncode:
            raise RuntimeError(f"a series of kills failed: {errors[-2000:]}")
        yield json.loads(answer)


def each_call(found: Sequence[dict], sample: bool) -> Finding:
    """Return the finding on the calls of a campaign, at each of which one is killed in turn."""
    left, calls = sum(one["left"] for one in found), max(one["calls"] for one in found)
    troubles = [trouble for one in found for trouble in one["troubles"]]
    done = sum(one["each"] for one in found)
    return Finding(
        what="the parent killed at each call by which it changes files, locks or processes, writes torn too",
        expected="every call once, resumed until done, nothing lost",
        found="; ".join(troubles)[:600] or f"{done} kills at the {calls} calls of a campaign, {left} left over",
        by="the journal and all processes after each kill, the records at the end",
        good=not troubles and done > 0 and (sample or not left),
    )


def finding(when: str, worker: str, found: list[dict]) -> Finding:
    """Return one finding over several series, on the kills by chance."""
    troubles = [trouble for one in found for trouble in one["troubles"]]
    count, campaigns = sum(one["kills"] for one in found), sum(one["campaigns"] for one in found)
    completed = sum(one["completed"] for one in found)
    whole = f"{count} kills, {campaigns} campaigns, {completed} runs each once, no orphan, records valid"
    return Finding(
        what=f"the parent killed with SIGKILL {when}, with {worker}, and resumed until done",
        expected="every completed run once and as it was, no process left, valid records",
        found="; ".join(troubles)[:600] or whole,
        by="the journal and all processes after each kill, the records at the end",
        good=not troubles and count > 0,
        trials=count,
        failures=len(troubles),
    )
