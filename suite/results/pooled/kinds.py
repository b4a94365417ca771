"""Every kind of GPU against every kind of CPU that was timed: CPU time over GPU time of one step.

The sides may be of two machines. Each is pooled over the hosts of its kind, so a ratio needs no common campaign.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import msgspec

from suite.case import Backend, Case
from suite.results.pooled.grouping import kind_of
from suite.results.pooled.kernel_time import too_short
from suite.results.pooled.pools import FEWEST_HOSTS, Found, Pool
from suite.results.pooled.speedup import behind, lacking, state_of
from suite.results.pooled.ways import Way, certificate, doubts, fewer_cores, slow_cpu, ways
from suite.results.records.machine import Machine
from suite.results.stats import pooling
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import State

FEWEST_MODELS = 5  # in common, of a mean over models
_Group = TypeVar("_Group", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of CPU or GPU, with the pool of each model's headline step."""

    backend: Backend
    steps: Mapping[str, Pool]  # by workload
    ways: Mapping[str, Sequence[Way]] = field(default_factory=dict)  # of a CPU, other ways of each step
    slow: Mapping[str, str] = field(default_factory=dict)  # of a CPU, for each step as `slow_cpu` says it

    @cached_property
    def machine(self) -> Machine:
        """The machine of its newest record; of a CPU's several machines one with a GPU."""
        newest = (pool.newest for pool in self.steps.values())
        return max(newest, key=lambda record: (bool(record.machine.gpus), record.created)).machine

    @property
    def hosts(self) -> int:
        """The fewest hosts of a model."""
        return min(pool.hosts for pool in self.steps.values())


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A kind of CPU beside another kind: its times over the other's, over the models that both timed."""

    cpu: Kind
    other: Kind

    @cached_property
    def by_workload(self) -> Mapping[str, Pooled]:
        """The ratio of each model that both timed."""
        return {name: self.cpu.steps[name].over(self.other.steps[name]) for name in self._common}

    @cached_property
    def mean(self) -> Pooled:
        """The geometric mean of the ratios."""
        return mean_ratio((self.cpu.steps[name], self.other.steps[name]) for name in self._common)

    def standing(self, workload: str = "") -> tuple[State, Sequence[str]]:
        """Return the state of a model's ratio and its reasons; without a model those of the mean."""
        if workload:
            ways = self.cpu.ways.get(workload, ())
            reasons = (*doubts(ways), *lacking(self.by_workload[workload]))
            return state_of(reasons, certificate=certificate(ways)), reasons
        reasons = (*lacking(self.mean), *behind(self.standing(name)[0] == "quotable" for name in self._common))
        return state_of(reasons), reasons

    @property
    def one_machine(self) -> bool:
        """Whether a machine has both."""
        return any(self.cpu.steps[name].machines & self.other.steps[name].machines for name in self._common)

    def versions(self, *names: str) -> tuple[str, str]:
        """Return the versions of JAX of both sides, of these models or of all, several separated by commas."""
        cpu, other = (jax_versions(side.steps[n] for n in names or self._common) for side in (self.cpu, self.other))
        return cpu, other

    @property
    def enough(self) -> bool:
        """Whether both timed enough models for a mean."""
        return len(self._common) >= FEWEST_MODELS

    @cached_property
    def _common(self) -> Sequence[str]:
        """The models that both timed by one method."""
        both = sorted(self.cpu.steps.keys() & self.other.steps.keys())
        return [name for name in both if self.cpu.steps[name].method == self.other.steps[name].method]


def kinds(current: Found, backend: Backend) -> tuple[Kind, ...]:
    """Return the kinds of CPU or GPU with a headline step, those with most models first.

    A GPU's kind is its card, whatever its host. Of the pools of one model the one with enough hosts counts, of equals
    the allocator of the headline, then the newest. Steps that take less time than their kernels are left out.
    """
    steps = _chosen(current, backend, lambda machine, pool: _kind_of(pool, backend))
    ways_of, same = ways(current), defaultdict[Case, list[Pool]](list)
    for (_, case), pool in current.items():
        same[case].append(pool)

    def others(pool: Pool) -> Sequence[Way]:
        machine = min(name for name in pool.machines if current.get((name, pool.case)) is pool)
        return ways_of(machine, pool)

    def kind(each: Mapping[str, Pool]) -> Kind:
        if backend == "gpu":
            return Kind(backend=backend, steps=each)
        slow = {name: slow_cpu(pool, fewer_cores(pool, same[pool.case])) for name, pool in each.items()}
        return Kind(backend=backend, steps=each, ways={name: others(pool) for name, pool in each.items()}, slow=slow)

    return tuple(sorted(map(kind, steps.values()), key=lambda kind: (-len(kind.steps), -kind.hosts, kind.machine.slug)))


def headline_steps(current: Found, backend: Backend) -> Mapping[str, Mapping[str, Pool]]:
    """Return each machine's pools of headline steps by workload, chosen as those of a kind are."""
    return _chosen(current, backend, lambda machine, pool: machine)


def mean_ratio(sides: Iterable[tuple[Pool, Pool]]) -> Pooled:
    """Return the geometric mean of the first pools' times over the second's."""
    both = list(sides)
    mean = pooling.mean_ratio([((one.cell, one.among), (other.cell, other.among)) for one, other in both])
    return msgspec.structs.replace(mean, outdated=any(one.outdated or other.outdated for one, other in both))


def pairs(current: Found) -> tuple[Pair, ...]:
    """Return each kind of CPU with each kind of GPU, if they have enough models in common."""
    gpus = kinds(current, "gpu")
    each = (Pair(cpu=cpu, other=gpu) for cpu in kinds(current, "cpu") for gpu in gpus)
    return tuple(pair for pair in each if pair.enough)


def against_fewer_cores(current: Found) -> Pair | None:
    """Return the CPU of a GPU's host beside the fastest CPU with fewer cores; None without one.

    The host is the one with most models.
    """
    cpus = kinds(current, "cpu")
    host = next((kind for kind in cpus if kind.machine.gpus), None)
    if host is None:
        return None
    fewer = (Pair(cpu=host, other=kind) for kind in cpus if kind.machine.cores < host.machine.cores)
    return max((pair for pair in fewer if pair.enough), key=lambda pair: pair.mean.value, default=None)


def _chosen(
    current: Found, backend: Backend, group_of: Callable[[str, Pool], _Group]
) -> Mapping[_Group, Mapping[str, Pool]]:
    """Return the best evidenced pool of each model's headline step in each group."""
    steps: dict[_Group, dict[str, Pool]] = defaultdict(dict)
    for machine, pool in _headline(current, backend):
        if too_short(machine, pool, current):
            continue
        group = steps[group_of(machine, pool)]
        other = group.get(pool.case.workload)
        if other is None or _rank(pool) > _rank(other):
            group[pool.case.workload] = pool
    return steps


def _headline(current: Found, backend: Backend) -> Iterator[tuple[str, Pool]]:
    for (machine, case), pool in current.items():
        about = pool.newest.description
        usual = case.backend == backend and case == msgspec.structs.replace(case, data=about.data).timed
        if usual and about.documented and pool.headline_step():
            yield machine, pool


def jax_versions(pools: Iterable[Pool]) -> str:
    """Return the versions of JAX of these pools, several separated by commas."""
    return ", ".join(sorted({pool.newest.software.packages.get("jax", "") for pool in pools} - {""}))


def _kind_of(pool: Pool, backend: Backend) -> Hashable:
    machine = pool.newest.machine
    if backend == "cpu":
        return kind_of(machine, backend)
    return tuple((gpu.name, gpu.slice, gpu.power_limit_watts) for gpu in machine.gpus[:1])


def _rank(pool: Pool) -> tuple[int, bool, str]:
    return min(pool.hosts, FEWEST_HOSTS), pool.case.allocator == "tuned-malloc", pool.newest.created
