"""A machine's speed-ups by how much of the work is counted: of each model, and over all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import geometric_mean

from suite import units
from suite.results.pooled.same_hosts import step_beside
from suite.results.pooled.speedup import PooledSpeedUp
from suite.scopes import SCOPES, Scope

STEP = SCOPES["step"].rungs["empty"].name
AS_WRITTEN = "as written"
_MANY = 10  # models of which the lowest and the highest tenth are left out of what most lie between


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One amount of the work, with the speed-up of each model for which it is known."""

    name: str  # in a chart
    words: str  # in a sentence, after the number
    by_workload: Mapping[str, PooledSpeedUp]

    @property
    def mean(self) -> float:
        """The geometric mean over its models."""
        return mean(self.by_workload.values())


def rungs(speedups: Iterable[PooledSpeedUp]) -> tuple[Rung, ...]:
    """Return what is known of one machine in the headline setting: the step first, then more and more of the work.

    Of a model's several data sets the usual one counts.
    """
    known = sorted(speedups, key=lambda item: item.record.usual_data)
    all_rungs = (
        Rung(name=name, words=words, by_workload={i.workload: i for i in known if fits(i)})
        for name, words, fits in _RUNGS
    )
    return tuple(rung for rung in all_rungs if rung.by_workload)


def step(amounts: Sequence[Rung]) -> Rung | None:
    """Return the steps; None if no model has one."""
    return next((rung for rung in amounts if rung.name == STEP), None)


def both(one: Rung, other: Rung) -> Set[str]:
    """Return the models for which two amounts of work are known."""
    return one.by_workload.keys() & other.by_workload.keys()


def mean(items: Iterable[PooledSpeedUp]) -> float:
    """Return the geometric mean of speed-ups."""
    return geometric_mean(item.ratio.value for item in items)


def many(items: Sequence[PooledSpeedUp]) -> bool:
    """Return whether a tenth of the models can be left out at each end."""
    return len(items) >= _MANY


def most(items: Iterable[PooledSpeedUp]) -> tuple[PooledSpeedUp, PooledSpeedUp]:
    """Return the lowest and the highest speed-up; of many without a tenth at each end."""
    order = sorted(items, key=lambda item: item.ratio.value)
    left_out = len(order) // _MANY
    return order[left_out], order[-1 - left_out]


def elsewhere(items: Iterable[PooledSpeedUp], step: Rung) -> list[PooledSpeedUp]:
    """Return the items whose hosts did not time their model's step: one may exceed the other by its hosts alone."""
    beside = [(item, step.by_workload.get(item.workload)) for item in items]
    return [item for item, own in beside if own is not None and step_beside(own, item) is None]


def on_other_hosts(count: int, total: int) -> str:
    """Return how many of several results are of other hosts than their step, for the end of a phrase; '' if none is."""
    return f", {'' if count == total else f'{units.count(count)} of them '}on other hosts" if count else ""


def _scope(scope: Scope, words: str) -> tuple[str, str, Callable[[PooledSpeedUp], bool]]:
    """Return the name of a scope's rung, its words in a sentence, and which speed-ups are of it."""
    name = SCOPES[scope].rungs["empty"].name
    return name, words, lambda item: item.case.scope == scope and item.general and item.record.usual()


def _as_written(item: PooledSpeedUp) -> bool:
    """Return whether it is a loop with `nnx.jit`, as the tutorials of Flax write it."""
    return item.case.scope == "written" and item.case.variant == "nnx-loop" and item.record.usual("variant")


_RUNGS: Sequence[tuple[str, str, Callable[[PooledSpeedUp], bool]]] = (
    _scope("step", ""),
    _scope("transfer", "with each batch copied"),
    _scope("epoch", "read from storage"),
    _scope("run", "over a whole run"),
    _scope("cold", "at a cold start with compiling"),
    (AS_WRITTEN, "in a loop as Flax’s tutorials write it", _as_written),
)
