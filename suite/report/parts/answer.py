"""A question that people ask, and its answer from the records of one machine."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from suite.report.charts.vega import Figure
from suite.report.parts.experiment_figures import figures
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.overview import first
from suite.report.parts.quoted import FEW_HOSTS, Quoted
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import once
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.table import Table

Quotable = Literal["all", "some", "none"]
_TWICE = re.compile(r"(timed on [^;]*), (\d+ are needed); timed on (\d+ hosts?), \2")


def _in_words(caveat: str) -> str:
    """Return a caveat, its hosts counted in words that no reader takes for a host's number."""
    return FEW_HOSTS.sub(r"timed on \1, \2 are needed", caveat)


def _joined(caveats: Iterable[str]) -> str:
    """Return caveats in one sentence, each reason once, which says once how many hosts are needed."""
    reasons = dict.fromkeys(reason for caveat in caveats for reason in caveat.split("; "))
    hosts_first = sorted(reasons, key=lambda reason: not FEW_HOSTS.fullmatch(reason))
    return _TWICE.sub(r"\1 or \3, \2", "; ".join(map(_in_words, hosts_first)))


def _caveat(numbers: Sequence[Quoted]) -> str:
    """Return which of these numbers may be quoted, and why the others may not, as sentences; '' if all may."""
    caveats = [number.caveat for number in numbers if number.caveat]
    if not caveats:
        return ""
    sure, other = (
        ", ".join(dict.fromkeys(str(each.words.striptags()) for each in numbers if bool(each.caveat) == doubt))
        for doubt in (False, True)
    )
    if not sure:
        return f"Not to be quoted: {_joined(caveats)}."
    return f"May be quoted: {sure}. Not {other}: {_joined(caveats)}."


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the records of one machine answer."""

    sentence: Html
    numbers: tuple[Quoted, ...]  # that it stands on: those of the sentence, or else of the condition
    more: Html | None = None  # a paragraph below the sentence
    further: tuple[Quoted, ...] = ()  # the numbers of that paragraph
    turns: Html  # the condition under which the answer turns
    draw: Callable[[], Iterable[Figure]] = tuple  # its charts
    advice: tuple[Table, ...] = ()  # tables that are the answer for each model: not folded
    tables: tuple[Table, ...] = ()
    thin: bool = False  # of too few models or settings to stand for the others

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its numbers, each once."""
        return tuple(dict.fromkeys(key for number in (*self.numbers, *self.further) for key in number.keys))

    @property
    def doubtful(self) -> frozenset[str]:
        """The keys of the numbers that may not be quoted."""
        return frozenset(key for number in (*self.numbers, *self.further) for key in number.doubtful)

    @property
    def caveat(self) -> str:
        """Which numbers of its sentence may be quoted, and why the others may not; '' if all may."""
        return _caveat(self.numbers)

    @property
    def note(self) -> str:
        """The same of all its numbers, those of the paragraph below the sentence too."""
        return _caveat((*self.numbers, *self.further))

    @property
    def quotable(self) -> Quotable:
        """How many numbers of its sentence may be quoted."""
        which = [not number.caveat for number in self.numbers]
        return "all" if all(which) else "some" if any(which) else "none"

    @property
    def text(self) -> str:
        """The sentence and its caveat as plain text."""
        return " ".join(filter(None, (str(self.sentence.striptags()), self.caveat)))


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question in the asker's words, and how one machine's evidence answers it."""

    title: str
    place: int  # in the list of questions
    also: tuple[str, ...]  # other words for it, which a search finds
    wanted: str  # what is missing while no record answers it, and how to contribute it: one sentence
    command: str  # what measures it on one's own machine
    hints: tuple[Html, ...] = ()  # what else helps to measure it, or is known of it: a paragraph each
    evidence: tuple[str, ...]  # experiments behind it
    read_next: tuple[str, ...]  # names of other questions
    answer: Callable[[Facts, Evidence], Answer | None]


def answer(question: Question, facts: Facts) -> Answer | None:
    """Return the first machine's sentence of which all numbers may be quoted, else one of which some may, else any.

    Of equals one that is not thin comes first.
    """
    known = filter(None, (question.answer(facts, facts.evidence[slug]) for slug in _order(facts)))
    return max(known, key=lambda its: (("none", "some", "all").index(its.quotable), not its.thin), default=None)


@once
def _order(facts: Facts) -> Sequence[str]:
    """Return the machines: the home page's first, then those with most speed-ups."""
    home = first(facts.speedups)
    return sorted(facts.evidence, key=lambda slug: (slug != home, -len(facts.evidence[slug].speedups), slug))


def result(facts: Facts, evidence: Evidence, experiment: str) -> ExperimentResult | None:
    """Return what an experiment says of this machine; None if nothing."""
    return facts.results[experiment].get(evidence.records[0].machine.slug)


def tables(facts: Facts, evidence: Evidence, experiment: str) -> tuple[Table, ...]:
    """Return the tables of the experiment's result on this machine; () if it has none."""
    its = result(facts, evidence, experiment)
    return its.tables if its else ()


def shown(facts: Facts, evidence: Evidence, experiment: str, title: str, chart: str = "") -> tuple[Figure, ...]:
    """Return the experiment's first chart or that of this name, under a title; () if this machine has none."""
    its, slug = result(facts, evidence, experiment), evidence.records[0].machine.slug
    name = f"experiments.{experiment}.{slug}" + (f".{chart}" if chart else "")
    drawn = figures(experiment, slug, its, facts.titles) if its else ()
    return tuple(replace(each, title=title) for each in drawn if each.name.removesuffix(".narrow") == name)
