"""Gains from several GPUs in sentences; experiment `scaling` has the cases and tables."""

from collections.abc import Sequence

from suite import units
from suite.analysis.devices import Cells, Side, headline
from suite.analysis.steps import from_size, said_of_pooled, share, share_words, words
from suite.results.stats.fit import crossing


def said(cells: Cells, shared: Sequence[Side], own: Sequence[Side], pairs: Sequence[Side]) -> str:
    """Return a workload's gains: its batch split over GPUs, a batch for each GPU, and a second GPU by batch."""
    largest = [_largest(sides) for sides in (shared, own)]
    first, *others = split(cells, largest[0]), each(largest[1]), pays(pairs, largest[0])
    text = " ".join((first, *(f"{one[0].upper()}{one[1:]}" for one in others)))
    speeds = {(one.devices, one.batch, one.base.case.batch): one.speed for one in (*largest, *pairs) if one.base}
    return text + said_of_pooled(speed for speed in speeds.values() if speed is not None)


def pays(pairs: Sequence[Side], shown: Side) -> str:
    """Return a clause on the batch from which a second GPU pays; `shown` is a speed that was already mentioned."""
    points = [(one.batch, one.speed.estimate) for one in pairs if one.speed is not None]
    if len(points) < 2:
        return "from which batch on a second GPU pays is not known, as fewer than two batches were measured."
    (smallest, first), (largest, last) = points[0], points[-1]
    span = f"of the batches from {units.count(smallest)} to {units.count(largest)}"
    at = crossing(points)
    if at.outcome in ("always", "never"):
        which, batch, speed = ("all", smallest, first) if at.outcome == "always" else ("none", largest, last)
        known = shown.speed is not None and (shown.devices, shown.batch) == (2, batch)
        example = "" if known else f": at {units.count(batch)} two are {words(speed)} as fast as one"
        return f"a second GPU pays at {which} {span}{example}."
    if at.outcome == "not separated":
        return f"from where on a second GPU pays is not separated from the noise, {span}."
    return f"a second GPU pays from a batch {from_size(at)}."


def split(cells: Cells, side: Side) -> str:
    """Return a clause on the gain from splitting the headline batch, and the share of its collectives."""
    batch, many = units.count(headline(cells)), units.count(side.devices)
    if side.speed is None:
        return f"what a batch of {batch} gains from {many} GPUs is not known: {side.why}."
    gain = f"a batch of {batch} split over {many} GPUs is {words(side.speed.estimate)} as fast as on one"
    return f"{gain}, {_efficiency(side)} of ideal{_added(side)}."


def each(side: Side) -> str:
    """Return a clause on the work of several GPUs with a headline batch each."""
    many = units.count(side.devices)
    if side.speed is None:
        return f"what {many} GPUs do with {many} times the batch is not known: {side.why}."
    work = f"with {many} times the batch {many} GPUs do {words(side.speed.estimate)} the work of one"
    return f"{work}, {_efficiency(side)} of ideal."


def _largest(sides: Sequence[Side]) -> Side:
    """Return the side with the most GPUs that has a speed, else with the most GPUs."""
    return next((side for side in reversed(sides) if side.speed is not None), sides[-1])


def _added(side: Side) -> str:
    """Return a clause on the share of the step that collectives take; '' if unknown."""
    if side.adding is None:
        return ""
    value, low, high = share(side.adding.estimate)
    if (value if high is None else high) <= 0:
        return "; its collectives cost nothing"
    if low is not None and low <= 0:
        return "; whether its collectives cost anything is not separated from the noise"
    return f"; its collectives take at most {share_words(side.adding.estimate)} of the step"


def _efficiency(side: Side) -> str:
    return units.percent(side.efficiency.value if side.efficiency else None)
