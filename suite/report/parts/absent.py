"""Models without a headline speed-up on a machine that has others, with the reasons."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Set

from suite.results.pooled.grouping import usable
from suite.results.records.record import Record
from suite.results.single.roofline import is_ceiling

_WHY: dict[frozenset[str], str] = {  # by the backends that timed it
    frozenset(): "headline step not timed here yet",
    frozenset({"cpu"}): "timed on the CPU alone",
    frozenset({"gpu"}): "timed on the GPU alone",
    frozenset({"cpu", "gpu"}): "CPU and GPU timed with different data",
}


def sentence(records: Iterable[Record], shown: Collection[str], models: Iterable[str] = ()) -> str:
    """Return which of the models, and of a machine's recorded ones, are not `shown`, by reason; '' if all are."""
    sides: dict[str, set[str]] = {model: set() for model in models}
    counting: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if record.headline_step() and not is_ceiling(record):
            sides.setdefault(record.workload, set()).add(record.backend)
            counting[record.workload].update({record.backend} if usable(record) else ())
    left: dict[str, list[str]] = defaultdict(list)
    for model in sorted(sides.keys() - set(shown)):
        left[_why(sides[model], counting[model])].append(model)
    if not left:
        return ""
    said = "; ".join(f"{', '.join(names)} ({why})" for why, names in left.items())
    return f"Without a speed-up so far: {said}."


def _why(timed: Set[str], counting: Set[str]) -> str:
    if lacking := " and of the ".join(side.upper() for side in sorted(timed - counting)):
        why = "failed, invalid, disturbed, of a JAX that is slow on a CPU, or of profile smoke"
        return f"no time of the {lacking} counts: {why}"
    return _WHY[frozenset(timed)]
