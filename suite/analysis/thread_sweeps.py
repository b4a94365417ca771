"""Sweeps over threads: a CPU's step with several numbers of threads, all by equal code and on the same hosts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from suite.analysis.cores import threads
from suite.case import Case
from suite.results.pooled.grouping import case_of, code_key, grouped
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.side_by_side import most_side_by_side
from suite.results.records.record import Record

Sweep = tuple[Pool, ...]  # the fewest threads first


def sweeps(evidence: Evidence) -> Iterator[Sweep]:
    """Yield the CPU's steps of each workload that a host timed with two numbers of threads or more.

    Of a workload the best sweep counts; of equals that of the current pools.
    """
    for group in evidence.sides(fits, least=2, any_threads=True):
        current = sorted(group, key=threads)
        candidates = map(most_side_by_side, (current, *_by_code(evidence, current)))
        if compared := [pools for pools in candidates if len(pools) > 1]:
            yield max(compared, key=_worth)


def fits(record: Record) -> bool:
    """Return whether a record is a headline step on the CPU, with any number of threads."""
    return record.backend == "cpu" and record.headline_step("threads")


def _worth(sweep: Sweep) -> tuple[bool, int, int]:
    """Return what a sweep is chosen by: today's method of timing, then numbers of threads, then hosts."""
    return not any(pool.outdated for pool in sweep), len(sweep), min(pool.hosts for pool in sweep)


def _by_code(evidence: Evidence, current: Sequence[Pool]) -> Iterator[Sweep]:
    """Yield the records of these cases by code: the current pool of all cores may be of other code than the rest."""
    cases = {_case(pool.newest): pool for pool in current}
    codes: dict[object, list[Pool]] = defaultdict(list)
    for records in grouped(record for record in evidence.records if _case(record) in cases):
        newest = records[-1]
        codes[code_key(newest)].append(replace(cases[_case(newest)], records=tuple(records)))
    yield from (tuple(sorted(pools, key=threads)) for pools in codes.values())


def _case(record: Record) -> tuple[Case, int | None]:
    return case_of(record), record.case.threads
