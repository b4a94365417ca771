"""The whole grid search: every fit of every point with its score, and the best point trained on all examples."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from statistics import fmean
from typing import Any

import jax
import numpy as np
from msgspec import structs

from suite.case import Case
from suite.data.batches import count
from suite.programs.jax import lowered_digest
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.sharding import Shardings, put, shardings
from suite.programs.jax.stacked import StackedProgram
from suite.results.records.run import Score
from suite.variants import fits_of
from suite.worker_api.program import Batch
from suite.workload import Workload

Stage = Callable[[str, Callable[[], Any]], Any]  # runs and times a named stage, and returns its result
Examples = dict[str, Any]  # of the whole data set, on the device

_ROWS = "rows"  # of a batch: the indices of its examples


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One training of one point, for some epochs, on the examples that are not held out."""

    epochs: int
    seed: int
    inside: np.ndarray  # int64[I], indices of its training examples
    held: np.ndarray  # int64[H], indices of those that score it; none for the last training

    def batches(self, epoch: int, batch: int, steps: int) -> np.ndarray:
        """Return the indices of each step of an epoch, int64[T,N], in the epoch's own order."""
        order = np.random.default_rng([self.seed, epoch]).permutation(self.inside)
        return order[: steps * batch].reshape(steps, batch)


class SearchRun(JaxProgram):
    """Scope `run` of a workload with a grid: `plain` trains the fits in turn, `stacked` all of a network at once.

    All examples lie on the device, and a step takes the indices of its own: the question is what stacking gains, and on
    a GPU the copies of small batches cost more than their steps. A rest of an epoch that fills no batch is dropped; the
    documented sizes leave none.

    Several devices share the fits, and each holds all examples. If the fits do not divide, some run twice. The last
    training is one fit on the first device.
    """

    def __init__(self, workload: Workload, case: Case) -> None:
        super().__init__(workload, case)
        self._last, self._stacked = 0.0, case.variant == "stacked"
        self.initialise(0)
        self._shrinks = case.backend == "cpu"  # on a GPU another program takes longer to compile than it saves
        if self._stacked:
            fits_of(workload.description, case.batch, case.devices)

    def loss(self) -> float:
        """Return the last step's loss."""
        return self._last

    def bytes_per_step(self) -> None:
        """Return None: the steps belong to several networks."""

    def search(self, examples: Batch, seed: int, stage: Stage) -> tuple[Score, ...]:
        """Train and score every fit, then train the best point on all examples; return the scores by point."""
        grid = self._workload.description.grid
        assert grid is not None
        on_device: Examples = stage("init", lambda: _copied(examples, self._shardings))
        losses_by_point: dict[tuple[tuple[int, ...], int], list[float]] = {}
        for number, hidden in enumerate(grid.hidden):
            fits = self._fits(on_device, 1000 * (seed + 1) + number * grid.stack)
            for together in (fits,) if self._stacked else ((fit,) for fit in fits):
                for fit, score in self._trained(hidden, together, on_device, stage):
                    losses_by_point.setdefault((hidden, fit.epochs), []).append(score)
        self._searched = len(self._made)
        hidden, epochs = min(losses_by_point, key=lambda point: fmean(losses_by_point[point]))
        everything = np.arange(count(on_device))
        last = Fit(epochs=epochs, seed=seed, inside=everything, held=everything[:0])
        if len(self._shardings.devices) > 1:
            on_device = stage("init", partial(_copied, on_device, shardings(_alone(self._case))))
        list(self._trained(hidden, (last,), on_device, stage))
        return tuple(Score(hidden=h, epochs=e, log_losses=tuple(losses)) for (h, e), losses in losses_by_point.items())

    def initialise(self, seed: int) -> None:
        """Forget the programs of an earlier search."""
        del seed
        self._made: dict[Any, tuple[JaxProgram, Any]] = {}
        self._searched: int | None = None  # of these; the others serve the best point alone
        self._lowered_evaluations: list[jax.stages.Lowered] = []

    def lowered_texts(self) -> tuple[str, ...]:
        """Return the texts of each network's step and evaluation, without the best point's: it depends on the seed."""
        programs = list(self._made.values())[: self._searched]
        steps = (text for program, _ in programs for text in program.lowered_texts())
        return *steps, *map(lowered_digest.text_of, self._lowered_evaluations[: self._searched])

    def _fits(self, examples: Examples, first_seed: int) -> tuple[Fit, ...]:
        """Return the fits of one network, fewest epochs first; each holds out another fold."""
        grid, everything = self._workload.description.grid, np.arange(count(examples))
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
        self, hidden: tuple[int, ...], fits: Sequence[Fit], examples: Examples, stage: Stage
    ) -> Iterator[tuple[Fit, float]]:
        """Train the fits of a network together; yield each with its score when it has ended."""
        batch, done, state = self._workload.description.batch, 0, None
        steps = min(len(fit.inside) for fit in fits) // batch
        fits = self._shared(fits)
        while going := [number for number, fit in enumerate(fits) if fit.epochs > done]:
            if state is not None and self._shrinks:
                kept = np.array(self._shared(going))
                fits = [fits[number] for number in kept]
                state = jax.tree.map(lambda leaf, kept=kept: leaf[kept], state)
            program, evaluate = self._program(hidden, len(fits), examples, stage)
            if state is None:
                stage("init", lambda program=program, fits=fits: _begin(program, [fit.seed for fit in fits]))
            else:
                program._state = put(state, program._shardings.state)
            until = min(fit.epochs for fit in fits if fit.epochs > done)
            for epoch in range(done, until):
                rows = np.concatenate([fit.batches(epoch, batch, steps) for fit in fits], axis=1)  # T SN
                stage("epoch", lambda program=program, rows=rows: self._train_epoch(program, rows, examples))
            done, state = until, program._state
            if len(fits[0].held):
                scores = stage("validation", lambda p=program, e=evaluate, f=fits: _scored(p, e, f, examples))
                each = zip(fits, scores, strict=True)
                yield from {fit.seed: (fit, float(score)) for fit, score in each if fit.epochs == done}.values()

    def _shared(self, parts: Sequence[Any]) -> Sequence[Any]:
        """Return a stack's fits, the first ones repeated until they divide over the devices."""
        short = -len(parts) % len(self._shardings.devices)
        return [*parts, *islice(cycle(parts), short)] if len(parts) > 1 else parts

    def _train_epoch(self, program: JaxProgram, rows: np.ndarray, examples: Examples) -> None:
        program.learn(examples | {_ROWS: each} for each in rows.astype(np.int32))
        program.block()
        self._last = program.loss()

    def _program(self, hidden: tuple[int, ...], fits: int, examples: Examples, stage: Stage) -> tuple[JaxProgram, Any]:
        """Return the step of so many fits of a network and its evaluation, each compiled once."""
        alone = not self._stacked or fits == 1
        if (hidden, fits) not in self._made:
            assert self._workload.network is not None
            workload, batch = self._workload.network(hidden), fits * self._workload.description.batch
            workload = replace(workload, description=structs.replace(workload.description, batch=batch // fits))
            case = _alone(self._case) if alone else self._case
            case = structs.replace(case, scope="step", batch=batch)
            program = (JaxProgram if alone else StackedProgram)(workload, case)
            program.initialise(0)
            program.put([examples | {_ROWS: np.zeros(batch, np.int32)}])
            program._step = picking(program._step)
            stage("lower", program.lower)
            stage("compile", program.compile)
            lowered, evaluate = stage("compile_rest", lambda: _evaluating(program))
            self._lowered_evaluations.append(lowered)
            self._made[hidden, fits] = program, evaluate
        return self._made[hidden, fits]


def picking(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return run(state, batch) for a batch with all examples and, as `rows` int32[N], the indices of its own."""

    def picked(state: Any, batch: dict[str, jax.Array]) -> Any:
        return run(state, {name: array[batch[_ROWS]] for name, array in batch.items() if name != _ROWS})

    return picked


def _evaluating(program: JaxProgram) -> tuple[Any, Any]:
    """Return the evaluation, lowered and compiled."""
    step = picking(program.evaluation())
    lowered = program.trace(step, program._batches[0], donate=False).lower()
    return lowered, lowered.compile(program._options())


def _begin(program: JaxProgram, seeds: Sequence[int]) -> None:
    program.begin(seeds) if isinstance(program, StackedProgram) else program.initialise(*seeds)
    jax.block_until_ready(program._state)


def _scored(program: JaxProgram, evaluate: Any, fits: Sequence[Fit], examples: Examples) -> np.ndarray:
    """Return the mean log loss of each fit over its held-out examples, float64[S], in whole batches."""
    batch = program._case.batch // len(fits)
    steps = max(1, min(len(fit.held) for fit in fits) // batch)
    rows = np.stack([np.resize(fit.held, (steps, batch)) for fit in fits], axis=1).reshape(steps, -1)  # T SN
    losses = [evaluate(program._state, program._host_batch(examples | {_ROWS: each})) for each in rows.astype(np.int32)]
    return np.stack([np.atleast_1d(np.asarray(loss, np.float64)) for loss in losses]).mean(0)


def _alone(case: Case) -> Case:
    """Return the case of one fit of the same search."""
    return structs.replace(case, variant="plain", devices=1)


def _copied(examples: Any, place: Shardings) -> Any:
    return jax.block_until_ready(put(examples, place.state))
