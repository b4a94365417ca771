"""Findings of the trust session: whether the harness can be trusted, one file per part."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from suite.results.evidence.evidence_file import EvidenceFile
from suite.workload import Plain

HOLDING = "intervals that hold the truth"  # prefix of the coverage findings in the part `rounds`


class Finding(Plain, frozen=True, kw_only=True):
    """One trial: what was expected, what happened, and which check caught it."""

    what: str  # such as "no block at the end of a chain"
    expected: str  # such as "invalid, or its true cost"
    found: str
    by: str = ""  # the check that caught it
    good: bool
    trials: int = 0  # random ones, which are added up over runs of the session; 0 if what is tried is always the same
    failures: int = 0  # of them
    apart: str = ""  # its label if nothing was claimed: 'not claimed', 'survived'; it is not counted

    @property
    def verdict(self) -> str:
        """Its label on the page; every failure is a shortfall."""
        return (self.apart or "passed") if self.good else "shortfall"


class Total(Plain, frozen=True, kw_only=True):
    """Random trials of one kind, added up over all runs of the session."""

    what: str  # as in their findings
    trials: int
    failures: int
    runs: int
    since: str  # the date of the first run


class Part(EvidenceFile, frozen=True, kw_only=True):
    """One part of the trust session."""

    PLACE = "trust/{name}.json"
    WRITER = "the trust session"

    schema: str = "trust/1"
    name: str
    title: str  # the question it answers
    made: str  # the date
    commit: str
    machine: str
    seconds: float
    full: bool  # False: a sample of it, as CI runs
    figures: dict[str, float | int | str]  # figures at the top of the page: "lies caught" to "20 of 20"
    leading: str = ""  # the figure that the overview repeats, if a finding stands for many
    findings: tuple[Finding, ...]
    totals: tuple[Total, ...] = ()

    @property
    def good(self) -> bool:
        """Whether every finding is good."""
        return all(finding.good for finding in self.findings)

    @property
    def judged(self) -> tuple[Finding, ...]:
        """The findings that count: something was claimed, or they failed."""
        return tuple(finding for finding in self.findings if not (finding.good and finding.apart))

    @property
    def others(self) -> dict[str, int]:
        """The number of findings that do not count, by label."""
        return dict(Counter(finding.apart for finding in self.findings if finding.good and finding.apart))


def totals(findings: Sequence[Finding], date: str, before: Part | None) -> tuple[Total, ...]:
    """Return the trials of these findings, of a run on that date, added to those of the runs before."""
    known = {total.what: total for total in before.totals} if before else {}
    added = []
    for finding in findings:
        if finding.trials:
            old = known.get(finding.what) or Total(what=finding.what, trials=0, failures=0, runs=0, since=date)
            trials, failures = old.trials + finding.trials, old.failures + finding.failures
            added.append(msgspec.structs.replace(old, trials=trials, failures=failures, runs=old.runs + 1))
    return tuple(added)
