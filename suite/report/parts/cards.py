"""Four speed-ups of one familiar model: a step, from storage, the first step with compiling, and in lower precision."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from suite import units
from suite.results.pooled.speedup import PooledSpeedUp
from suite.scopes import Scope

FAMILIAR = "residual"  # the family of networks that most readers know


@dataclass(frozen=True, kw_only=True)
class Card:
    """One number with its interval, '' if there is none; and why it may not be quoted, '' if it may."""

    what: str
    value: str
    interval: str
    caveat: str


@dataclass(frozen=True, kw_only=True)
class Cards:
    """The numbers of one model that are known."""

    workload: str
    title: str
    batch: int
    cards: Sequence[Card]


def cards(speedups: Iterable[PooledSpeedUp]) -> Cards | None:
    """Return the numbers of one machine's residual network that has most of them; None without one."""
    by_workload: dict[str, list[PooledSpeedUp]] = {}
    for item in speedups:
        if item.record.description.family == FAMILIAR and item.general:
            by_workload.setdefault(item.workload, []).append(item)
    known = [_of_model(items) for _, items in sorted(by_workload.items())]
    return max(known, key=lambda each: len(each.cards), default=None)


def _of_model(items: Sequence[PooledSpeedUp]) -> Cards:
    numbers = ((what, next(filter(fits, items), None)) for what, fits in _CARDS)
    about = items[0].record.description
    shown = [_card(what, item) for what, item in numbers if item is not None]
    return Cards(workload=about.name, title=about.title, batch=about.batch, cards=shown)


def _card(what: str, item: PooledSpeedUp) -> Card:
    ratio = item.ratio
    return Card(
        what=what,
        value=units.ratio(ratio.value, ratio.low, ratio.high),
        interval="" if ratio.low is None else units.interval(ratio.low, ratio.high),
        caveat="" if item.quotable else item.reasons[0],
    )


def _scope(scope: Scope) -> Callable[[PooledSpeedUp], bool]:
    return lambda item: item.case.scope == scope and item.record.usual()


def _tf32(item: PooledSpeedUp) -> bool:
    return item.case.precision == "tf32" and item.record.headline_step("precision")


_CARDS: Sequence[tuple[str, Callable[[PooledSpeedUp], bool]]] = (
    ("one step", _scope("step")),
    ("a step read from storage", _scope("epoch")),
    ("the first step, compiling included", _scope("cold")),
    ("one step in TF32 on the GPU", _tf32),
)
