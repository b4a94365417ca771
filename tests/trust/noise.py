"""Six worlds of noise between processes: logarithms of times, and what their true centre is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

SPREAD = 0.02  # of the logarithms of processes, where a world has one spread
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class World:
    """`draw` gives the logarithms of both sides' times, float[tables, rounds], each of mean 0 over all processes."""

    name: str
    draw: Draw
    skewed: bool = False  # one side alone; the ratio of two like sides never is
    linked: bool = False  # rounds depend on each other


def _lognormal(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(0, SPREAD, size), rng.normal(0, SPREAD, size)


def _heavy(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return SPREAD * rng.standard_t(4, size), SPREAD * rng.standard_t(4, size)


def _skewed(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return SPREAD * (rng.gamma(2, 1, size) - 2), SPREAD * (rng.gamma(2, 1, size) - 2)


def _drift(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    shared = np.empty(size)  # an autoregression of order 1 in its stationary state, which both sides of a round share
    shared[:, 0] = rng.normal(0, 1, size[0])
    for number in range(1, size[1]):
        shared[:, number] = 0.9 * shared[:, number - 1] + np.sqrt(1 - 0.9**2) * rng.normal(0, 1, size[0])
    one, other = _lognormal(rng, size)
    return 0.1 * shared + one, 0.1 * shared + other


def _bimodal(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    def side() -> np.ndarray:
        return rng.choice((-0.03, 0.03), size) + rng.normal(0, 0.01, size)

    return side(), side()


def _unlike(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(0, 0.05, size), rng.normal(0, 0.005, size)


WORLDS = (
    World(name="log-normal processes", draw=_lognormal),
    World(name="heavy tails", draw=_heavy),
    World(name="skewed to the slow side", draw=_skewed, skewed=True),
    World(name="drift from round to round", draw=_drift, linked=True),
    World(name="two states of the machine", draw=_bimodal),
    World(name="one side ten times as noisy", draw=_unlike),
)


def tables(world: World, rounds: int, count: int, seed: int) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    """Yield the times of both sides, one a process; the true ratio and both true times are 1."""
    rng = np.random.default_rng((seed, rounds, WORLDS.index(world)))
    for one, other in zip(*map(np.exp, world.draw(rng, (count, rounds))), strict=True):
        yield one.tolist(), other.tolist()


def spread_over_cores(work: Callable, jobs: Sequence, processes: int | None = None) -> list:
    """Return the work's answers in the order of the jobs, from processes of their own."""
    if processes == 1:
        return [work(job) for job in jobs]
    with get_context("spawn").Pool(processes) as pool:
        return pool.map(work, jobs, chunksize=1)
