"""What several GPUs gain, in sentences; experiment `scaling` has the cases and tables."""

from collections.abc import Sequence

from suite import units
from suite.analysis.devices import Cells, Side, headline
from suite.analysis.steps import from_size, said_of_pooled, share, share_words, words
from suite.results.stats.crossing import crossing


def said(cells: Cells, shared: Sequence[Side], own: Sequence[Side], pairs: Sequence[Side]) -> str:
    """Return what a workload gains from several GPUs: its batch split, one for each GPU, and a second GPU by batch."""
    largest = [_largest(sides) for sides in (shared, own)]
    first, *others = split(cells, largest[0]), each(largest[1]), pays(pairs, largest[0])
    text = " ".join((first, *(f"{one[0].upper()}{one[1:]}" for one in others)))
    told = {(one.devices, one.batch, one.base.case.batch): one.speed for one in (*largest, *pairs) if one.base}
    return text + said_of_pooled(speed for speed in told.values() if speed is not None)


def pays(pairs: Sequence[Side], told: Side) -> str:
    """Return from which batch on a second GPU pays, as a sentence; the speed that another one `told` is left out."""
    mine = [(one.batch, one.speed.estimate) for one in pairs if one.speed is not None]
    if len(mine) < 2:
        return "from which batch on a second GPU pays is not known, as fewer than two batches were measured."
    (smallest, first), (largest, last) = mine[0], mine[-1]
    span = f"of the batches from {units.count(smallest)} to {units.count(largest)}"
    at = crossing(mine)
    if at.outcome in ("always", "never"):
        which, batch, speed = ("all", smallest, first) if at.outcome == "always" else ("none", largest, last)
        known = told.speed is not None and (told.devices, told.batch) == (2, batch)
        example = "" if known else f": at {units.count(batch)} two are {words(speed)} as fast as one"
        return f"a second GPU pays at {which} {span}{example}."
    if at.outcome == "not separated":
        return f"from where on a second GPU pays is not separated from the noise, {span}."
    return f"a second GPU pays from a batch {from_size(at)}."


def split(cells: Cells, side: Side) -> str:
    """Return what the headline batch gains from being split, and what its collectives take."""
    batch, many = units.count(headline(cells)), units.count(side.devices)
    if side.speed is None:
        return f"what a batch of {batch} gains from {many} GPUs is not known: {side.why}."
    gain = f"a batch of {batch} split over {many} GPUs is {words(side.speed.estimate)} as fast as on one"
    return f"{gain}, {_efficiency(side)} of ideal{_added(side)}."


def each(side: Side) -> str:
    """Return what GPUs do together that have a headline batch each."""
    many = units.count(side.devices)
    if side.speed is None:
        return f"what {many} GPUs do with {many} times the batch is not known: {side.why}."
    work = f"with {many} times the batch {many} GPUs do {words(side.speed.estimate)} the work of one"
    return f"{work}, {_efficiency(side)} of ideal."


def _largest(sides: Sequence[Side]) -> Side:
    """Return the most GPUs that have a speed; where none has, the most."""
    return next((side for side in reversed(sides) if side.speed is not None), sides[-1])


def _added(side: Side) -> str:
    """Return which share of the step the GPUs add to each other, as a clause; nothing where it is not known."""
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
