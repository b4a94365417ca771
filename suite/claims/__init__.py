"""What the articles observed, and whether the records bear it out: a file for each subject, found by being there."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from suite import discovery
from suite.analysis.steps import caveat, said_of, steady
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.selection import several_campaigns
from suite.results.single.summary import Summary

Verdict = Literal["reproduced", "in part", "refuted", "not comparable", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "in part", "refuted", "not comparable", "not run")
_BY_OTHERS = " Other networks than the article's decide."
_NOT_SEPARATED = "the interval holds the bound"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing that an observation says, and whether it holds; None with the reason why that cannot be judged."""

    says: str  # a clause; '' where the observation says one thing alone
    holds: bool | None
    why: str = ""
    by_others: bool = False  # by other networks than the article's own, which cannot


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict, and what was found in a sentence."""

    verdict: Verdict
    found: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every part was judged."""
        return all(part.holds is not None for part in self.parts)

    @property
    def by_own(self) -> bool:
        """Whether no other networks than the article's own were needed."""
        return not any(part.by_others for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One thing that an article says; `judge` is given what is known of one machine."""

    code: str
    article: str  # its title
    said: str  # in this project's words
    rule: str  # when each of its parts holds, and when not
    experiment: str = ""  # that measures it; '' where the ordinary records do, or nothing does yet
    testable: bool = True  # False where no measurement can decide it
    numbers: tuple[tuple[str, str], ...] = ()  # documented ones that it stands beside: workload and metric of a claim
    judge: Callable[[Evidence], Judgement]


NOT_RUN = Judgement(verdict="not run")


def unmeasured(missing: str, found: str = "") -> Judgement:
    """Return that nothing can be judged yet: what was found so far, and what is missing."""
    return Judgement(verdict="not run", found=f"{found} Not measured: {missing}.".lstrip())


def _campaigns(items: Iterable[Summary]) -> str:
    """Return a sentence on the campaigns that these results are of; nothing if it is one."""
    span = several_campaigns(item.record for item in items)
    return f" The results are {span}." if span else ""


def part(says: str, holds: bool, fails: bool, items: Sequence[Summary] = (), why: str = _NOT_SEPARATED) -> Part:
    """Return whether a part holds by these results; unsteady ones decide nothing, nor does what is neither."""
    if not steady(*items):
        return unjudged(says, "not all of its results are steady")
    return Part(says=says, holds=True if holds else False if fails else None, why="" if holds or fails else why)


def unjudged(says: str, why: str) -> Part:
    """Return a part that cannot be judged, and why."""
    return Part(says=says, holds=None, why=why)


def judged(
    found: str, parts: Sequence[Part], items: Iterable[Summary] = (), speedups: Iterable[PooledSpeedUp] = ()
) -> Judgement:
    """Return the verdict on these parts, with what was found and which of them hold.

    What was found says which of the speed-ups may be quoted, and if results are of several campaigns or not all steady.
    """
    counted = list(items)
    said = f"{found}{_sentences(parts)}{said_of(speedups)}{_campaigns(counted)}{caveat(counted)}"
    return Judgement(verdict=_verdict({each.holds for each in parts}), found=said, parts=tuple(parts))


def _verdict(held: Set[bool | None]) -> Verdict:
    if held == {True}:
        return "reproduced"
    return "in part" if True in held else "refuted" if False in held else "not comparable"


def _sentences(parts: Sequence[Part]) -> str:
    """Return which parts hold, which do not and which cannot be judged; nothing of a single one that was judged."""
    if len(parts) == 1 and parts[0].holds is not None:
        return _BY_OTHERS if parts[0].by_others else ""
    held, failed = ([_clause(each) for each in parts if each.holds is state] for state in (True, False))
    left = [", as ".join(filter(None, (each.says, each.why))) for each in parts if each.holds is None]
    if len(parts) == 1:
        return f" Cannot be judged, as {parts[0].why}." if not parts[0].says else f" Cannot be judged: {left[0]}."
    named = (("Holds", held), ("Does not hold", failed), ("Cannot be judged", left))
    return "".join(f" {word}: {'; '.join(says)}." for word, says in named if says)


def _clause(each: Part) -> str:
    return f"{each.says}, by other networks than the article's" if each.by_others else each.says


def observations() -> tuple[Observation, ...]:
    """Return all of them, in the order of their numbers."""
    found: list[Observation] = []
    there = discovery.names(__path__)
    for name in there:
        found += discovery.module(__name__, name, there, "subject").OBSERVATIONS
    return tuple(sorted(found, key=lambda each: int(each.code.removeprefix("O"))))
