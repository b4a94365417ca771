"""The articles' observations and verdicts on them, one file per subject."""

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
    """One part of an observation, and whether it holds; None, with the reason, if it cannot be judged."""

    says: str  # a clause; '' if the observation has one part
    holds: bool | None
    why: str = ""
    by_others: bool = False  # judged by other networks, since the article's own cannot


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict, with the finding in a sentence."""

    verdict: Verdict
    found: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every part was judged."""
        return all(part.holds is not None for part in self.parts)

    @property
    def by_own(self) -> bool:
        """Whether the article's own networks sufficed."""
        return not any(part.by_others for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One observation of an article; `judge` takes the evidence of one machine."""

    code: str
    article: str  # its title
    said: str  # in this project's words
    rule: str  # when each part holds, and when it fails
    experiment: str = ""  # that measures it; '' if ordinary records do, or none yet
    testable: bool = True  # False if no measurement can decide it
    numbers: tuple[tuple[str, str], ...] = ()  # its documented numbers: workload and metric of a claim
    judge: Callable[[Evidence], Judgement]


NOT_RUN = Judgement(verdict="not run")


def unmeasured(missing: str, finding: str = "") -> Judgement:
    """Return the judgement if something is not measured yet, with the finding so far."""
    return Judgement(verdict="not run", found=f"{finding} Not measured: {missing}.".lstrip())


def _campaigns(items: Iterable[Summary]) -> str:
    """Return a sentence on the campaigns of these results; '' for one campaign."""
    span = several_campaigns(item.record for item in items)
    return f" The results are {span}." if span else ""


def part(says: str, holds: bool, fails: bool, items: Sequence[Summary] = (), why: str = _NOT_SEPARATED) -> Part:
    """Return whether a part holds by these results; None if they are unsteady, or it neither holds nor fails."""
    if not steady(*items):
        return unjudged(says, "not all of its results are steady")
    return Part(says=says, holds=True if holds else False if fails else None, why="" if holds or fails else why)


def unjudged(says: str, why: str) -> Part:
    """Return a part that cannot be judged, with the reason."""
    return Part(says=says, holds=None, why=why)


def judged(
    finding: str, parts: Sequence[Part], items: Iterable[Summary] = (), speedups: Iterable[PooledSpeedUp] = ()
) -> Judgement:
    """Return the verdict on these parts, with the finding and which parts hold.

    The finding also says which speed-ups may be quoted, and whether results are of several campaigns or unsteady.
    """
    counted = list(items)
    text = f"{finding}{_sentences(parts)}{said_of(speedups)}{_campaigns(counted)}{caveat(counted)}"
    return Judgement(verdict=_verdict({each.holds for each in parts}), found=text, parts=tuple(parts))


def _verdict(held: Set[bool | None]) -> Verdict:
    if held == {True}:
        return "reproduced"
    return "in part" if True in held else "refuted" if False in held else "not comparable"


def _sentences(parts: Sequence[Part]) -> str:
    """Return which parts hold, fail or cannot be judged; '' for a single judged part."""
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
    """Return all observations, sorted by number."""
    entries: list[Observation] = []
    names = discovery.names(__path__)
    for name in names:
        entries += discovery.module(__name__, name, names, "subject").OBSERVATIONS
    return tuple(sorted(entries, key=lambda each: int(each.code.removeprefix("O"))))
