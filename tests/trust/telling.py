"""Lies and truths through the real runner, on one backend: what each was found to be, told as soon as it is known."""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import msgspec

from suite import models
from suite.case import Backend, Case
from suite.driver import campaign, runner
from suite.driver.journal import Journal
from suite.processes import children
from suite.results.evidence.trust import Finding
from suite.results.records.record import Record
from suite.results.single.summary import Summary, step_seconds, summary
from suite.system.machine import machine
from suite.variants import VARIANTS
from trust.lies import TRUE_COST, Lie

BASE = "mnist_mlp"  # the honest network of most lies
_SMALL_BATCH = 8  # of a network whose example is much work
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


@dataclass(frozen=True, kw_only=True)
class Session:
    """Tells lies and truths on a backend, and says each outcome on standard error; nothing begins after its limit."""

    backend: Backend
    cache: Path | None = None  # of compiled programs, as a campaign on a GPU has one
    limit_seconds: float = inf
    longest_seconds: float = inf  # of one process; then it is killed
    began: float = field(default_factory=time.monotonic)

    def caught(self, name: str, lie: Lie, honest_seconds: float = 0.0) -> Finding:
        """Return what became of a lie; `honest_seconds` is the true cost of its step."""
        check = lie.checks[self.backend]
        costly = check == TRUE_COST
        expected = "invalid, or its true cost" if costly else f"invalid, by the check '{check}'"
        case = honest_case(lie.workload, backend=lie.passed_as or self.backend)
        case = msgspec.structs.replace(case, scope=lie.scope)

        def told() -> Finding:
            record = self._measured(case, name)
            found = summary(record)
            names, seconds = checks_of(found), step_seconds(record.runs[0]) or 0.0
            words = ": ".join([found.state, "; ".join(found.reasons)])[:300]
            if not costly:
                return Finding(what=lie.what, expected=expected, found=words, by=", ".join(names), good=check in names)
            share = seconds / honest_seconds if honest_seconds else 0.0
            by, good = ", ".join(names) or "the clock", bool(names) or share >= _TRUE_COST_SHARE
            return Finding(
                what=lie.what,
                expected=expected,
                found=f"{found.state}; {share:.2f} of the honest time",
                by=by,
                good=good,
            )

        return self._attempted(lie.what, expected, told)

    def believed(self, case: Case) -> tuple[Record | None, Finding]:
        """Return an honest record, None if there is none, and whether every check let it pass."""
        kept: list[Record] = []

        def told() -> Finding:
            kept.append(self._measured(case, ""))
            found = summary(kept[0])
            words = ": ".join([found.state, "; ".join(found.reasons)])[:300]
            by = ", ".join(checks_of(found))
            return Finding(what=what, expected=expected, found=words, by=by, good=found.complete)

        what, expected = f"honest: {case.workload}, {case.variant}, batch {case.batch}", "no check rejects it"
        finding = self._attempted(what, expected, told)
        return next(iter(kept), None), finding

    def _attempted(self, what: str, expected: str, told: Callable[[], Finding]) -> Finding:
        """Return the finding; one that says why there is none if it was too late or something broke."""
        began = time.monotonic()
        try:
            if began - self.began > self.limit_seconds:
                raise TimeoutError(f"{self.limit_seconds:.0f} s were over before it began")
            finding = told()
        except Exception as error:  # one lie must not cost the others
            finding = Finding(what=what, expected=expected, found=f"{type(error).__name__}: {error}"[:300], good=False)
        now = time.monotonic()
        word = f"caught by {finding.by}" if finding.by and finding.good else finding.found
        said = f"{'as it had to be' if finding.good else 'NOT AS EXPECTED'}: {what}: {word}"
        print(f"{now - self.began:5.0f} s, {now - began:4.1f} s: {said}", file=sys.stderr, flush=True)
        return finding

    def _measured(self, case: Case, lie: str) -> Record:
        """Return the record of a campaign of one process that tells a lie, or none: ''."""
        about = models.load(case.workload).description
        plan = campaign.planned([case], [about], "smoke", machine(), datetime.now(UTC))
        cache = None if case.scope == "cold" else self.cache

        @contextmanager
        def start(unit: Sequence[Case]) -> Iterator[children.Child]:
            env = children.environment(self.backend, unit[0].allocator, cache)
            with (
                children.child("trust.lying_worker", lie, python=sys.executable, env=env) as child,
                _killed_after(self.longest_seconds, child.pid),
            ):
                yield child

        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "journal.jsonl")
            journal.append(plan)
            runner.run(plan, journal, Quiet(), start)
            (record,) = campaign.records(plan, journal.done())
        return record


@contextmanager
def _killed_after(seconds: float, group: int) -> Iterator[None]:
    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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


def costly(
    session: Session, told: Mapping[str, Lie], base: str = BASE
) -> tuple[list[Finding], list[Finding], Record | None]:
    """Tell the truth about `base`, then the lies that must cost as much as the truth, each network after its truth.

    Return what became of the lies and of the truths, and the honest record of `base`, None if there is none.
    """
    lies, truths, records = [], [], {}
    for network in dict.fromkeys([base, *(lie.workload for lie in told.values())]):
        case = honest_case(network, backend=session.backend)
        records[network], finding = session.believed(case)
        truths.append(finding)
        seconds = _seconds(records[network])
        for name, lie in told.items():
            if lie.workload != network:
                continue
            finding = session.caught(name, lie, seconds)
            if not finding.good:  # other work may have slowed the truth but not the lie
                seconds = min(seconds, _seconds(session.believed(case)[0]) or seconds)
                finding = session.caught(name, lie, seconds)
            lies.append(finding)
    return lies, truths, records[base]


def _seconds(record: Record | None) -> float:
    return (step_seconds(record.runs[0]) if record else None) or 0.0


def figures(lies: Sequence[Finding], truths: Sequence[Finding]) -> dict[str, float | int | str]:
    """Return how many of the lies were caught and of the truths believed."""
    return {
        "lies told": len(lies),
        "lies caught, or measured at their true cost": sum(finding.good for finding in lies),
        "honest workloads": len(truths),
        "honest workloads rejected": sum(not finding.good for finding in truths),
    }
