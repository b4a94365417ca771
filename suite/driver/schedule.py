"""What a campaign measures next: each question once, cheapest first, then the widest interval again.

A question is the part of a workload that shares rounds: its steady state on CPU and GPU with all baselines, or one of
its other scopes. Steady states come before cold starts, so that each workload has its first row early; an experiment
takes one workload after the other.
"""

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from suite.case import Backend, Case
from suite.driver.campaign import ProcessGroup, processes, records
from suite.driver.forecast import Forecast
from suite.driver.journal import CompletedRun, Header
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.spreads import Spreads, half_width, kind, spreads
from suite.results.records.record import Record
from suite.results.single.paired_speedup import speedups
from suite.results.single.selection import fastest_of_each_case
from suite.results.single.summary import Summary, seconds_by_round, summary
from suite.scopes import SCOPES, Scope
from suite.variants import SLOW_TO_START

FEWEST_ROUNDS = 3  # before a question can end: the interval of two processes is several times as wide

# Of a step. Hosts of a CPU differ by about 8 %, those of a GPU by less than 1 %: three GPUs are enough to be quoted.
WANTED_HOSTS: dict[Backend, int] = {"cpu": 10, "gpu": FEWEST_HOSTS}

Question = tuple[str, Scope]  # a workload and a scope; `step` stands for its whole steady state


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One round of one question: its missing processes, in running order."""

    question: Question
    number: int
    groups: tuple[ProcessGroup, ...]


@dataclass(frozen=True, kw_only=True)
class Uncertain:
    """A question whose interval is too wide: its relative half-width, by the pooled spread."""

    question: Question
    half_width: float
    borrowed: bool  # whether the spread comes from published campaigns


def question(case: Case) -> Question:
    """Return the question of a case."""
    return case.workload, kind(case.backend, case.scope)[1]


def by_question(header: Header) -> dict[Question, list[ProcessGroup]]:
    """Return the process groups of each question."""
    groups: dict[Question, list[ProcessGroup]] = defaultdict(list)
    for group in processes(header):
        groups[question(group[0])].append(group)
    return groups


def next_turn(
    header: Header, done: Iterable[CompletedRun], forecast: Forecast, but: Collection[Question] = ()
) -> Turn | None:
    """Return the next planned round that lacks a process, except of the questions in `but`; None if there is none.

    The first pass takes the cheapest question first, later ones a random order. Within a round CPU, GPU and baselines
    run in random order; a reference round has an order of its own. Failed cases are not retried.
    """
    entries = tuple(done)
    failed, rounds = failed_cases(header, entries), header.rounds_by_case()
    finished = {(entry.case, entry.run.round) for entry in entries}
    questions, parts = by_question(header), _parts(header)
    for number, part in product(range(header.rounds), sorted(set(parts.values()))):
        asked = {
            each: groups
            for each, every in questions.items()
            if each not in but and (groups := [group for group in every if parts[group] == part])
        }
        for each in _order(header, number, asked, forecast):
            lacking = [
                group
                for group in asked[each]
                if number < rounds[group[0]]
                and group[0] not in failed
                and any((case, number) not in finished for case in group)
            ]
            if lacking:
                _shuffle(header, f"{number}/{each}", lacking)
                return Turn(question=each, number=number, groups=tuple(lacking))
    return None


def _parts(header: Header) -> dict[ProcessGroup, tuple[float, ...]]:
    """Return the part of a round to which each process belongs; only a reference round has several.

    First comes what lacks hosts, the largest share of those it wants before others, of equal shares the CPU: a workload
    and its baseline one after the other. The CPU's cold starts follow, and then the GPU's baselines, since no speed-up
    waits for them, of these `torch.compile` last. What has all its hosts comes after them, in the same order.
    """
    if not header.is_reference:
        return {group: () for groups in by_question(header).values() for group in groups}
    known = dict(zip(header.cases, header.known_hosts or (0,) * len(header.cases), strict=True))
    parts: dict[ProcessGroup, tuple[float, ...]] = {}
    for groups in by_question(header).values():
        shares = {group: min(_share_of_hosts(case, known[case]) for case in group) for group in groups}
        on_cpu = min((share for group, share in shares.items() if group[0].backend == "cpu"), default=1.0)
        for group, own in shares.items():
            case = group[0]
            share = own if case.backend == "gpu" else on_cpu
            if case.backend == "gpu" and case.implementation != "jax":
                parts[group] = (share == 1, 2, case.variant in SLOW_TO_START, share)
            else:
                parts[group] = (share == 1, int(case.scope == "cold"), share, case.backend == "gpu")
    return parts


def _share_of_hosts(case: Case, hosts: int) -> float:
    """Return which share of its wanted hosts a case has, at most 1."""
    return min(1.0, hosts / (WANTED_HOSTS[case.backend] if case.scope == "step" else FEWEST_HOSTS))


def failed_cases(header: Header, done: Iterable[CompletedRun]) -> frozenset[Case]:
    """Return the cases of groups in which any case failed: these are not retried."""
    bad = {entry.case for entry in done if entry.run.reason}
    return frozenset(case for group in processes(header) if not bad.isdisjoint(group) for case in group)


def _order(
    header: Header, number: int, asked: dict[Question, list[ProcessGroup]], forecast: Forecast
) -> list[Question]:
    """Return the questions in the order of the round.

    An experiment compares what one workload takes in several scopes: in its first round a workload is timed whole, the
    cheapest first.
    """
    if number == 0:
        cost = {each: forecast.total(groups) for each, groups in asked.items()}
        if not header.experiment:
            return sorted(asked, key=lambda each: (each[1] != "step", cost[each], each))
        together: dict[str, float] = defaultdict(float)
        for (workload, _), seconds in cost.items():
            together[workload] += seconds
        return sorted(asked, key=lambda each: (together[each[0]], each[0], each[1] != "step", cost[each], each))
    shuffled = sorted(asked)
    _shuffle(header, str(number), shuffled)
    return shuffled


def _shuffle(header: Header, words: str, these: list) -> None:
    """Shuffle in place, by the campaign's name: its seed is the date, which other campaigns share."""
    random.Random(f"{header.campaign}/{words}").shuffle(these)


def uncertain(header: Header, done: Sequence[CompletedRun], but: Collection[Question] = ()) -> tuple[Uncertain, ...]:
    """Return the questions whose interval is wider than the plan asks, the widest first.

    Steady states with fewer than three rounds come before all others: their printed interval is several times as wide.
    JAX's times decide, on the CPU with the faster allocator, and their speed-ups. Failed and invalid cases and scopes
    that train are ignored.
    """
    if header.within is None:
        return ()
    failed, counts = failed_cases(header, done), header.rounds_by_case()
    deciding = {c for c in header.cases if c.implementation == "jax" and not SCOPES[c.scope].trains}.difference(failed)
    usable = (record for record in records(header, done) if record.case in deciding and not record.reason)
    sound = [item for item in map(summary, usable) if item.seconds is not None and item.state != "invalid"]
    known = spreads((item.record for item in sound), header.machine)
    widest: dict[Question, Uncertain] = {}
    for one in _numbers([item for item in sound if question(item.record.case) not in but], known):
        widest[one.question] = max(widest.get(one.question, one), one, key=lambda each: each.half_width)
    rounds = {each: max(counts[group[0]] for group in groups) for each, groups in by_question(header).items()}
    wide = [one for one in widest.values() if one.half_width > header.within or rounds[one.question] < FEWEST_ROUNDS]

    def place(one: Uncertain) -> tuple[int, float, Question]:
        enough = one.question[1] != "step" or rounds[one.question] >= FEWEST_ROUNDS
        return FEWEST_ROUNDS if enough else rounds[one.question], -one.half_width, one.question

    return tuple(sorted(wide, key=place))


def _numbers(sound: Sequence[Summary], known: Spreads) -> Iterable[Uncertain]:
    """Yield the half-width of each time and each speed-up."""

    def spread(record: Record) -> float:
        return known.of(record.case.backend, record.case.scope, list(seconds_by_round(record).values()))

    def number(processes: int, *sides: Record) -> Uncertain:
        width = half_width(math.hypot(*map(spread, sides)), processes)
        borrowed = any(kind(side.case.backend, side.case.scope) in known.borrowed for side in sides)
        return Uncertain(question=question(sides[0].case), half_width=width, borrowed=borrowed)

    for item in fastest_of_each_case(sound):
        yield number(len(seconds_by_round(item.record)), item.record)
    for both in speedups(item.record for item in sound):
        yield number(both.ratio.processes, both.cpu.record, both.gpu.record)


def with_one_more(header: Header, asked: Question, done: Iterable[CompletedRun]) -> Header:
    """Return the plan with one more round of a question, without its failed cases."""
    more = {case for group in by_question(header)[asked] for case in group}.difference(failed_cases(header, done))
    return header.with_rounds(tuple(rounds + (case in more) for case, rounds in header.rounds_by_case().items()))


def whole_rounds(header: Header, planned: Header, done: Iterable[CompletedRun]) -> Header:
    """Return the plan without incomplete added rounds: those cut short, or with a failed case."""
    rounds_planned, rounds_now = planned.rounds_by_case(), header.rounds_by_case()
    failed, measured = set[Case](), set[tuple[Case, int]]()
    for entry in done:
        if not entry.run.reason:
            measured.add((entry.case, entry.run.round))
        elif entry.run.round < rounds_planned[entry.case]:
            failed.add(entry.case)
    complete: dict[Question, int] = {}
    for case in header.cases:
        if case in failed or rounds_now[case] == rounds_planned[case]:
            continue
        count = next((n for n in range(rounds_now[case]) if (case, n) not in measured), rounds_now[case])
        complete[question(case)] = min(count, complete.get(question(case), count))

    def rounds(case: Case) -> int:
        least = rounds_planned[case]
        return max(least, min(rounds_now[case], complete.get(question(case), least)))

    return header.with_rounds(tuple(map(rounds, header.cases)))
