"""One machine's rank among the others: ratios of its steps to theirs, by backend."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import geometric_mean
from typing import Any

from suite import units
from suite.case import Backend
from suite.report.parts.kinds import ratio_words
from suite.results.pooled.kinds import headline_steps, jax_versions, mean_ratio
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.speedup import lacking
from suite.results.records.machine import Machine
from suite.results.stats.pooling import Pooled

_NAMES: Mapping[Backend, str] = {"gpu": "GPU", "cpu": "CPU"}
_FEWEST_SHARED = 3  # models behind a caution


_Own = Mapping[str, Pool]  # one machine's headline steps by workload
_Timed = frozenset[tuple[str, int]]  # workloads and the methods of timing


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The headline steps of all machines on one backend, pooled over their hosts."""

    of: Mapping[str, _Own]  # by machine
    _fastest: dict[Any, Sequence[str]] = field(default_factory=dict)

    def rivals(self, slug: str) -> Mapping[str, _Own]:
        """Return the machines to compare with: of those with equal models, methods and cores the fastest other one.

        The order is that of the machines.
        """
        own = _timed(self.of.get(slug, {}))
        names = [next((name for name in self._two(alike, own) if name != slug), "") for alike in self._alike]
        return {name: self.of[name] for name in sorted(filter(None, names), key=self._place.__getitem__)}

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.of)}

    @cached_property
    def _alike(self) -> Mapping[tuple[_Timed, int], Sequence[str]]:
        """The machines by what they have timed, by which method, and their cores."""
        alike: dict[tuple[_Timed, int], list[str]] = defaultdict(list)
        for name, steps in self.of.items():
            alike[_timed(steps), _machine(steps, name).cores].append(name)
        return alike

    def _two(self, alike: tuple[_Timed, int], own: _Timed) -> Sequence[str]:
        """Return the two fastest of these machines, over the models that one timed too by the same method."""
        shared = alike[0] & own
        if (alike, shared) not in self._fastest:

            def mean(name: str) -> float:
                times = [self.of[name][key].pooled.value for key, _ in sorted(shared)]
                return geometric_mean(times) if times else 0.0

            self._fastest[alike, shared] = sorted(self._alike[alike], key=mean)[:2]
        return self._fastest[alike, shared]


def _timed(steps: _Own) -> _Timed:
    return frozenset((name, pool.method) for name, pool in steps.items())


def headlines(current: Found) -> dict[str, Steps]:
    """Return the headline steps by backend."""
    return {backend: Steps(of=dict(sorted(headline_steps(current, backend).items()))) for backend in _NAMES}


@dataclass(frozen=True, kw_only=True)
class Place:
    """One machine among the others, in sentences."""

    caution: str = ""  # that its cores are slow, so that a better CPU would leave the GPU less to gain
    sentences: tuple[str, ...] = ()  # its GPU's and its CPU's steps over those of another machine


def place(steps: Mapping[str, Steps], slug: str) -> Place:
    """Return a machine's place, a sentence for each backend that another machine shares, the GPU first.

    The other machine shares most models; of equals it is the fastest. Where the caution compares the same CPUs it
    says what that sentence would.
    """
    better = _better_cores(steps["cpu"], slug)
    written = []
    for backend, name in _NAMES.items():
        own, others = steps[backend].of.get(slug, {}), steps[backend].rivals(slug)
        shared = {other: _shared(own, theirs) for other, theirs in others.items()}
        if not any(shared.values()):
            continue
        most = max(map(len, shared.values()))
        best = max((o for o in shared if len(shared[o]) == most), key=lambda o: _times(own, others[o], shared[o]))
        if backend == "cpu" and best == better:
            continue
        ratio, machine = _mean(own, others[best], shared[best]), _machine(others[best], best).name
        over = ("the geometric mean of " if most > 1 else "of ") + units.pluralize(most, "model")
        over += _versions(own, others[best], shared[best])
        interval = "" if ratio.low is not None else " Too few hosts are known for an interval."
        written.append(
            f"A step takes {ratio_words(ratio)} as long on this {name} as on that of {machine}: {over}, each side "
            f"pooled over its hosts.{interval}"
        )
    return Place(caution=_caution(steps["cpu"], slug, better) if better else "", sentences=tuple(written))


def _better_cores(steps: Steps, slug: str) -> str:
    """Return the machine of fewer cores over which these gain less than half of their number; '' if there is none."""
    own = steps.of.get(slug, {})
    speeds = []
    for name, theirs in steps.rivals(slug).items():
        shared = _shared(own, theirs)
        if len(shared) < max(_FEWEST_SHARED, len(own) // 2):
            continue
        cores, fewer = _machine(own, slug).cores, _machine(theirs, name).cores
        speed = _times(theirs, own, shared)
        if fewer < cores and speed < cores / fewer / 2:
            speeds.append((speed * fewer, name))
    return min(speeds)[1] if speeds else ""


def _caution(steps: Steps, slug: str, better: str) -> str:
    """Return that these cores are slow beside fewer of a better machine's."""
    own, theirs = steps.of[slug], steps.of[better]
    here, other, shared = _machine(own, slug), _machine(theirs, better), _shared(own, theirs)
    taken, over = _mean(own, theirs, shared), f"the geometric mean of {units.pluralize(len(shared), 'model')}"
    over += _versions(own, theirs, shared)
    these = f"{units.count(here.cores)} {'virtual cores' if here.virtual else 'cores'}"
    those = f"{units.pluralize(other.cores, 'core')} of the {other.processor}"
    doubt = "".join(f" Not to be quoted: {why}." for why in tuple(lacking(taken))[:1])
    if taken.value >= 1:
        return (
            f"A step takes {ratio_words(taken)} as long on these {these} as on {those}: {over}. Against those the GPU "
            f"gains less.{doubt}"
        )
    return (
        f"These {these} are {ratio_words(taken.per(1))} as fast as {those}: {over}. Against "
        f"{units.count(here.cores)} of those cores the GPU would gain less.{doubt}"
    )


def _versions(own: _Own, theirs: _Own, shared: Sequence[str]) -> str:
    """Return the versions of JAX of two machines, for the end of a phrase; '' if they are the same."""
    here, there = (jax_versions(side[name] for name in shared) for side in (own, theirs))
    return f", JAX {here} against {there}" if here != there else ""


def _machine(steps: _Own, slug: str) -> Machine:
    """Return the machine of this name: a pool of a CPU may have records of several."""
    pool = next(iter(steps.values()))
    return next(record.machine for record in reversed(pool.records) if record.machine.slug == slug)


def _shared(own: _Own, theirs: _Own) -> Sequence[str]:
    """Return the models that both timed by one method, without those for which they share a pool."""
    both = ((name, own[name], theirs[name]) for name in sorted(own.keys() & theirs.keys()))
    return [name for name, one, other in both if one is not other and one.method == other.method]


def _times(own: _Own, theirs: _Own, shared: Sequence[str]) -> float:
    """Return the geometric mean of this machine's times over the other's; 0 if they share nothing."""
    ratios = [own[name].pooled.value / theirs[name].pooled.value for name in shared]
    return geometric_mean(ratios) if ratios else 0.0


def _mean(own: _Own, theirs: _Own, shared: Sequence[str]) -> Pooled:
    return mean_ratio((own[name], theirs[name]) for name in shared)
