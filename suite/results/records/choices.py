"""Which baseline a workload is compared with, and with how many threads a CPU takes its step: chosen once, then kept.

A choice is made on some hosts and used on others. Where the fastest of several ways is picked from the very times that
are published, the pick flatters: it takes the luckiest. The table is committed; `nox -s choices` makes it anew from the
published records, by `suite.results.single.choosing`.
"""

from functools import cache
from importlib.resources import files

import msgspec

from suite.case import Backend, Implementation, Layout
from suite.workload import Plain

FILE_NAME = "choices.json"


class Way(Plain, frozen=True, kw_only=True):
    """How an implementation takes a workload's step on a backend of one kind of machine, and who says so."""

    workload: str
    backend: Backend
    on: str  # kind of machine, as `kind` says it; '' for all that have no row of their own
    implementation: Implementation
    variant: str = "plain"
    layout: Layout = "channels-last"
    campaigns: tuple[str, ...] = ()  # whose times it was chosen from


class Threads(Plain, frozen=True, kw_only=True):
    """How many threads serve an implementation's step best on the CPU of one kind of machine; fewer than all cores."""

    workload: str
    on: str
    implementation: Implementation
    threads: int
    campaigns: tuple[str, ...] = ()


class Choices(Plain, frozen=True, kw_only=True):
    """All that was chosen."""

    rule: str = ""
    baselines: tuple[Way, ...] = ()
    threads: tuple[Threads, ...] = ()

    def baseline(self, workload: str, backend: Backend, cores: int, name: str) -> Way | None:
        """Return the baseline that a workload's step is compared with; None if none was ever timed."""
        rows = {way.on: way for way in self.baselines if (way.workload, way.backend) == (workload, backend)}
        return rows.get(kind(backend, cores, name)) or rows.get("")

    def threads_of(self, workload: str, implementation: Implementation, cores: int) -> int | None:
        """Return how many threads the CPU side has; None: all granted cores."""
        wanted = workload, implementation, kind("cpu", cores)
        found = (row for row in self.threads if (row.workload, row.implementation, row.on) == wanted)
        return next((row.threads for row in found), None)


def kind(backend: Backend, cores: int, name: str = "") -> str:
    """Return what a choice holds for: on the CPU the granted cores, on the GPU its name, as a machine's begins."""
    if backend == "cpu":
        return f"{cores} core{'s' if cores != 1 else ''}"
    return name.partition(",")[0]


@cache
def choices() -> Choices:
    """Return the committed choices."""
    path = files("suite.results.records").joinpath(FILE_NAME)
    return msgspec.json.decode(path.read_bytes(), type=Choices) if path.is_file() else Choices()
