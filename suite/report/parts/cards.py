"""Speed-ups of one model: a step, from storage, the first step with compiling, and in lower precision."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from suite import units
from suite.report.parts import rungs
from suite.results.cite import citation
from suite.results.cite.pooled_numbers import speedup_key
from suite.results.pooled.speedup import PooledSpeedUp

_WORDS = {  # by the name of the amount of work
    rungs.STEP: "one step",
    "from storage": "a step read from storage",
    "cold start": "the first step, compiling included",
}
_TF32 = "one step in TF32 on the GPU; the CPU stays in float32"


@dataclass(frozen=True, kw_only=True)
class Card:
    """One number with its interval, '' if there is none; and why it may not be quoted, '' if it may.

    `row` is the address of its row on the page of numbers, below the site's; '' if it is not published.
    """

    what: str
    value: str
    interval: str
    caveat: str
    row: str


@dataclass(frozen=True, kw_only=True)
class Cards:
    """The numbers of one model that are known."""

    workload: str
    title: str
    batch: int
    cards: Sequence[Card]


def cards(speedups: Iterable[PooledSpeedUp], local: Set[str] = frozenset()) -> Cards | None:
    """Return the numbers of one machine's network that has most of them; None if none has two.

    One whose first number may be quoted comes before others. The records of `local` campaigns are not published.
    """
    by_workload: dict[str, list[PooledSpeedUp]] = {}
    for item in speedups:
        if item.record.description.is_network:
            by_workload.setdefault(item.workload, []).append(item)
    known = [_of_model(items, local) for _, items in sorted(by_workload.items())]
    filled = (each for each in known if len(each.cards) > 1)
    return max(filled, key=lambda each: (not each.cards[0].caveat, len(each.cards)), default=None)


def _of_model(items: Sequence[PooledSpeedUp], local: Set[str]) -> Cards:
    about = items[0].record.description
    return Cards(workload=about.name, title=about.title, batch=about.batch, cards=list(_cards(items, local)))


def _cards(items: Sequence[PooledSpeedUp], local: Set[str]) -> Iterator[Card]:
    amounts = rungs.rungs(items)
    by_name, step = {rung.name: item for rung in amounts for item in rung.by_workload.values()}, rungs.step(amounts)
    tf32 = (item for item in items if item.case.precision == "tf32" and item.record.headline_step("precision"))
    known = [(words, by_name[name]) for name, words in _WORDS.items() if name in by_name]
    for words, item in (*known, *((_TF32, item) for item in list(tf32)[:1])):
        row = "" if item.record.campaign in local else citation.row(speedup_key(item), item.workload)
        yield _card(words, item, step is not None and bool(rungs.elsewhere([item], step)), row)


def _card(what: str, item: PooledSpeedUp, elsewhere: bool, row: str) -> Card:
    ratio = item.ratio
    return Card(
        what=what + (", on other hosts" if elsewhere else ""),
        value=units.ratio(ratio.value, ratio.low, ratio.high),
        interval="" if ratio.low is None else units.interval(ratio.low, ratio.high),
        caveat="" if item.quotable else item.reasons[0],
        row=row,
    )
