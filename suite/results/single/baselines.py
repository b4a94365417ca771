"""Baselines of one campaign: other implementations of a case, each with its time over the case's."""

from collections.abc import Iterable, Sequence

from suite.case import Backend, Case, Implementation
from suite.results.single.summary import Summary, time_ratio
from suite.results.stats.statistics import Estimate
from suite.variants import variants_of, way_name

CERTIFIED_FROM = 0.7  # fastest baseline's time over JAX's, on the CPU


def baselines_of(summary: Summary, group: Iterable[Summary]) -> tuple[tuple[Summary, Estimate], ...]:
    """Return the baselines of a summary's case, each with its time over the summary's, paired by round."""
    baselines = []
    for other in others_of(summary, group):
        over = time_ratio(other, summary)
        if over is not None:
            baselines.append((other, over))
    return tuple(baselines)


def way(item: Summary) -> tuple[str, str]:
    """Return implementation and variant of a step, ignoring the allocator."""
    return item.record.case.implementation, item.record.case.variant


def untimed(baselines: Iterable[tuple[Summary, Estimate]]) -> tuple[str, ...]:
    """Return the names of the untimed variants of these baselines' implementations on their backend."""
    cases = [baseline.record.case for baseline, _ in baselines]
    return not_timed(cases, sorted({case.implementation for case in cases}), cases[0].backend) if cases else ()


def not_timed(timed: Sequence[Case], implementations: Iterable[Implementation], backend: Backend) -> tuple[str, ...]:
    """Return the names of the variants of implementations on a backend that are not in `timed`."""
    return tuple(
        way_name(implementation, variant)
        for implementation in implementations
        for variant in variants_of(implementation, backend)
        if (implementation, variant) not in {(case.implementation, case.variant) for case in timed}
    )


def others_of(summary: Summary, group: Iterable[Summary]) -> Iterable[Summary]:
    """Yield the results of other implementations of the same case, valid or not."""
    own = summary.record.compared_as
    for other in group:
        if other.record.case.implementation != own.implementation and other.record.compared_as.taken_as(own) == own:
            yield other
