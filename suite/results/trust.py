"""What the trust session found: can the harness be believed? Each part of the proof in a file of its own."""

from pathlib import Path

import msgspec

from suite.workload import Plain

FOLDER = "trust"  # in the site's folder of evidence


class Finding(Plain, frozen=True, kw_only=True):
    """One thing that was tried: what had to happen, what did, and what saw it."""

    what: str  # such as "no block at the end of a chain"
    expected: str  # such as "invalid, or its true cost"
    found: str
    by: str = ""  # the check that caught it
    good: bool


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
    findings: tuple[Finding, ...]

    @property
    def good(self) -> bool:
        """Whether every finding is as it had to be."""
        return all(finding.good for finding in self.findings)


def write(part: Part, folder: Path) -> Path:
    """Write a part into the folder of evidence and return its file."""
    file = folder / FOLDER / f"{part.name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(part), indent=1) + b"\n")
    return file


def read(folder: Path) -> tuple[Part, ...]:
    """Return the parts found last, by name.

    Raises ValueError naming the file that is no such part.
    """
    found = []
    for file in sorted((folder / FOLDER).glob("*.json")):
        try:
            found.append(msgspec.json.decode(file.read_bytes(), type=Part))
        except msgspec.DecodeError as error:
            raise ValueError(f"'{file}' is not what the trust session writes: {error}") from error
    return tuple(found)
