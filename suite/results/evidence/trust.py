"""What the trust session found: can the harness be believed? Each part of the proof in a file of its own."""

from collections import Counter
from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FOLDER = "trust"  # in the site's folder of evidence
HOLDING = "intervals that hold the truth"  # how findings begin that say how often, in the part `rounds`


class Finding(Plain, frozen=True, kw_only=True):
    """One thing that was tried: what had to happen, what did, and what saw it."""

    what: str  # such as "no block at the end of a chain"
    expected: str  # such as "invalid, or its true cost"
    found: str
    by: str = ""  # the check that caught it
    good: bool
    apart: str = ""  # what it is called where nothing had to come of it: 'not claimed', 'survived'; it is not counted

    @property
    def verdict(self) -> str:
        """What the page calls it; what is not good is a shortfall, whatever else it is."""
        return (self.apart or "as it had to be") if self.good else "shortfall"


class Part(Plain, frozen=True, kw_only=True):
    """One part of the proof."""

    schema: str = "trust/1"
    name: str
    title: str  # the question it answers
    made: str  # the date
    commit: str
    machine: str
    seconds: float
    full: bool  # False: a sample of it, as CI runs
    figures: dict[str, float | int | str]  # what the page states first: "lies caught" to "20 of 20"
    leading: str = ""  # the figure that the overview states too, where a finding stands for many
    findings: tuple[Finding, ...]

    @property
    def good(self) -> bool:
        """Whether every finding is as it had to be."""
        return all(finding.good for finding in self.findings)

    @property
    def judged(self) -> tuple[Finding, ...]:
        """The findings that could fall short: of the others nothing is claimed."""
        return tuple(finding for finding in self.findings if not (finding.good and finding.apart))

    @property
    def others(self) -> dict[str, int]:
        """How many findings are called what, of those that are not counted."""
        return dict(Counter(finding.apart for finding in self.findings if finding.good and finding.apart))


def write(part: Part, folder: Path) -> Path:
    """Write a part into the folder of evidence and return its file."""
    return json_files.write(part, folder / FOLDER / f"{part.name}.json")


def read(folder: Path) -> tuple[Part, ...]:
    """Return the parts found last, by name. Raises ValueError naming the file that is no such part."""
    return json_files.read_all(folder / FOLDER, Part, "the trust session")
