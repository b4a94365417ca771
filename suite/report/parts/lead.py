"""The first sentences of a page with speed-ups: the quotable ones, and the range of all."""

from collections import Counter
from collections.abc import Iterable, Sequence

from suite import units
from suite.report.parts.html import Html
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single import old_jax
from suite.scopes import SCOPES

_EACH = "one step of training or inference on the GPU against all CPU cores of the same kind of machine"


def answer(items: Sequence[PooledSpeedUp], records: Sequence[Record], others: Sequence[PooledSpeedUp] = ()) -> Html:
    """Return the first sentences of a page; without speed-ups they say what is missing.

    `records` are all of the machine's, `others` the speed-ups outside the headline.
    """
    if not items and any(record.machine.gpus for record in records):
        return Html.escape(
            "A speed-up needs the same step on the CPU and on the GPU of one kind of machine: none in full float32 "
            f"and with its headline batch has been timed on both here yet.{_left_out(records)}{_others(others)}"
        )
    if not items:
        return Html(
            "No machine with a GPU has been measured yet. Measure yours: <code>nox -s bench</code> in the suite's "
            "checkout takes a few minutes and renders this page with your numbers."
        )
    name = items[0].record.machine.name
    if len(items) == 1:
        return _alone(items[0], name)
    quoted = [item for item in items if item.quotable]
    if len(quoted) == len(items):
        return Html("It depends on the model: {}, {} ({}). All {} may be quoted.").format(
            _reach(items), _EACH, name, units.count(len(items))
        )
    verb = "is" if len(quoted) < 2 else "are"
    range_of_quoted = Html(": {}").format(_reach(quoted)) if quoted else " yet"
    return Html(
        "It depends on the model. On {}, {} of {} speed-ups {} quotable{}. The whole range is {}. "
        "Not quotable yet: {}. Each is {}."
    ).format(
        name, units.count(len(quoted)) if quoted else "none", units.count(len(items)), verb, range_of_quoted,
        _reach(items), _faults(items), _EACH,
    )  # fmt: skip


def _left_out(records: Sequence[Record]) -> str:
    """Return which times make no speed-up, and why; '' if there are none."""
    smoke = any(record.profile == "smoke" for record in records)
    old = next(filter(None, map(old_jax.slow, records)), "")
    said = " Profile smoke times nothing: it only shows that it runs." * smoke
    return said + (f" {old[0].upper() + old[1:]}." if old else "")


def _others(items: Sequence[PooledSpeedUp]) -> str:
    """Return the speed-ups outside the headline, by scope."""
    if not items:
        return ""
    found = Counter(SCOPES[item.case.scope].sentence for item in items)
    each = ", ".join(f"{units.count(n)} of {scope}" for scope, n in found.most_common())
    return f" The table has {units.pluralize(len(items), 'other speed-up')}: {each}."


def _alone(item: PooledSpeedUp, name: str) -> Html:
    return Html("On {}, one step of {} is {} faster on the GPU.{}").format(
        name, item.workload, _words(item), item.caveat
    )


def _words(item: PooledSpeedUp) -> Html:
    value = units.ratio(item.ratio.value, item.ratio.low, item.ratio.high)
    within = "" if item.ratio.low is None else f" ({units.interval(item.ratio.low, item.ratio.high)})"
    return Html("<strong>{}</strong>{}" if item.quotable else "{}{}").format(value, within)


def _reach(items: Sequence[PooledSpeedUp]) -> Html:
    """Return the lowest and the highest speed-up with their intervals and models."""
    order = sorted(items, key=lambda item: item.ratio.value)
    low, high = (Html("{} for {}").format(_words(item), item.workload) for item in (order[0], order[-1]))
    return low if len(items) == 1 else Html("from {} to {}").format(low, high)


def _faults(items: Iterable[PooledSpeedUp]) -> str:
    """Return how many are not quotable, and why; the first phrase has the verb."""
    (fault, count), *rest = Counter(_fault(item) for item in items if not item.quotable).most_common()
    phrases = [f"{units.count(count)} {'has' if count == 1 else 'have'} {fault}"]
    phrases += [f"{units.count(number)} {other}" for other, number in rest]
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _fault(item: PooledSpeedUp) -> str:
    if item.state == "invalid":
        return "two sides that computed different things"
    if item.state == "not certified":
        return "a CPU side that another way surely beats"
    if item.hosts < FEWEST_HOSTS:
        return f"fewer than {units.count(FEWEST_HOSTS)} hosts"
    return "an open certificate" if item.certificate == "open" else "too wide an interval"
