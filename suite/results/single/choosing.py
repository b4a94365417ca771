"""Derive the committed choices from published records: each workload's baseline, and CPU thread counts."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from suite.case import WAY, Backend, Implementation, Layout
from suite.results.records.choices import Choices, Threads, Way, kind
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.summary import seconds_by_round, summary
from suite.variants import SLOW_TO_START

_WORTH = 0.9  # of the fastest other way's time: the gain that makes up for a slow start
_CPU_SPREAD = 0.108  # standard deviation of the logarithms of one CPU step's times by processes of one host
_SURE = 2.0  # standard errors
_HOSTS = 2  # hosts on which fewer threads must be faster
_COMPARED = 2  # ways timed on a kind of machine, which then decides for itself

RULE = (
    "The baseline is the way with the least time over JAX's, as a mean over the published campaigns: on the kind of "
    "machine where two ways or more were timed there, else the one that loses least on average over such kinds. One "
    "that torch.compile makes, which takes a quarter of a minute or more to start, is taken only if it takes less than "
    "0.9 of the fastest other way. Where one campaign of a CPU alone says so, what holds on average is taken. Threads "
    "are fewer than the granted cores only where that was faster by more than two standard errors on each of two hosts."
)

_Step = tuple[str, Implementation, str]  # workload, implementation, kind of machine


def made(records: Iterable[Record], host: Callable[[Record], Hashable]) -> Choices:
    """Return the choices from steps in the headline setting; `host` returns a record's host."""
    steps = [
        record
        for record in records
        if record.case.scope == "step"
        and record.profile != "smoke"
        and record.usual(*WAY, "threads")
        and summary(record).complete
    ]
    return Choices(rule=RULE, baselines=tuple(_baselines(steps)), threads=tuple(_threads(steps, host)))


_How = tuple[Implementation, str, Layout]
_JAX: _How = ("jax", "plain", "channels-last")
_Place = tuple[str, str, Backend, _How]  # campaign, workload, backend and way


def _baselines(steps: Sequence[Record]) -> Iterator[Way]:
    """Yield the baseline of each workload and backend: for all machines, then for each kind with another one."""
    for (workload, backend), kinds in sorted(_over_jax(steps).items()):
        compared = {on: ways for on, ways in kinds.items() if len(ways) >= _COMPARED} or kinds
        everywhere = _best(compared.values(), twice=backend == "cpu")
        yield _way(workload, backend, "", everywhere, kinds.values())
        for on, ways in sorted(compared.items()):
            best = _best([ways], twice=False)
            sure = backend == "gpu" or best == _best([ways], twice=True)
            if sure and best != everywhere:
                yield _way(workload, backend, on, best, [ways])


_Ways = Mapping[_How, Mapping[str, float]]  # each way's time over JAX's, by campaign, on the log scale


def _over_jax(steps: Sequence[Record]) -> Mapping[tuple[str, Backend], Mapping[str, _Ways]]:
    """Return by workload and backend, then by kind of machine, each way's time over JAX's in its campaign."""
    fastest: dict[_Place, Record] = {}  # with the faster allocator
    for record in steps:
        case = record.case
        if case.threads is None and (case.implementation != "jax" or case.variant == "plain"):
            how: _How = case.implementation, case.variant, case.layout
            key: _Place = record.campaign, record.workload, case.backend, how
            fastest[key] = min(record, fastest.get(key, record), key=_log)
    ratios: dict[tuple[str, Backend], dict[str, dict[_How, dict[str, float]]]]
    ratios = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (campaign, workload, backend, how), record in fastest.items():
        place: _Place = campaign, workload, backend, _JAX
        jax = fastest.get(place)
        if how[0] != "jax" and jax is not None:
            ratios[workload, backend][_kind(backend, record.machine)][how][campaign] = _log(record) - _log(jax)
    return ratios


def _best(kinds: Iterable[_Ways], twice: bool) -> _How:
    """Return the way that on average loses least to the fastest of its kind of machine.

    A way with a slow start must gain enough; with `twice` it must have been timed in two campaigns.
    """
    kinds, losses = tuple(kinds), defaultdict[_How, list[float]](list)
    campaigns = Counter(how for ways in kinds for how, by_campaign in ways.items() for _ in by_campaign)
    doubtful = {how for how, count in campaigns.items() if twice and how[1] in SLOW_TO_START and count < 2}
    known = campaigns.keys() - doubtful or campaigns.keys()
    for ways in kinds:
        logs = {
            how: fmean(by_campaign.values()) - (math.log(_WORTH) if how[1] in SLOW_TO_START else 0)
            for how, by_campaign in ways.items()
            if how in known
        }
        if not logs:
            continue
        for how, log in logs.items():
            losses[how].append(log - min(logs.values()))
    return min(losses, key=lambda how: (fmean(losses[how]), how))


def _way(workload: str, backend: Backend, on: str, how: _How, kinds: Iterable[_Ways]) -> Way:
    implementation, variant, layout = how
    campaigns = {campaign for ways in kinds for campaign in ways.get(how, ())}
    return Way(
        workload=workload,
        backend=backend,
        on=on,
        implementation=implementation,
        variant=variant,
        layout=layout,
        campaigns=tuple(sorted(campaigns)),
    )


def _threads(steps: Sequence[Record], host: Callable[[Record], Hashable]) -> Iterator[Threads]:
    """Yield the thread counts that are significantly faster than all cores on two hosts each."""
    logs: dict[_Step, dict[Hashable, dict[int | None, list[float]]]]
    logs = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    campaigns: dict[_Step, set[str]] = defaultdict(set)
    for record in steps:
        case = record.case
        if case.backend == "cpu" and case.variant == "plain":
            step = record.workload, case.implementation, _kind("cpu", record.machine)
            logs[step][host(record)][case.threads] += map(math.log, seconds_by_round(record).values())
            campaigns[step] |= {record.campaign} if case.threads is not None else set()
    for (workload, implementation, on), by_host in sorted(logs.items()):
        counts = {count for times in by_host.values() for count in times if count is not None}
        gains = {
            count: [_gain(times[None], times[count]) for times in by_host.values() if {None, count} <= times.keys()]
            for count in counts
        }
        sure = {count: of_hosts for count, of_hosts in gains.items() if sum(ok for _, ok in of_hosts) >= _HOSTS}
        if sure:
            best = max(sure, key=lambda count: fmean(gain for gain, _ in sure[count]))
            named = tuple(sorted(campaigns[workload, implementation, on]))
            yield Threads(workload=workload, on=on, implementation=implementation, threads=best, campaigns=named)


def _gain(every: Sequence[float], fewer: Sequence[float]) -> tuple[float, bool]:
    """Return the gain of fewer threads on the log scale, and whether it exceeds the noise."""
    gain = fmean(every) - fmean(fewer)
    return gain, gain > _SURE * _CPU_SPREAD * math.sqrt(1 / len(every) + 1 / len(fewer))


def _log(record: Record) -> float:
    return fmean(map(math.log, seconds_by_round(record).values()))


def _kind(backend: Backend, machine: Machine) -> str:
    return kind(backend, machine.cores, machine.name)
