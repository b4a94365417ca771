"""The parent killed at random points: with a fake worker a thousand times, with a real one twenty times."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from suite.results.evidence.trust import Finding
from trust import fake, kills

TITLE = "Is anything lost when the suite is killed?"

_ROOT = Path(__file__).parents[2]
_REAL = ("dp_linear_mirrored", "mnist_mlp", "imdb_text_cnn")


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Return how many kills there were and what was lost, which is to be nothing."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        quick = [(folder / f"fake-{slot}", slot, 6 if sample else 250) for slot in range(2 if sample else 4)]
        runs = [series(home, seed, count, 1.2, "quick", fake.NAMES, faked=True) for home, seed, count in quick]
        if not sample:
            runs += [series(folder / f"real-{number}", number, 10, 9.0, "smoke", _REAL) for number in range(2)]
        found = list(tallies(runs))
    faked, real = found[: len(quick)], found[len(quick) :]
    findings = [finding("a fake worker", faked)] + ([finding("a real worker", real)] if real else [])
    figures = {
        "kills with a fake worker": sum(one["kills"] for one in faked),
        "kills with a real worker": sum(one["kills"] for one in real),
        "campaigns resumed until they were done": sum(one["campaigns"] for one in found),
        "completed samples lost or twice": sum(len(one["troubles"]) for one in found),
        "longest life of a child after its parent, in s": round(max(one["slowest_end"] for one in found), 2),
    }
    return figures, findings


def series(home: Path, seed: int, count: int, longest: float, profile: str, names, faked: bool = False):
    """Start a series of kills in a folder of its own."""
    home.mkdir()
    env = {**os.environ, "TMPDIR": str(home), kills.TOKEN: str(home), "SUITE_COMMIT": "trust"}
    env["PYTHONPATH"] = os.pathsep.join([str(_ROOT), str(_ROOT / "tests")])
    if faked:
        env["SUITE_JAX_PYTHON"] = str(fake.interpreter(home / "interpreter"))
    command = [sys.executable, "-m", "trust.kills", str(home), str(seed), str(count), str(longest), profile, *names]
    return subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tallies(runs: list[subprocess.Popen]) -> Iterator[dict]:
    """Yield what each series did."""
    for run in runs:
        answer, errors = run.communicate()
        if run.returncode:
            raise RuntimeError(f"a series of kills failed: {errors[-2000:]}")
        yield json.loads(answer)


def finding(worker: str, found: list[dict]) -> Finding:
    """Return one finding over several series."""
    troubles = [trouble for one in found for trouble in one["troubles"]]
    count, campaigns = sum(one["kills"] for one in found), sum(one["campaigns"] for one in found)
    completed = sum(one["completed"] for one in found)
    whole = f"{count} kills, {campaigns} campaigns, {completed} runs each once, no orphan, records valid"
    return Finding(
        what=f"the parent killed with SIGKILL at a random point, with {worker}, and resumed until done",
        expected="every completed run once and as it was, no process left, valid records",
        found="; ".join(troubles)[:600] or whole,
        by="the journal and the process table after each kill, the records at the end",
        good=not troubles and count > 0,
        trials=count,
        failures=len(troubles),
    )
