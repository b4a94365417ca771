"""Render Vega-Lite specifications to SVG on several cores.

As a program it takes a JSON list on standard input: one process renders its pictures one at a time.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import vl_convert

from suite.child_imports import child_imports

_FEWEST, _MOST_PROCESSES = 20, 8  # pictures per process, which takes half a second to start; processes


def drawn(specifications: Sequence[str]) -> list[str]:
    """Return the picture of each specification.

    Raises RuntimeError if a rendering process fails.
    """
    processes = min(_cores(), _MOST_PROCESSES, len(specifications) // _FEWEST)
    if processes < 2:
        return _drawn_here(specifications)
    pictures = [""] * len(specifications)
    with ThreadPoolExecutor(processes) as pool:
        shares = [specifications[place::processes] for place in range(processes)]
        for place, share in enumerate(pool.map(_drawn_elsewhere, shares)):
            pictures[place::processes] = share
    return pictures


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS


def _drawn_here(specifications: Sequence[str]) -> list[str]:
    return list(map(vl_convert.vegalite_to_svg, specifications))


def _drawn_elsewhere(specifications: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "suite.report.charts.drawing"]
    asked = json.dumps(specifications)
    answer = subprocess.run(
        command,
        input=asked,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **child_imports()},
        check=False,
    )
    if answer.returncode:
        words = (answer.stderr.strip().splitlines() or ["no word"])[-1]
        raise RuntimeError(f"{len(specifications)} charts were not drawn: {words}")
    return json.loads(answer.stdout)


if __name__ == "__main__":
    json.dump(_drawn_here(json.load(sys.stdin)), sys.stdout)
