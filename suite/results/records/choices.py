"""Chosen baselines and CPU thread counts per workload and kind of machine.

Choices are made on some hosts and used on others. Choosing the fastest by the published times themselves is biased: it
takes the luckiest. `nox -s choices` rebuilds the committed table from the published records, with
`suite.results.single.choosing`.
"""

from functools import cache
from importlib.resources import files

import msgspec

from suite.case import Backend, Implementation, Layout
from suite.workload import Plain

FILE_NAME = "choices.json"


class Way(Plain, frozen=True, kw_only=True):
    """The chosen way of an implementation to run a workload's step on a kind of machine, with its source campaigns."""

    workload: str
    backend: Backend
    on: str  # kind of machine, from `kind`; '' for all kinds without a row of their own
    implementation: Implementation
    variant: str = "plain"
    layout: Layout = "channels-last"
    campaigns: tuple[str, ...] = ()  # the source of the times


class Threads(Plain, frozen=True, kw_only=True):
    """The fastest thread count of an implementation's step on a kind of CPU, if it is fewer than all cores."""

    workload: str
    on: str
    implementation: Implementation
    threads: int
    campaigns: tuple[str, ...] = ()


class Choices(Plain, frozen=True, kw_only=True):
    """All choices."""

    rule: str = ""
    baselines: tuple[Way, ...] = ()
    threads: tuple[Threads, ...] = ()

    def baseline(self, workload: str, backend: Backend, cores: int, name: str) -> Way | None:
        """Return the chosen baseline of a workload's step; None if none was timed."""
        rows = {way.on: way for way in self.baselines if (way.workload, way.backend) == (workload, backend)}
        return rows.get(kind(backend, cores, name)) or rows.get("")

    def threads_of(self, workload: str, implementation: Implementation, cores: int) -> int | None:
        """Return the thread count of the CPU step; None for all granted cores."""
        wanted = workload, implementation, kind("cpu", cores)
        rows = (row for row in self.threads if (row.workload, row.implementation, row.on) == wanted)
        return next((row.threads for row in rows), None)


def kind(backend: Backend, cores: int, name: str = "") -> str:
    """Return the kind of machine of a choice: the granted cores for a CPU, the card's name for a GPU."""
    if backend == "cpu":
        return f"{cores} core{'s' if cores != 1 else ''}"
    return name.partition(",")[0]


@cache
def choices() -> Choices:
    """Return the committed choices."""
    path = files("suite.results.records").joinpath(FILE_NAME)
    return msgspec.json.decode(path.read_bytes(), type=Choices) if path.is_file() else Choices()
