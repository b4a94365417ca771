"""The whole grid search: every fit of every point and its score, and the best point trained again on all examples."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import jax
import numpy as np
from msgspec import structs

from suite.measure.jax_program import JaxProgram
from suite.measure.program import Batch
from suite.measure.stacked import StackedProgram
from suite.results.record import Score
from suite.variants import fits_of
from suite.workload import Case, Workload

Stage = Callable[[str, Callable[[], object]], object]  # runs and times a named part


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One training of one point: for so many epochs, on the examples that are not held out."""

    epochs: int
    seed: int
    inside: np.ndarray  # int64[I], numbers of the examples that it trains on
    held: np.ndarray  # int64[H], of those that it is scored by; none for the last training

    def batches(self, epoch: int, batch: int, steps: int) -> np.ndarray:
        """Return the examples of each step of an epoch, int64[T,N], in an order of its own."""
        order = np.random.default_rng([self.seed, epoch]).permutation(self.inside)
        return order[: steps * batch].reshape(steps, batch)


class SearchRun(JaxProgram):
    """The scope `run` of a workload with a grid: `plain` trains one fit after another, `stacked` all of a network.

    An epoch's rest that fills no batch is left out; as documented there is none.
    """

    def __init__(self, workload: Workload, case: Case) -> None:
        super().__init__(workload, case)
        self._last, self._stacked = 0.0, case.variant == "stacked"
        if self._stacked:
            fits_of(workload.description, case.batch, case.devices)

    def loss(self) -> float:
        """Return the last step's loss."""
        return self._last

    def bytes_per_step(self) -> None:
        """Return nothing: the steps are of several networks."""

    def search(self, examples: Batch, seed: int, stage: Stage) -> tuple[Score, ...]:
        """Train and score every fit, then the best point on all examples; return the scores by point."""
        grid = self._workload.description.grid
        assert grid is not None
        found: dict[tuple[tuple[int, ...], int], list[float]] = {}
        for number, hidden in enumerate(grid.hidden):
            fits = self._fits(examples, 1000 * (seed + 1) + number * grid.stack)
            for together in (fits,) if self._stacked else ((fit,) for fit in fits):
                for fit, score in self._trained(hidden, together, examples, stage):
                    found.setdefault((hidden, fit.epochs), []).append(score)
        hidden, epochs = min(found, key=lambda point: fmean(found[point]))
        everything = np.arange(_count(examples))
        last = Fit(epochs=epochs, seed=seed, inside=everything, held=everything[:0])
        list(self._trained(hidden, (last,), examples, stage))
        return tuple(Score(hidden=h, epochs=e, log_losses=tuple(losses)) for (h, e), losses in found.items())

    def initialise(self, seed: int) -> None:
        """Forget the programs of an earlier search."""
        del seed
        self._made: dict[Any, tuple[JaxProgram, Any]] = {}

    def _fits(self, examples: Batch, first_seed: int) -> tuple[Fit, ...]:
        """Return the fits of one network, those with fewer epochs first: each fold held out once by each."""
        grid, everything = self._workload.description.grid, np.arange(_count(examples))
        assert grid is not None
        folds = np.array_split(everything, grid.folds)
        points = [(epochs, fold) for epochs in sorted(grid.epochs) for fold in folds]
        return tuple(
            Fit(
                epochs=epochs * self._case.length,
                seed=first_seed + number,
                inside=np.setdiff1d(everything, fold),
                held=fold,
            )
            for number, (epochs, fold) in enumerate(points)
        )

    def _trained(
        self, hidden: tuple[int, ...], fits: Sequence[Fit], examples: Batch, stage: Stage
    ) -> Iterator[tuple[Fit, float]]:
        """Train fits of a network together; yield each with its score when it has ended."""
        batch, done, state = self._workload.description.batch, 0, None
        steps = min(len(fit.inside) for fit in fits) // batch
        while fits:
            program, evaluate = self._program(hidden, len(fits), examples, stage)
            if state is None:
                stage("init", lambda program=program, fits=fits: _begin(program, [fit.seed for fit in fits]))
            else:
                program._state = state
            for epoch in range(done, min(fit.epochs for fit in fits)):
                rows = np.concatenate([fit.batches(epoch, batch, steps) for fit in fits], axis=1)  # T SN
                stage("epoch", lambda program=program, rows=rows: self._taught(program, rows, examples))
            done = min(fit.epochs for fit in fits)
            if len(fits[0].held):
                scores: list[np.ndarray] = []
                stage(
                    "validation", lambda p=program, e=evaluate, f=fits, s=scores: s.append(_scored(p, e, f, examples))
                )
                yield from ((fit, float(s)) for fit, s in zip(fits, scores[0], strict=True) if fit.epochs == done)
            left = [number for number, fit in enumerate(fits) if fit.epochs > done]
            fits, kept = [fits[number] for number in left], np.array(left)
            state = jax.tree.map(lambda leaf, kept=kept: leaf[kept], program._state) if fits else None

    def _taught(self, program: JaxProgram, rows: np.ndarray, examples: Batch) -> None:
        program.learn({name: array[each] for name, array in examples.items()} for each in rows)
        program.block()
        self._last = program.loss()

    def _program(self, hidden: tuple[int, ...], fits: int, examples: Batch, stage: Stage) -> tuple[JaxProgram, Any]:
        """Return the step of so many fits of a network and what evaluates them, compiled once."""
        alone = not self._stacked or fits == 1
        if (hidden, fits) not in self._made:
            assert self._workload.network is not None
            workload, batch = self._workload.network(hidden), fits * self._workload.description.batch
            workload = replace(workload, description=structs.replace(workload.description, batch=batch // fits))
            case = structs.replace(self._case, scope="step", batch=batch, variant="plain" if alone else "stacked")
            program = (JaxProgram if alone else StackedProgram)(workload, case)
            program.initialise(0)
            program.put([{name: np.resize(array, (batch, *array.shape[1:])) for name, array in examples.items()}])
            stage("lower", program.lower)
            stage("compile", program.compile)
            made: list[Any] = []
            stage("compile_rest", lambda: made.append(program.compiled_evaluation()))
            self._made[hidden, fits] = program, made[0]
        return self._made[hidden, fits]


def _begin(program: JaxProgram, seeds: Sequence[int]) -> None:
    program.begin(seeds) if isinstance(program, StackedProgram) else program.initialise(*seeds)
    jax.block_until_ready(program._state)


def _scored(program: JaxProgram, evaluate: Any, fits: Sequence[Fit], examples: Batch) -> np.ndarray:
    """Return the mean log loss of each fit over what it held out, float64[S]; of whole batches."""
    batch = program._case.batch // len(fits)
    steps = max(1, min(len(fit.held) for fit in fits) // batch)
    rows = np.stack([np.resize(fit.held, (steps, batch)) for fit in fits], axis=1).reshape(steps, -1)  # T SN
    losses = []
    for each in rows:
        given = jax.device_put({name: array[each] for name, array in examples.items()}, program._placement.batch)
        losses.append(evaluate(program._state, given))
    return np.stack([np.atleast_1d(np.asarray(loss, np.float64)) for loss in losses]).mean(0)


def _count(examples: Batch) -> int:
    return len(next(iter(examples.values())))
