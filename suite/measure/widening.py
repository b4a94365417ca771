"""Further rounds: what of a workload is still too uncertain gets one more, and so does all that it is compared with.

Its steady state and its cold start are asked each by itself. A speed-up may be too uncertain where neither of its sides
is. What comes from storage, whose processes take long, decides only where no steps are timed.

Of the results that three processes call certain enough on an uneven machine, many are so by luck: the three agree, and
their interval is too short. With further rounds for those that are not, luck decides far less; `nox -s trust -- rounds`
simulates what is gained.
"""

from collections.abc import Collection, Iterable, Sequence

from suite.measure.campaign import records, units
from suite.results.journal import Done, Header
from suite.results.record import Record
from suite.results.selection import fastest
from suite.results.speedup import speedups
from suite.results.summary import summary, wide
from suite.workload import Case, Scope

_STEADY: frozenset[Scope] = frozenset({"step", "transfer", "serve"})

Question = tuple[str, Scope]  # a workload and what of it gets rounds together; `step` stands for its whole steady state


def question(case: Case) -> Question:
    """Return what a case helps to answer."""
    return case.workload, "step" if case.scope in _STEADY else case.scope


def widest(header: Header) -> Header:
    """Return the plan with all the further rounds that it may come to; the same plan if it may have none."""
    asked = _deciding(header) & {question(case) for case in header.cases if case.implementation == "jax"}
    most = {case: max(header.rounds_of(case), header.most_rounds) for case in header.cases if question(case) in asked}
    rounds = tuple(most.get(case, header.rounds_of(case)) for case in header.cases)
    return header if rounds == header.case_rounds else header.with_rounds(rounds)


def widened(header: Header, done: Sequence[Done], but: Collection[Question] = ()) -> Header | None:
    """Return the plan with one more round for each question that needs it; None if none does or may have one.

    JAX's own times decide, on the CPU that of the better allocator, and their speed-ups. A case that failed is left
    out; an invalid one, an input pipeline alone or a whole run decides nothing, nor does what comes from storage where
    steps are timed; what is not measured with what decides keeps its rounds, as do the questions named in `but`.
    """
    failed = {entry.case for entry in done if entry.run.reason}
    still_wide = _too_wide(records(header, done), _deciding(header))
    uncertain = {question(record.case) for record in still_wide}.difference(but)
    more = {
        case
        for unit in units(header.cases)
        if question(unit[0]) in uncertain and failed.isdisjoint(unit)
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


def _deciding(header: Header) -> frozenset[Question]:
    """Return what of a plan decides: each steady state and start, and what comes from storage where no steps are."""
    asked = frozenset(map(question, header.cases))
    return frozenset((w, s) for w, s in asked if s in ("step", "cold") or (s == "epoch" and (w, "step") not in asked))


def _too_wide(found: Iterable[Record], deciding: Collection[Question]) -> Iterable[Record]:
    """Yield of JAX's times and speed-ups those that decide and whose interval is wider than the profile allows."""
    mine = [
        record
        for record in found
        if record.case.implementation == "jax" and question(record.case) in deciding and not record.reason
    ]
    for item in fastest(map(summary, mine)):
        if item.status != "invalid" and wide(item.record, item.seconds):
            yield item.record
    for both in speedups(mine):
        if wide(both.gpu.record, both.ratio):
            yield both.gpu.record
