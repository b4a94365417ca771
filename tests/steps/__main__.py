"""How fast is a step that one copies? `python -m steps [--backend cpu|gpu] [WORKLOAD...]`, with the tests on the path.

Each round has a process for either side, which is first in turn; what is found becomes the site's evidence. Both
processes are plain ones: the suite's own campaigns also choose the memory allocator.
"""

import argparse
import datetime
import os
import statistics
import subprocess
import sys
from pathlib import Path

from steps import sides
from suite.case import Backend
from suite.results.evidence import copyable as evidence
from suite.results.evidence.copyable import Compared
from suite.results.stats.statistics import geometric_mean
from suite.system.counters import granted_cores
from suite.system.machine import cpu_model, gpus
from suite.system.software import commit, versions

EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"
PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy")


def seconds(side: str, name: str, backend: Backend) -> float:
    """Return the seconds of a step in a process of its own."""
    command = [sys.executable, "-m", "steps.child", side, name, backend]
    env = {**os.environ, "JAX_PLATFORMS": "cuda,cpu" if backend == "gpu" else "cpu"}
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
    return float(answer.stdout.split()[-1])


def compared(name: str, backend: Backend, rounds: int) -> Compared:
    """Return both sides' times of a workload's step and their ratio."""
    found: dict[str, list[float]] = {"copied": [], "suite": []}
    for turn in range(rounds):
        for side in ("copied", "suite")[:: -1 if turn % 2 else 1]:
            found[side].append(seconds(side, name, backend))
    ratio = geometric_mean([one / other for one, other in zip(found["copied"], found["suite"], strict=True)])
    return Compared(
        workload=name,
        backend=backend,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        file=evidence.digest(sides.FOLDER / f"{name}.py"),
        machine=f"{cpu_model()}, {granted_cores()} cores" if backend == "cpu" else gpus()[0].name,
        cores=granted_cores(),
        packages=versions(*PACKAGES),
        rounds=rounds,
        copied_seconds=statistics.median(found["copied"]),
        suite_seconds=statistics.median(found["suite"]),
        ratio=ratio.value,
        low=ratio.low,
        high=ratio.high,
    )


def main() -> None:
    """Time the workloads asked for, and store what was found."""
    names = sides.names()
    asked = argparse.ArgumentParser(prog="python -m steps", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("--backend", choices=("cpu", "gpu"), default="cpu")
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--dry-run", action="store_true", help="print what is found, and store nothing")
    asked.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"all: {', '.join(names)}")
    given = asked.parse_args()
    for name in given.workloads:
        if name not in names:
            asked.error(f"no workload '{name}'; there are: {', '.join(names)}")
    for name in given.workloads or names:
        found = compared(name, given.backend, given.rounds)
        reach = "" if found.low is None else f" ({found.low:.3f} to {found.high:.3f})"
        print(f"{name}: copied {1e3 * found.copied_seconds:.3f} ms, suite {1e3 * found.suite_seconds:.3f} ms, "
              f"ratio {found.ratio:.3f}{reach}", flush=True)  # fmt: skip
        if not given.dry_run:
            print(f"  written: {found.write(EVIDENCE)}", flush=True)


if __name__ == "__main__":
    main()
