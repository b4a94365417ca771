"""The schema of a record: one case in one campaign, with raw samples and provenance."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import msgspec

from suite.case import Case, Implementation, axes
from suite.results.records.choices import choices
from suite.results.records.machine import Machine, Software
from suite.results.records.run import Count, Run
from suite.scopes import SCOPES
from suite.workload import Description, Plain

Schema = Literal["result/0", "result/1", "result/2"]  # all stay readable
SCHEMA: Schema = "result/2"  # written now: result/1 with host, program, method and kind of CPU
STABLE: frozenset[Schema] = frozenset({"result/1", "result/2"})  # result/0 was provisional: not citable
RECORDS_PAGE = "records.html"  # of the site
_DIGEST = b'"digest": "%s"'  # as in the canonical JSON
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
Profile = Literal["smoke", "quick", "standard"]


class Record(Plain, frozen=True, kw_only=True, dict=True):
    """One case in one campaign. Written once, never edited; `digest` covers all other bytes."""

    schema: Schema
    campaign: str
    created: str  # UTC, ISO 8601, whole seconds
    profile: Profile
    workload: str
    backend: str
    case: Case
    machine: Machine
    software: Software
    commit: str  # of the suite; '+changed' appended if the checkout was dirty; '' without a checkout
    method: Count = 0  # of timing, see suite.scopes; 0: before methods were numbered
    description: Description
    runs: tuple[Run, ...]
    rounds: int  # planned
    reason: str = ""  # why there are no or too few runs
    experiment: str = ""  # that requested it
    implementations: tuple[Implementation, ...] = ()  # that can run this workload on this backend at this precision
    digest: str = ""

    @cached_property
    def name(self) -> str:
        """The file name without its ending: the case's text form, safe in paths and addresses."""
        return file_name(self.case, self.description.batch)

    @cached_property
    def machine_and_case(self) -> tuple[str, str]:
        """The key within which one record is current; random and stand-in content share a key."""
        return self.machine.slug, file_name(self.case.timed, self.description.batch)

    @property
    def address(self) -> str:
        """The address, below the site's, of the page that shows it from its campaign's pack."""
        return f"{RECORDS_PAGE}?{quote(self.name)}#{quote(self.campaign)}"

    @property
    def label(self) -> str:
        """A short name of the case, without its workload."""
        return self.case.label(self.description)

    @property
    def host(self) -> str:
        """The host of all successful runs; '' if it is unknown or not the same for all."""
        return _shared(run.host for run in self.runs if not run.reason)

    @property
    def program(self) -> str:
        """The program of all successful runs; '' if it is unknown or not the same for all."""
        return _shared(run.program for run in self.runs if not run.reason)

    @property
    def general(self) -> bool:
        """Whether it belongs to the headline results. An experiment's record does if its case is the default one."""
        return not self.experiment or self.usual()

    @property
    def cut_short(self) -> bool:
        """Whether it is a whole run shortened by profile smoke."""
        return self.case.scope == "run" and self.profile == "smoke"

    def usual(self, *free: str) -> bool:
        """Return whether the batch and every axis except the free ones have their default value.

        Data and allocator are always free, since the machine or the data decides them. So is a chosen thread count.
        """
        return self._unusual <= {*free, "data", "allocator"}

    @property
    def usual_data(self) -> bool:
        """Whether its data is the workload's usual one; results of the headline read no other."""
        usual = msgspec.structs.replace(self.case, data=self.description.data)
        return self.case.timed.data == usual.timed.data

    @property
    def data_words(self) -> str:
        """The data that a run or an epoch read, for the end of a phrase; '' if its content does not matter."""
        read = self.description.stored and (SCOPES[self.case.scope].reads_storage or self.case.scope == "run")
        return {"embedded": "on the stand-in", "tfds": "on the real data"}.get(self.case.data, "") if read else ""

    @cached_property
    def _unusual(self) -> frozenset[str]:
        """The axes that do not have their default value, of which the batch is the documented one."""
        plain = axes() | {
            "batch": self.description.batch,
            "threads": self.case.threads if self.chosen_threads else None,
        }
        return frozenset(name for name, value in plain.items() if getattr(self.case, name) != value)

    @property
    def chosen_threads(self) -> bool:
        """Whether its CPU thread count is the chosen one, fewer than all cores."""
        case = self.case
        if case.backend != "cpu" or case.threads is None:
            return False
        return case.threads == choices().threads_of(case.workload, case.implementation, self.machine.cores)

    @property
    def compared_as(self) -> Case:
        """The case under which its time is compared: without the allocator axis and chosen threads."""
        case = self.case.ignoring_allocator
        return msgspec.structs.replace(case, threads=None) if self.chosen_threads else case

    def headline_step(self, *free: str) -> bool:
        """Return whether it is a step in the headline setting, whatever the free axes are."""
        return self.case.scope == "step" and self.usual(*free)

    @property
    def is_partial(self) -> bool:
        """Whether planned rounds were not run, such as after a lost machine. A failed round counts as run."""
        return not self.reason and len(self.runs) < self.rounds

    @property
    def sort_key(self) -> tuple[bool, bool, bool, str]:
        """The order by age. Smoke, partial and one-process records come first and so replace no others.

        One process gives no interval.
        """
        alone = len(self.runs) == 1 and not self.reason
        return self.profile != "smoke", not self.is_partial, not alone, self.created

    @property
    def current_key(self) -> tuple[bool, bool, bool, bool, str]:
        """The order among records of one key; the last is current.

        Records of experiments come first in scopes with baselines, since they have none.
        """
        measured, ended, several, created = self.sort_key
        return measured, ended, several, not self.experiment or not SCOPES[self.case.scope].has_baselines, created


def _shared(values: Iterable[str]) -> str:
    unique = set(values)
    return unique.pop() if len(unique) == 1 else ""


_Subject = TypeVar("_Subject")
_T = TypeVar("_T")


def once(function: Callable[[_Subject], _T]) -> Callable[[_Subject], _T]:
    """Return the function with its value cached on each record, or on the facts of all.

    A cache by value would hash every sample of a record.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(subject: _Subject) -> _T:
        kept = vars(subject)
        if name not in kept:
            kept[name] = function(subject)
        return kept[name]

    return known


def plain_name(name: str) -> bool:
    """Return whether a name may become a file name and an address."""
    return bool(_PLAIN_NAME.fullmatch(name)) and ".." not in name


def file_name(case: Case, headline_batch: int) -> str:
    """Return a record's file name without ending."""
    return case.text(headline_batch).replace("/", ".").replace("=", "-")


def to_json(record: Record | Any) -> bytes:
    """Return the canonical JSON: schema order, indented by one space, with a final newline."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def digest(content: bytes, stated: str = "") -> str:
    """Return the sha256 (hex) of a record's file with its stated digest blanked.

    It covers the bytes, so records stay valid if the schema gains a field.
    """
    return hashlib.sha256(content.replace(_DIGEST % stated.encode(), _DIGEST % b"")).hexdigest()


def sealed(record: Record) -> Record:
    """Return the record with its digest filled in."""
    return msgspec.structs.replace(record, digest=digest(to_json(msgspec.structs.replace(record, digest=""))))
