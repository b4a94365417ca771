"""The first sentences of a page with speed-ups: what may be quoted of them, and how far all of them reach."""

from collections import Counter
from collections.abc import Iterable, Sequence

from suite import units
from suite.report.html import safe
from suite.results.campaigns import several
from suite.results.citation import SCOPES
from suite.results.speedup import SpeedUp
from suite.results.summary import SOUND, doubts
from suite.results.table import speedup_status_cell

_EACH = "one step of training or inference on the GPU against all CPU cores of the same machine"


def answer(items: Sequence[SpeedUp], with_gpu: bool, others: Sequence[SpeedUp] = ()) -> str:
    """Return the first sentences of a page as HTML; without speed-ups they say what is missing.

    `others` are those beside the headline's.
    """
    if not items and with_gpu:
        return (
            "A speed-up needs the same step on the CPU and on the GPU of one machine: none in full float32 and with "
            f"its headline batch has been timed on both here yet.{_others(others)}"
        )
    if not items:
        return (
            "No machine with a GPU has been measured yet. Measure yours: <code>nox -s bench</code> in the suite's "
            "checkout takes a few minutes and renders this page with your numbers."
        )
    name, smoke = safe(items[0].gpu.record.machine.name), any(item.status == "smoke" for item in items)
    doubt = doubts(item.status for item in items) if smoke else ""
    if len(items) == 1:
        return _alone(items[0], name, doubt)
    quoted = [item for item in items if item.citable]
    if smoke or len(quoted) == len(items):
        steady = doubt or f" All {units.count(len(items))} are steady and may be quoted."
        return f"It depends on the model: {_reach(items)}, {_EACH} ({name}).{steady}{_campaigns(items)}"
    verb = "is" if len(quoted) < 2 else "are"
    found = f": {_reach(quoted)}" if quoted else " yet"
    return (
        f"It depends on the model. On {name}, {units.count(len(quoted)) if quoted else 'none'} of "
        f"{units.count(len(items))} speed-ups {verb} steady and may be quoted{found}. Provisional is the whole range, "
        f"{_reach(items)}: {_faults(items)}. Each is {_EACH}.{_campaigns(items)}"
    )


def _campaigns(items: Iterable[SpeedUp]) -> str:
    span = several(item.gpu.record for item in items)
    return f" They are {span}." if span else ""


def _others(items: Sequence[SpeedUp]) -> str:
    """Return which speed-ups there are beside the headline's, by scope."""
    if not items:
        return ""
    found = Counter(SCOPES[item.gpu.record.case.scope] for item in items)
    each = ", ".join(f"{units.count(n)} of {safe(scope)}" for scope, n in found.most_common())
    return f" The table has {units.counted(len(items), 'other speed-up')}: {each}."


def _alone(item: SpeedUp, name: str, doubt: str) -> str:
    said = f"On {name}, one step of {safe(item.cpu.record.workload)} is {_words(item)} faster on the GPU."
    return said + (doubt or ("" if item.citable else f" Provisional: {safe(speedup_status_cell(item).text)}."))


def _words(item: SpeedUp) -> str:
    value, within = units.times(item.ratio.value, item.ratio.low, item.ratio.high), ""
    if item.ratio.low is not None:
        within = f" ({safe(units.interval(item.ratio.low, item.ratio.high))})"
    return f"<strong>{safe(value)}</strong>{within}"


def _reach(items: Sequence[SpeedUp]) -> str:
    """Return the lowest and the highest of these with their intervals and models, as HTML."""
    order = sorted(items, key=lambda item: item.ratio.value)
    low, high = (f"{_words(item)} for {safe(item.cpu.record.workload)}" for item in (order[0], order[-1]))
    return low if len(items) == 1 else f"from {low} to {high}"


def _faults(items: Iterable[SpeedUp]) -> str:
    """Return how many of these may not be quoted, and why."""
    found = Counter(_fault(item) for item in items if not item.citable)
    return " and ".join(f"{units.count(n)} {'is' if n == 1 else 'are'} {fault}" for fault, n in found.most_common())


def _fault(item: SpeedUp) -> str:
    if item.status == "old JAX":
        return "of an old JAX"
    if item.status not in SOUND:
        return "not steady"
    if item.ratio.low is None:
        return "without an interval"
    return "not certified" if item.certificate is False else f"of the provisional {item.gpu.record.schema}"
