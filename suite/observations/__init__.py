"""What the articles observed, and whether the records bear it out: a file for each subject, found by being there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from suite import plugins
from suite.inquiry.steps import caveat
from suite.results.campaigns import several
from suite.results.record import Record
from suite.results.speedup import Result, record_of

Verdict = Literal["reproduced", "refuted", "not comparable", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "refuted", "not comparable", "not run")


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict, and what was found in a sentence."""

    verdict: Verdict
    found: str = ""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One thing that an article says; `judge` is given the records of one machine."""

    code: str
    article: str  # its title
    said: str  # in this project's words
    rule: str  # when it counts as reproduced, and when as refuted
    experiment: str = ""  # that measures it; '' where the ordinary records do, or nothing does yet
    numbers: tuple[tuple[str, str], ...] = ()  # documented ones that it stands beside: workload and metric of a claim
    judge: Callable[[Sequence[Record]], Judgement]


NOT_RUN = Judgement(verdict="not run")


def unmeasured(missing: str, found: str = "") -> Judgement:
    """Return that nothing can be judged yet: what was found so far, and what is missing."""
    return Judgement(verdict="not run", found=f"{found} Not measured: {missing}.".lstrip())


def judgement(verdict: Verdict, found: str, items: Iterable[Result]) -> Judgement:
    """Return a judgement by these results; what was found says if they are of several campaigns, or not all steady."""
    counted = list(items)
    return Judgement(verdict=verdict, found=found + campaigns_of(counted) + caveat(counted))


def campaigns_of(items: Iterable[Result]) -> str:
    """Return a sentence on the campaigns that these results are of; nothing if it is one."""
    span = several(map(record_of, items))
    return f" The results are {span}." if span else ""


def either(reproduced: bool, refuted: bool, found: str, items: Iterable[Result]) -> Judgement:
    """Return which of the two it is by these results; 'not comparable' where they do not separate them."""
    return judgement("reproduced" if reproduced else "refuted" if refuted else "not comparable", found, items)


def observations() -> tuple[Observation, ...]:
    """Return all of them, in the order of their numbers."""
    found: list[Observation] = []
    there = plugins.names(__path__)
    for name in there:
        found += plugins.module(__name__, name, there, "subject").OBSERVATIONS
    return tuple(sorted(found, key=lambda each: int(each.code.removeprefix("O"))))
