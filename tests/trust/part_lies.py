"""Planted lies through the real runner: each ends as invalid or at its true cost, and what is honest passes.

Those that are told on a GPU are in `part_lies_gpu`.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite import models
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.record import Record
from trust.lies import ASKED_FOR, TRUE_COST, told_on
from trust.telling import BASE, Session, costly, figures, honest_case, ways

TITLE = "Does the harness catch a lie, and believe what is honest?"

_SAMPLE = ("closed_over", "unused_result")  # seen by checks that other work cannot disturb
_VARIED = ("mnist_mlp", "cifar10_mlp", "mnist_grid_search")  # taken in every way that JAX has for them
_AT_ONCE = 2


def edited(record: Record) -> Finding:
    """Return what becomes of a record whose file is edited after it was written."""
    with tempfile.TemporaryDirectory() as folder:
        path = store.add(record, Path(folder))
        content = path.read_bytes()
        path.write_bytes(content.replace(b'"wall_seconds": 0.', b'"wall_seconds": 0.0', 1))
        changed = path.read_bytes() != content
        _, problems = store.load([Path(folder)])
    said = problems[0].partition("' ")[2] if problems else "read as if nothing had happened"
    return Finding(
        what="a record's file edited afterwards",
        expected="refused, by the check 'digest'",
        found=said,
        by="digest" if "digest" in said else "",
        good=changed and "digest" in said,
    )


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell the lies that must cost as much as the truth alone, then the others and the truth, two at a time."""
    cases = []
    if not sample:
        cases += [honest_case(name) for name in models.names() if name != BASE]
        cases += [honest_case(name, way) for name in _VARIED for way in ways(name) if way != "plain"]
    told = {name: lie for name, lie in told_on("cpu").items() if not sample or name in _SAMPLE}
    dear = {name: lie for name, lie in told.items() if lie.checks["cpu"] == TRUE_COST}
    session = Session(backend="cpu")
    lies, truths, base = costly(session, dear)
    with ThreadPoolExecutor(1 if sample else _AT_ONCE) as pool:
        others = [pool.submit(session.caught, name, lie) for name, lie in told.items() if name not in dear]
        honest = [pool.submit(session.believed, case) for case in cases]
        lies += [*(found.result() for found in others), *([edited(base)] if base else [])]
        truths += [found.result()[1] for found in honest]
    asked = {"of them asked for by the protocol": len(lies) - max(0, len(told) - ASKED_FOR)}
    return figures(lies, truths) | asked, [*lies, *truths]
