"""Worlds of hosts: logarithms of times that differ by host, by day and by process, around a true centre of 0."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from suite.results.stats.variance_components import Cell, Components, borrowed, components, unlikeness

TAU, SIGMA = 0.09, 0.105  # of hosts and of processes: the steps of the H100's CPUs
TWO_ROUNDS = 0.2  # of the hosts have two rounds, the others one
SIZES = (1, 1, 2, 2, 3, 3, 6, 6, 10, 10)  # hosts of each cell
SLOW_SHARE, SLOWER = 0.2, math.log(1.25)  # of hosts in two kinds

Shape = Callable[[np.random.Generator, int], np.ndarray]  # so many values of mean 0 and standard deviation 1


def normal(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return values of a normal distribution."""
    return rng.normal(0, 1, count)


def heavy(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return values of Student's t distribution with 4 degrees of freedom, scaled to a variance of 1."""
    return rng.standard_t(4, count) / math.sqrt(2)


def two_kinds(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return what makes a fifth of hosts 25 % slower than the others, which differ by 3 %."""
    slow = SLOWER * ((rng.random(count) < SLOW_SHARE) - SLOW_SHARE)
    return (slow + rng.normal(0, 0.03, count)) / TAU


@dataclass(frozen=True, kw_only=True)
class World:
    """Cells of one kind of machine, and what their hosts and processes are like."""

    name: str
    sizes: Sequence[int] = SIZES
    hosts: Shape = normal
    processes: Shape = normal
    tau: float = TAU
    sigma: float = SIGMA
    common: float = 0.0  # share of a host's variance that is the same in all cells, which then share hosts
    there: int = 0  # hosts of the kind that cells share; 0: as many as the largest cell has
    days: float = 0.0  # by how much days of a host differ; hosts with two campaigns then have two rounds in each
    drift: float = 0.0  # by which all hosts rise from the first campaign to a further one after the last
    off: bool = False  # the hosts of the last cell differ ten times as much
    lent: float = 0.0  # tau of the three kinds of ten cells from which a kind with few cells borrows
    unlike: float = 0.0  # standard deviation of log(tau) between kinds
    beside: float = 0.0  # correlation of a host's effects on JAX and a baseline; cells are ratios of the two by round


WORLDS = (
    World(name="normal"),
    World(name="heavy tails of hosts and processes", hosts=heavy, processes=heavy),
    World(name="a fifth of the hosts 25 % slower", hosts=two_kinds),
    World(name="days of a host differ by 4 %", days=0.04),
    World(name="all hosts drift by 10 %", drift=0.1),
    World(name="hosts do not differ", tau=0.0),
    World(name="processes do not differ", sigma=0.0),
    World(name="40 cells of 1 to 10 hosts", sizes=(1,) * 12 + (2,) * 12 + (3,) * 8 + (6,) * 4 + (10,) * 4),
    World(name="one cell's hosts ten times as far apart", off=True),
    World(name="20 cells share 2 hosts", sizes=(2,) * 20, common=0.75),
    World(name="20 cells share 3 hosts", sizes=(3,) * 20, common=0.75),
    World(name="20 cells share 6 hosts", sizes=(6,) * 20, common=0.75),
    World(name="20 cells share 3 hosts, equally fast in all", sizes=(3,) * 20, common=1.0, sigma=0.03),
    World(name="20 cells of 3 of 10 hosts, equally fast in all", sizes=(3,) * 20, common=1.0, sigma=0.03, there=10),
    World(name="three cells of three hosts", sizes=(3, 3, 3)),
    World(name="few cells borrow the spread of like kinds", sizes=(1, 2, 3), lent=TAU),
    World(name="few cells borrow the spread of kinds whose hosts differ half as much", sizes=(1, 2, 3), lent=TAU / 2),
    World(name="few cells borrow the spread of kinds that differ in it", sizes=(1, 2, 3), lent=TAU, unlike=math.log(2)),
    World(name="baselines over JAX, by host", sizes=(1, 2, 3, 6), common=0.75, beside=0.75),
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Cells of one kind of machine, and for each a further campaign of one round on a further host."""

    cells: Sequence[Cell]
    names: Sequence[Sequence[int]]  # of each cell's hosts
    further: Sequence[float]

    @property
    def among(self) -> Components:
        """How much its hosts and processes differ, as estimated."""
        return components(self.cells, self.names)


def drawn(world: World, rng: np.random.Generator) -> Kind:
    """Return cells of a world; the true time of each is 1, or the true ratio."""
    tau = world.tau * math.exp(world.unlike * rng.normal())
    there = world.there or max(world.sizes)
    common, cells, names, further = world.hosts(rng, there), [], [], []
    for place, size in enumerate(world.sizes):
        mine = rng.permutation(there)[:size]
        wide = 10 if world.off and place == len(world.sizes) - 1 else 1
        own = math.sqrt(1 - world.common) * world.hosts(rng, size + 1)
        effects = wide * tau * (own + math.sqrt(world.common) * np.append(common[mine], world.hosts(rng, 1)))
        times = np.append(rng.random(size), 1.0)
        effects += world.drift * (times - 0.5)
        twice = np.append(rng.random(size) < TWO_ROUNDS, False)
        logs = _processes(world, effects, twice, rng)
        for values in _over(world, logs, effects, twice, rng) if world.beside else [logs]:
            cells.append([np.exp(host).tolist() for host in values[:-1]])
            further.append(math.exp(values[-1][0]))
            # Hosts that no two cells share have names of their own.
            names.append([int(host) if world.common else there * place + int(host) for host in mine])
    return Kind(cells=cells, names=names, further=further)


def _processes(world: World, effects: np.ndarray, twice: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the logarithms of each host's processes: of one round, of two, or of two on each of two days."""
    found = []
    for effect, again in zip(effects, twice, strict=True):
        days = world.days * rng.normal(0, 1, 2 if again else 1)
        rounds = np.repeat(days, 2) if world.days and again else np.repeat(days[:1], 2 if again else 1)
        found.append(effect + rounds + world.sigma * world.processes(rng, len(rounds)))
    return found


def _over(
    world: World, logs: Sequence[np.ndarray], effects: np.ndarray, twice: np.ndarray, rng: np.random.Generator
) -> Iterator[list[np.ndarray]]:
    """Yield two baselines' logarithms over JAX's, which were measured in the same rounds of the same hosts."""
    for _ in range(2):
        own = math.sqrt(1 - world.beside**2) * world.tau * world.hosts(rng, len(effects))
        theirs = _processes(world, world.beside * effects + own, twice, rng)
        yield [one - other for one, other in zip(theirs, logs, strict=True)]


def known(world: World, kind: Kind, rng: np.random.Generator) -> Components:
    """Return the components by which a kind's cells are judged: its own, or borrowed of other kinds."""
    own = kind.among
    if not world.lent:
        return own
    lender = replace(world, tau=world.lent, sizes=SIZES)
    others = [drawn(lender, rng).among for _ in range(3)]
    return borrowed(own, others, unlikeness([[own, *others]]))
