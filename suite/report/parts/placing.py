"""One machine's rank among the others: ratios of its steps to theirs, by backend."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from statistics import geometric_mean
from typing import Any

from suite import units
from suite.results.records.record import Record
from suite.results.single import old_jax
from suite.results.single.selection import current_cases, fastest_of_each_case
from suite.results.single.summary import Summary

_NAMES = {"gpu": "GPU", "cpu": "CPU"}
_FEWEST_SHARED = 3  # networks behind a caution


_Own = Mapping[tuple[str, int], Summary]  # one machine's steps by network and batch


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The current headline steps of all machines on one backend."""

    of: Mapping[str, _Own]  # by machine
    _fastest: dict[Any, Sequence[str]] = field(default_factory=dict)

    def rivals(self, slug: str) -> Mapping[str, _Own]:
        """Return the machines to compare with: of those with equal networks and as many cores the fastest other one.

        The order is that of the machines.
        """
        own = self.of.get(slug, {}).keys()
        names = [next((name for name in self._two(alike, own) if name != slug), "") for alike in self._alike]
        return {name: self.of[name] for name in sorted(filter(None, names), key=self._place.__getitem__)}

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.of)}

    @cached_property
    def _alike(self) -> Mapping[tuple[frozenset[tuple[str, int]], int], Sequence[str]]:
        """The machines by what they have timed and their cores."""
        alike: dict[tuple[frozenset[tuple[str, int]], int], list[str]] = defaultdict(list)
        for name, steps in self.of.items():
            alike[frozenset(steps), next(iter(steps.values())).record.machine.cores].append(name)
        return alike

    def _two(self, alike: tuple[frozenset[tuple[str, int]], int], own: Set[tuple[str, int]]) -> Sequence[str]:
        """Return the two fastest of these machines, over the networks that are also one's own."""
        shared = frozenset(alike[0] & own)
        if (alike, shared) not in self._fastest:

            def mean(name: str) -> float:
                times = [item.seconds.value for key in sorted(shared) if (item := self.of[name][key]).seconds]
                return geometric_mean(times) if times else 0.0

            self._fastest[alike, shared] = sorted(self._alike[alike], key=mean)[:2]
        return self._fastest[alike, shared]


def headlines(records: Sequence[Record]) -> dict[str, Steps]:
    """Return the current headline steps by backend, without smoke and without the old JAX that is slow on a CPU."""
    return {backend: _steps(records, backend) for backend in _NAMES}


def sentences(steps: dict[str, Steps], slug: str) -> tuple[str, ...]:
    """Return a sentence for each backend that another machine shares, the GPU first; empty if none does.

    The other machine shares most networks; of equals it is the fastest.
    """
    written = []
    for backend, name in _NAMES.items():
        own, others = steps[backend].of.get(slug, {}), steps[backend].rivals(slug)
        shared = {other: sorted(own.keys() & theirs.keys()) for other, theirs in others.items()}
        if not any(shared.values()):
            continue
        most = max(map(len, shared.values()))
        best = max((o for o in shared if len(shared[o]) == most), key=lambda o: _times(own, others[o], shared[o]))
        ratio, machine = _times(own, others[best], shared[best]), next(iter(others[best].values())).record.machine.name
        over = units.pluralize(len(shared[best]), "network")
        written.append(
            f"A step takes {units.ratio(ratio)} as long on this {name} as on that of {machine}, over {over}. The "
            "machines ran at different times, so this ratio has no interval."
        )
    return (*written, *_fewer_cores(steps["cpu"], slug))


def _fewer_cores(steps: Steps, slug: str) -> Iterator[str]:
    """Yield a caution if these cores gain less than half of their number over another machine's fewer cores."""
    own = steps.of.get(slug, {})
    speeds = []
    for theirs in steps.rivals(slug).values():
        shared = sorted(own.keys() & theirs.keys())
        if len(shared) < max(_FEWEST_SHARED, len(own) // 2):
            continue
        cores, machine = next(iter(own.values())).record.machine.cores, next(iter(theirs.values())).record.machine
        speed = _times(theirs, own, shared)
        if 0 < speed < cores / machine.cores / 2:
            speeds.append((speed * machine.cores, speed, cores, machine, len(shared)))
    for _, speed, cores, machine, number in sorted(speeds, key=lambda one: one[0])[:1]:
        yield (
            f"Careful: these {units.count(cores)} cores are only {units.ratio(speed)} as fast as the "
            f"{units.pluralize(machine.cores, 'core')} of {machine.name} ({units.pluralize(number, 'network')}). "
            "Beside such a CPU a GPU gains less."
        )


def _steps(records: Sequence[Record], backend: str) -> Steps:
    mine = (record for record in records if record.backend == backend and record.headline_step() and record.general)
    chosen = (record for record in mine if record.profile != "smoke" and not old_jax.slow(record))
    by_machine: dict[str, dict[tuple[str, int], Summary]] = {}
    for item in fastest_of_each_case(current_cases(chosen)):
        if item.complete:
            key = item.record.workload, item.record.case.batch
            by_machine.setdefault(item.record.machine.slug, {})[key] = item
    return Steps(of=by_machine)


def _times(own: _Own, theirs: _Own, shared: Sequence[tuple[str, int]]) -> float:
    """Return the geometric mean of this machine's times over the other's; 0 if they share nothing."""
    pairs = [(own[key].seconds, theirs[key].seconds) for key in shared]
    ratios = [here.value / there.value for here, there in pairs if here and there]
    return geometric_mean(ratios) if ratios else 0.0
