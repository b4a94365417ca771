"""Baselines: the other implementations of one case in one campaign, each with its time over this one's."""

from collections.abc import Iterable, Sequence

from suite.case import Backend, Case, Implementation
from suite.results.single.summary import Summary, time_ratio
from suite.results.stats.statistics import Estimate
from suite.variants import variants_of, way_name

CERTIFIED_FROM = 0.7  # fastest baseline's time over JAX's, on the CPU


def baselines_of(summary: Summary, group: Iterable[Summary]) -> tuple[tuple[Summary, Estimate], ...]:
    """Return the other implementations of the same case, each with its time over mine."""
    baselines = []
    for other in others_of(summary, group):
        over = time_ratio(other, summary)
        if over is not None:
            baselines.append((other, over))
    return tuple(baselines)


def way(item: Summary) -> tuple[str, str]:
    """Return how a step was implemented, whatever the allocator: implementation and variant."""
    return item.record.case.implementation, item.record.case.variant


def untimed(baselines: Iterable[tuple[Summary, Estimate]]) -> tuple[str, ...]:
    """Return the names of the ways that these implementations have on their backend and that are not among them."""
    cases = [baseline.record.case for baseline, _ in baselines]
    return not_timed(cases, sorted({case.implementation for case in cases}), cases[0].backend) if cases else ()


def not_timed(timed: Sequence[Case], implementations: Iterable[Implementation], backend: Backend) -> tuple[str, ...]:
    """Return the names of the ways that implementations have on a backend and that are not among these."""
    return tuple(
        way_name(implementation, variant)
        for implementation in implementations
        for variant in variants_of(implementation, backend)
        if (implementation, variant) not in {(case.implementation, case.variant) for case in timed}
    )


def others_of(summary: Summary, group: Iterable[Summary]) -> Iterable[Summary]:
    """Yield the results of other implementations of the same case, whatever they are worth."""
    own = summary.record.compared_as
    for other in group:
        if other.record.case.implementation != own.implementation and other.record.compared_as.taken_as(own) == own:
            yield other
