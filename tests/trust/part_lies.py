"""Planted lies through the real runner: each ends as invalid or at its true cost, and what is honest passes.

Those that only a GPU can tell are in `part_lies_gpu`.
"""

import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from suite import models
from suite.case import Backend, Case
from suite.driver import campaign, runner
from suite.driver.journal import Journal
from suite.processes import children
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.single.summary import Summary, step_seconds, summary
from suite.system.machine import machine
from suite.variants import VARIANTS
from trust.lies import ASKED_FOR, LIES, TRUE_COST, Lie

TITLE = "Does the harness catch a lie, and believe what is honest?"

BASE = "mnist_mlp"  # the honest run whose time is the true cost, and whose record is edited
_SAMPLE = ("no_block", "replaced_clock", "unused_result", "closed_over", "cached_inference")
_SAMPLE_HONEST = ("dp_linear_mirrored", "mnist_mlp")
_VARIED = ("mnist_mlp", "cifar10_mlp", "mnist_grid_search")  # taken in every way that JAX has for them
_SMALL_BATCH = 8  # of a network whose example is much work
_AT_ONCE = 2
_MUCH_FLOP = 1e8
_TRUE_COST_SHARE = 0.7  # of the honest time, on a machine with other work


class Quiet:
    """Watches nothing."""

    def begins(self, number, unit): ...
    def grows(self, header, why): ...
    def stage(self, name): ...
    def ends(self, unit, done): ...
    def skips(self, unit, seconds): ...
    def prepares(self, what, done, total): ...


def measured(case: Case, lie: str) -> Record:
    """Return the record of a campaign of one process that tells a lie, or none: ''."""
    about = models.load(case.workload).description
    plan = campaign.planned([case], [about], "smoke", machine(), datetime.now(UTC))

    def start(unit):
        on_gpu = LIES[lie].needs_gpu if lie in LIES else case.backend == "gpu"
        env = children.environment("gpu" if on_gpu else "cpu", unit[0].allocator)
        return children.child("trust.lying_worker", lie, python=sys.executable, env=env)

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.jsonl")
        journal.append(plan)
        runner.run(plan, journal, Quiet(), start)
        (record,) = campaign.records(plan, journal.done())
    return record


def honest_case(name: str, variant: str = "plain", backend: Backend = "cpu") -> Case:
    """Return a case of a network, its batch on a CPU small where an example is much work."""
    about = models.load(name).description
    much = backend == "cpu" and about.flop_per_example > _MUCH_FLOP
    batch = min(_SMALL_BATCH, about.batch) if much else about.batch
    return Case(workload=name, backend=backend, scope="step", batch=batch, variant=variant, data=about.data)


def ways(name: str) -> list[str]:
    """Return the variants of JAX that a network has: fits are stacked where there is a grid of them."""
    return [way for way in VARIANTS["jax"] if way != "stacked" or models.load(name).description.grid is not None]


def checks_of(found: Summary) -> tuple[str, ...]:
    """Return the names of the checks in a summary's reasons, which read 'round 1: name: words'."""
    return tuple(dict.fromkeys(reason.split(": ")[1] for reason in found.reasons)) if found.state == "invalid" else ()


def caught(name: str, lie: Lie, honest_seconds: float) -> Finding:
    """Return what became of a lie."""
    case = msgspec.structs.replace(honest_case(lie.workload, backend=lie.backend), scope=lie.scope)
    record = measured(case, name)
    found = summary(record)
    names = checks_of(found)
    seconds = step_seconds(record.runs[0])
    true = seconds is not None and seconds >= _TRUE_COST_SHARE * honest_seconds
    if lie.check == TRUE_COST:
        return Finding(
            what=lie.what,
            expected="invalid, or its true cost",
            found=f"{found.state}; {(seconds or 0) / honest_seconds:.2f} of the honest time",
            by=", ".join(names) or "the clock",
            good=bool(names) or true,
        )
    return Finding(
        what=lie.what,
        expected=f"invalid, by the check '{lie.check}'",
        found=": ".join([found.state, "; ".join(found.reasons)])[:300],
        by=", ".join(names),
        good=lie.check in names,
    )


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


def believed(case: Case) -> tuple[Record, Finding]:
    """Return an honest record and whether every check let it pass."""
    record = measured(case, "")
    found = summary(record)
    return record, Finding(
        what=f"honest: {case.workload}, {case.variant}, batch {case.batch}",
        expected="no check rejects it",
        found=": ".join([found.state, "; ".join(found.reasons)])[:300],
        by=", ".join(checks_of(found)),
        good=found.complete,
    )


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell the lies, then the truth: those that must cost as much as the truth alone, the others two at a time."""
    names = _SAMPLE_HONEST if sample else models.names()
    cases = [honest_case(name) for name in names if name != BASE]
    if not sample:
        cases += [honest_case(name, way) for name in _VARIED for way in ways(name) if way != "plain"]
    told = {name: lie for name, lie in LIES.items() if (name in _SAMPLE if sample else not lie.needs_gpu)}
    base, first = believed(honest_case(BASE))
    honest_seconds = step_seconds(base.runs[0]) or 0.0
    with ThreadPoolExecutor(1 if sample else _AT_ONCE) as pool:
        costly = {name: caught(name, lie, honest_seconds) for name, lie in told.items() if lie.check == TRUE_COST}
        others = [pool.submit(caught, name, lie, honest_seconds) for name, lie in told.items() if name not in costly]
        honest = [pool.submit(believed, case) for case in cases]
        lies = [*costly.values(), *(found.result() for found in others), edited(base)]
        truths = [first, *(found.result()[1] for found in honest)]
    asked = {"of them asked for by the protocol": len(lies) - max(0, len(told) - ASKED_FOR)}
    return figures(lies, truths) | asked, [*lies, *truths]


def figures(lies: Sequence[Finding], truths: Sequence[Finding]) -> dict[str, float | int | str]:
    """Return how many of the lies were caught and of the truths believed."""
    return {
        "lies told": len(lies),
        "lies caught, or measured at their true cost": sum(finding.good for finding in lies),
        "honest workloads": len(truths),
        "honest workloads rejected": sum(not finding.good for finding in truths),
    }
