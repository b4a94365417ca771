"""Further rounds: what of a workload is still too uncertain gets one more, and so does all that it is compared with.

Its steady state and its cold start are asked each by itself. A speed-up may be too uncertain where neither of its sides
is. What comes from storage, whose processes take long, decides only where no steps are timed.

Of the results that three processes call certain enough on an uneven machine, many are so by luck: the three agree, and
their interval is too short. With further rounds for those that are not, luck decides far less; `nox -s trust -- rounds`
simulates what is gained.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from suite.measure.campaign import Unit, records, units
from suite.results.journal import Done, Header
from suite.results.record import Record
from suite.results.selection import fastest
from suite.results.speedup import speedups
from suite.results.summary import summary, wide
from suite.workload import Case, Scope

_STEADY: frozenset[Scope] = frozenset({"step", "transfer", "serve"})
_STARTING: frozenset[Scope] = frozenset({"cold"})
_FLOWING: frozenset[Scope] = frozenset({"epoch"})

Question = tuple[str, frozenset[Scope]]  # what is asked of a workload: those of its scopes that get rounds together


def question(case: Case) -> Question:
    """Return what a case helps to answer."""
    return case.workload, _STEADY if case.scope in _STEADY else frozenset({case.scope})


def widest(header: Header) -> Header:
    """Return the plan with all the further rounds that it may come to; the same plan if it may have none."""
    deciding = _deciding(header)
    mine = (case for case in header.cases if case.implementation == "jax" and case.scope in deciding[case.workload])
    asked = set(map(question, mine))
    most = {case: max(header.rounds_of(case), header.most_rounds) for case in header.cases if question(case) in asked}
    rounds = tuple(most.get(case, header.rounds_of(case)) for case in header.cases)
    return header if rounds == header.case_rounds else header.with_rounds(rounds)


def widened(header: Header, done: Sequence[Done], but: Collection[Question] = ()) -> Header | None:
    """Return the plan with one more round for each question that needs it; None if none does or may have one.

    JAX's own times decide, on the CPU that of the better allocator, and their speed-ups. A case that failed is left
    out; an invalid one, an input pipeline alone or a whole run decides nothing, nor does what comes from storage where
    steps are timed; what is not measured with what decides keeps its rounds, as do the questions named in `but`.
    """
    deciding = _deciding(header)
    failed = {entry.case for entry in done if entry.run.reason}
    answering: dict[Question, list[Unit]] = defaultdict(list)
    for unit in units(header.cases):
        if failed.isdisjoint(unit) and not deciding[unit[0].workload].isdisjoint(case.scope for case in unit):
            answering[question(unit[0])].append(unit)
    uncertain = {question(record.case) for record in _too_wide(records(header, done), deciding)}.difference(but)
    more = {
        case
        for asked, those in answering.items()
        if asked in uncertain
        for unit in those
        for case in unit
        if header.rounds_of(case) < header.most_rounds
    }
    if not more:
        return None
    return header.with_rounds(tuple(header.rounds_of(case) + (case in more) for case in header.cases))


def whole_rounds(header: Header, planned: Header, done: Iterable[Done]) -> Header:
    """Return the plan without the further rounds that are not whole: cut short, or with a case that failed in one."""
    rounds_planned = {case: planned.rounds_of(case) for case in header.cases}
    failed, there = set[Case](), set[tuple[Case, int]]()
    for entry in done:
        if not entry.run.reason:
            there.add((entry.case, entry.run.round))
        elif entry.run.round < rounds_planned[entry.case]:
            failed.add(entry.case)
    whole: dict[Question, int] = {}
    for case in header.cases:
        if case in failed or header.rounds_of(case) == rounds_planned[case]:
            continue
        mine = next((n for n in range(header.rounds_of(case)) if (case, n) not in there), header.rounds_of(case))
        whole[question(case)] = min(mine, whole.get(question(case), mine))

    def rounds(case: Case) -> int:
        least = rounds_planned[case]
        return max(least, min(header.rounds_of(case), whole.get(question(case), least)))

    return header.with_rounds(tuple(map(rounds, header.cases)))


def _deciding(header: Header) -> dict[str, frozenset[Scope]]:
    """Return each workload's scopes that decide."""
    steady = {case.workload for case in header.cases if case.scope in _STEADY}
    return {case.workload: _STARTING | (_STEADY if case.workload in steady else _FLOWING) for case in header.cases}


def _too_wide(found: Iterable[Record], deciding: Mapping[str, frozenset[Scope]]) -> Iterable[Record]:
    """Yield of JAX's times and speed-ups those that decide and whose interval is wider than the profile allows."""
    mine = [
        record
        for record in found
        if record.case.implementation == "jax" and record.case.scope in deciding[record.workload] and not record.reason
    ]
    for item in fastest(map(summary, mine)):
        if item.status != "invalid" and wide(item.record, item.seconds):
            yield item.record
    for both in speedups(mine):
        if wide(both.gpu.record, both.ratio):
            yield both.gpu.record
