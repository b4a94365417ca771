"""The ways in which a network was timed: each way's time on CPU and GPU, and the ratio of both."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suite.analysis.steps import caveat_of
from suite.case import Backend, Case
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp, same_method
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.variants import KERAS_BACKENDS, way_of
from suite.workload import Description

_BASES = {"graph": "plain", "compile-graph": "compile"}  # the CPU's variant beside one that only the GPU has
_TREES = {"one-thread": "plain"}  # the GPU's variant beside one that only the CPU has
LENT: Mapping[Backend, str] = {  # why a way's time on a backend is another way's
    "cpu": "A captured graph exists on the GPU only: it is set against the compiled or eager step on the CPU.",
    "gpu": "One thread of XGBoost exists on the CPU only: it is set against the plain step on the GPU.",
}
_ASIDE = ("stacked",)  # variants of another batch


@dataclass(kw_only=True)
class Way:
    """A way of a network: its sides and its speed-up as far as they are known."""

    case: Case
    sides: dict[Backend, Pool] = field(default_factory=dict)
    lent: dict[Backend, Pool] = field(default_factory=dict)  # the side of another way, if it exists on one backend only
    item: PooledSpeedUp | None = None  # CPU and GPU of the same way
    ratio: Pooled | None = None

    @property
    def about(self) -> Description:
        """The network's description."""
        return next(iter(self.sides.values())).newest.description

    @property
    def words(self) -> str:
        """Its name in a row."""
        where = {"step": ", on the device", "transfer": ", copied", "written": ""}[self.case.scope]
        return way_of(self.case) + where

    @property
    def caveat(self) -> str:
        """Why its speed-up may not be quoted, as a further sentence; '' if it may, or has none."""
        if self.item is not None:
            return self.item.caveat
        return caveat_of(self.ratio) if self.ratio else ""

    @property
    def of_article(self) -> bool:
        """Whether the article wrote it so."""
        way = self.about.source.way
        return bool(way) and self.case.variant in [f"{way}-{name}" for name in KERAS_BACKENDS]


def networks(evidence: Evidence) -> Mapping[str, Sequence[Way]]:
    """Return the ways of each network, those as written first, each group by name."""
    by_network: dict[str, dict[tuple[str, str, str], Way]] = defaultdict(dict)
    for pool in sorted(evidence.fitting(fits), key=lambda pool: pool.hosts):
        case = pool.case
        key = case.scope, case.implementation, case.variant
        by_network[case.workload].setdefault(key, Way(case=case)).sides[case.backend] = pool
    items = {item.case.ignoring_allocator: item for item in (*evidence.speedups, *evidence.ways)}
    for ways in by_network.values():
        for way in ways.values():
            if gpu := way.sides.get("gpu"):
                way.item = items.get(gpu.case.ignoring_allocator)
            if way.item:
                way.sides = {"cpu": way.item.cpu, "gpu": way.item.gpu}  # of two allocators the one in its ratio
        for (scope, implementation, variant), way in ways.items():
            cpu = way.sides.get("cpu") or _side(ways, scope, implementation, _BASES.get(variant), "cpu")
            gpu = way.sides.get("gpu") or _side(ways, scope, implementation, _TREES.get(variant), "gpu")
            if way.item:
                way.ratio = way.item.ratio
            elif cpu and gpu and same_method(cpu, gpu):
                way.ratio = over(cpu, gpu)
                both: Mapping[Backend, Pool] = {"cpu": cpu, "gpu": gpu}
                way.lent = {backend: pool for backend, pool in both.items() if backend not in way.sides}
    return {name: sorted(ways.values(), key=_order) for name, ways in sorted(by_network.items())}


def _side(
    ways: Mapping[tuple[str, str, str], Way], scope: str, implementation: str, variant: str | None, backend: Backend
) -> Pool | None:
    way = ways.get((scope, implementation, variant or ""))
    return way.sides.get(backend) if way else None


def _order(way: Way) -> tuple[bool, str, str]:
    return way.case.scope != "written", way.case.implementation, way.words


def fits(record: Record) -> bool:
    """Return whether a record is a documented model's headline step of some way.

    PyTorch's loops have pictures as people have them.
    """
    case = record.case
    free = ("implementation", "variant", *(("layout",) if case.scope == "written" else ()))
    fits = case.scope in ("step", "transfer", "written") and case.variant not in _ASIDE and record.usual(*free)
    return fits and record.description.documented


def set_against(ways: Sequence[Way]) -> list[str]:
    """Return which of these ways are not set against themselves, a sentence each."""
    return [words for backend, words in LENT.items() if any(backend in way.lent for way in ways)]
