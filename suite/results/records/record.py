"""The schema of a record: one case in one campaign, with every raw sample and where it came from."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar

import msgspec

from suite.case import Case, Implementation, axes
from suite.results.records.choices import choices
from suite.results.records.machine import Machine, Software
from suite.results.records.run import Count, Run
from suite.scopes import SCOPES
from suite.workload import Description, Plain

Schema = Literal["result/0", "result/1", "result/2"]  # all are read for ever
SCHEMA: Schema = "result/2"  # what is written now: result/1 with host, program, method and kind of CPU
STABLE: frozenset[Schema] = frozenset({"result/1", "result/2"})  # result/0 was provisional: not citable
METHOD = 1  # raised by hand when the way of timing changes; times of different methods are never pooled
_DIGEST = b'"digest": "%s"'  # as it stands in the canonical JSON
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
Profile = Literal["smoke", "quick", "standard"]


class Record(Plain, frozen=True, kw_only=True, dict=True):
    """One case in one campaign. Written once, never edited; `digest` is over everything else."""

    schema: Schema
    campaign: str
    created: str  # UTC, ISO 8601, whole seconds
    profile: Profile
    workload: str
    backend: str
    case: Case
    machine: Machine
    software: Software
    commit: str  # of the suite; '+changed' appended when the checkout was not clean; '' outside one
    method: Count = 0  # of timing, see METHOD; 0: before it was numbered
    description: Description
    runs: tuple[Run, ...]
    rounds: int  # planned
    reason: str = ""  # why there are no or too few runs
    experiment: str = ""  # that asked for it
    implementations: tuple[Implementation, ...] = ()  # that ran this workload on this backend at this precision
    digest: str = ""

    @cached_property
    def name(self) -> str:
        """File name without ending: the case's written form, safe in paths and addresses."""
        return file_name(self.case, self.description.batch)

    @cached_property
    def machine_and_case(self) -> tuple[str, str]:
        """Machine and case among records of which one is current: random content and a stand-in have one row."""
        return self.machine.slug, file_name(self.case.timed, self.description.batch)

    @property
    def label(self) -> str:
        """A short name of its case, its workload left out."""
        return self.case.label(self.description)

    @property
    def host(self) -> str:
        """The one host of all its runs that ended well; '' if it is unknown, or if they had several."""
        return _shared(run.host for run in self.runs if not run.reason)

    @property
    def program(self) -> str:
        """The one program of all its runs that ended well; '' if it is unknown, or if they had several."""
        return _shared(run.program for run in self.runs if not run.reason)

    @property
    def general(self) -> bool:
        """Whether it stands among the headline's: an experiment's does where it was measured as if nobody had asked."""
        return not self.experiment or self.usual()

    @property
    def cut_short(self) -> bool:
        """Whether it is of a whole run that is not the documented one, as profile smoke takes a few examples of it."""
        return self.case.scope == "run" and self.profile == "smoke"

    def usual(self, *free: str) -> bool:
        """Return whether all is as if nobody had asked: the headline's batch, each axis at its default but free ones.

        Data and allocator are always free: a machine or its data decide on them. So do the threads that were chosen for
        this implementation's step on such a CPU.
        """
        plain = axes() | {
            "batch": self.description.batch,
            "threads": self.case.threads if self.chosen_threads else None,
        }
        return all(getattr(self.case, name) == plain[name] for name in plain.keys() - {*free, "data", "allocator"})

    @property
    def chosen_threads(self) -> bool:
        """Whether its CPU has the threads that were chosen for such a step, fewer than all cores."""
        case = self.case
        if case.backend != "cpu" or case.threads is None:
            return False
        return case.threads == choices().threads_of(case.workload, case.implementation, self.machine.cores)

    @property
    def compared_as(self) -> Case:
        """The case that its time counts for: either allocator, of which the better one does, and chosen threads."""
        case = self.case.ignoring_allocator
        return msgspec.structs.replace(case, threads=None) if self.chosen_threads else case

    def headline_step(self, *free: str) -> bool:
        """Return whether it is of JAX's step in the headline setting, whatever the free axes are."""
        return self.case.scope == "step" and self.usual(*free)

    @property
    def is_partial(self) -> bool:
        """Whether rounds were never tried, as where a machine was lost; one that failed is a finding instead."""
        return not self.reason and len(self.runs) < self.rounds

    @property
    def sort_key(self) -> tuple[bool, bool, bool, str]:
        """Orders records by age, but smoke only shows that it runs, and what was broken off replaces nothing whole.

        One process alone has no interval, so it replaces no record of several.
        """
        alone = len(self.runs) == 1 and not self.reason
        return self.profile != "smoke", not self.is_partial, not alone, self.created

    @property
    def current_key(self) -> tuple[bool, bool, bool, bool, str]:
        """Orders the records of a place, whose last one is current: by age, but an experiment's has no baselines.

        Of a scope that no baseline has, by age alone.
        """
        measured, ended, several, created = self.sort_key
        return measured, ended, several, not self.experiment or not SCOPES[self.case.scope].has_baselines, created


def _shared(values: Iterable[str]) -> str:
    found = set(values)
    return found.pop() if len(found) == 1 else ""


_T = TypeVar("_T")


def once(function: Callable[[Record], _T]) -> Callable[[Record], _T]:
    """Return the function so that it computes its value once a record, which keeps the value as long as it lives.

    A cache by value would hash every sample of a record to find it.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(record: Record) -> _T:
        kept = vars(record)
        if name not in kept:
            kept[name] = function(record)
        return kept[name]

    return known


def plain_name(name: str) -> bool:
    """Return whether a name may become a file name and an address."""
    return bool(_PLAIN_NAME.fullmatch(name)) and ".." not in name


def file_name(case: Case, headline_batch: int) -> str:
    """Return a record's file name without ending."""
    return case.text(headline_batch).replace("/", ".").replace("=", "-")


def to_json(record: Record | Any) -> bytes:
    """Return the canonical JSON: schema order, indented by one space, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def digest(content: bytes, stated: str = "") -> str:
    """Return the sha256 of a record's file in which the digest that it states is blank.

    It is taken of the bytes, so that records stay valid when the schema gains a field.
    """
    return hashlib.sha256(content.replace(_DIGEST % stated.encode(), _DIGEST % b"")).hexdigest()


def sealed(record: Record) -> Record:
    """Return the record with its digest filled in."""
    return msgspec.structs.replace(record, digest=digest(to_json(msgspec.structs.replace(record, digest=""))))
