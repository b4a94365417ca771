"""A fake Python that the suite starts in place of a real one: as quick as a process can be, and faulty on demand.

`interpreter` writes it; SUITE_JAX_PYTHON names it. The variable FAKE says what it does: 'good', or a fault and the
stage it comes in, such as 'hang samples'; 'real worker' starts one, so that the offer alone is a fake. `program` makes
the good one of fake.c, which starts in 1 ms, where there is a compiler.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from suite.child_imports import PACKAGE
from suite.worker_api.protocol import Offer
from suite.workload import Description, Source

NAMES = ("alpha", "beta", "gamma", "delta")
DATASET = "mnist"
_PROGRAM = Path(__file__).with_name("fake.c")

_SCRIPT = """
import ctypes, json, math, os, random, select, signal, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
fault, _, where = os.environ.get("FAKE", "good").partition(" ")

def rest(seconds):
    if select.select([0], [], [], seconds)[0] and not os.read(0, 1):
        os._exit(1)  # the parent is gone

def say(**line):
    os.write(1, json.dumps(line).encode() + b"\\n")

if sys.argv[2] == "suite.worker.probe":
    os.write(1, open(os.path.join(HERE, "offer.json"), "rb").read() + b"\\n")
    os._exit(0)

if sys.argv[2] == "suite.telemetry.kernel":
    say(matmul_flop_per_second=1e9, copy_bytes_per_second=1e9, seconds=0.1)
    os._exit(0)

if fault == "real":
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # once its parent ends, as a real worker
task = json.loads(sys.stdin.buffer.raw.readline())
pause = float(os.environ.get("FAKE_SECONDS", "0.002"))
stages = ["import", "data", "init", "lower", "compile", "first_step", "warmup", "samples"]
if fault in ("hang", "stop") and where not in stages:
    stages.append(where)  # one that a case of steps has not, or has later
for stage in stages:
    say(stage=stage)
    rest(pause * random.random())
    if stage == where:
        if fault == "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1)
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if fault == "exit":
            sys.exit("lost at /home/somebody/secret.py")
        if fault == "nonsense":
            os.write(1, b"Traceback\\xff\\n")
        if fault == "memory":
            say(stage="failed", reason="XlaRuntimeError: out of memory: RESOURCE_EXHAUSTED: no 80.00GiB on GPU:0")
            os._exit(1)
    if stage not in ("data", "warmup", "samples"):
        say(stage=stage, stage_time={"name": stage, "wall_seconds": 0.001, "process_seconds": 0.001})

def sample(number):
    began = time.perf_counter()
    time.sleep(0.02 if fault == "pause" and not number else 0.0005)
    seconds = -3600.0 if fault == "backwards" and not number else time.perf_counter() - began
    return {"wall_seconds": seconds, "process_seconds": seconds}

runs, wanted = {}, {case["scope"] for case in task["cases"]}
blank = {
    "round": 0, "position": 0, "seed": 0, "started": "", "input_digest": "d", "peak_memory_bytes": 1,
    "first_loss": None if fault == "nan" else 2.0, "last_loss": 1.0,
}
if "cold" in wanted:
    runs["cold"] = {**blank, "steps_per_sample": 1, "samples": [{"wall_seconds": 0.003, "process_seconds": 0.003}]}
for scope, stage in (("step", "samples"), ("transfer", "transfer_samples")):
    if scope not in wanted:
        continue
    say(stage=stage)
    for number in range(task["plan"]["samples"]):
        say(stage=stage, sample=sample(number))
    runs[scope] = {
        **blank, "steps_per_sample": 4, "doubling_ratio": 2.0, "warmup": [sample(1)], "compilations": 0,
        "load_by_others": 0.0,
    }
software = {"suite": "0", "python": "3.12.1", "packages": {"jax": "0"}, "settings": {}}
say(stage="done", report={"runs": runs, "software": software})
os._exit(0)
"""


def description(name: str) -> Description:
    """Return what a workload that does not exist says of itself."""
    return Description(
        name=name,
        title=name,
        family="dense",
        source=Source(author="nobody", title="nothing", year=2026, address="https://example.org/", place="nowhere"),
        claims=(),
        differs=(),
        inferred=True,
        dataset=DATASET,
        preprocessing="none",
        optimizer="none",
        loss="none",
        batch=8,
        parameters=1,
        trainable_parameters=1,
        forward_flop_per_example=1,
        flop_per_example=3,
    )


def interpreter(folder: Path, backends: tuple[str, ...] = ("cpu",), names: tuple[str, ...] = NAMES) -> Path:
    """Write the fake Python, which offers these names on these backends, and return what to run."""
    _write_offer(folder, backends, names)
    (folder / "fake.py").write_text(_SCRIPT)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "$(dirname "$0")/fake.py" "$@"\n')
    python.chmod(0o755)
    return python


def program(folder: Path, names: tuple[str, ...] = NAMES) -> Path | None:
    """Compile the good fake, which offers these names on the CPU, and return what to run; None without a compiler.

    It answers as the telemetry too.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    _write_offer(folder, ("cpu",), names)
    python = folder / "python"
    made = subprocess.run([compiler, "-O1", "-o", python, _PROGRAM], capture_output=True, check=False)
    return None if made.returncode else python


def _write_offer(folder: Path, backends: tuple[str, ...], names: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    offer = Offer(
        implementation="jax",
        backends={name: (name,) for name in backends},
        packages={"jax": "0"},
        workloads=tuple(map(description, names)),
        names=names,
        package=str(PACKAGE),
    )
    (folder / "offer.json").write_bytes(msgspec.json.encode(offer))
