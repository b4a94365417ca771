"""The whole search trains every point on every fold, stacked as one after another, and the best point once more."""

from dataclasses import replace

import jax
import msgspec
import numpy as np
import pytest
import synthetic

from suite.experiments import headline
from suite.inquiry.here import Here
from suite.measure.search import SearchRun, picking
from suite.models import mnist_grid_search
from suite.results.record import Score
from suite.workload import Case, Grid

GRID = Grid(hidden=((4,),), epochs=(1, 2), folds=2)
ABOUT = msgspec.structs.replace(mnist_grid_search.WORKLOAD.description, grid=GRID, batch=4)
WORKLOAD = replace(mnist_grid_search.WORKLOAD, description=ABOUT)


def examples(count=24):
    rng = np.random.default_rng(0)
    prototypes, labels = rng.integers(0, 256, (10, 28, 28, 1)), rng.integers(0, 10, count)
    noisy = prototypes[labels] + rng.normal(0, 20, (count, 28, 28, 1))
    return synthetic.pictured(WORKLOAD.preparation, noisy.clip(0, 255).astype(np.uint8), labels)


class Searched:
    """A search that has been made: its scores and stages, and the rows of every epoch."""

    def __init__(self, variant, batch, shrinks=True):
        case = Case(workload="mnist_grid_search", backend="cpu", scope="run", batch=batch, variant=variant)
        self.names: list[str] = []
        self.rows: list[np.ndarray] = []
        run = SearchRun(WORKLOAD, case)
        assert run._shrinks  # on the CPU
        run._shrinks = shrinks
        run.initialise(0)
        taught = run._taught
        run._taught = lambda program, rows, given: (self.rows.append(rows), taught(program, rows, given))  # pyright: ignore
        self.scores = run.search(examples(), 0, self.stage)
        self.loss = run.loss()
        self.settings = run.settings()

    def stage(self, name, part):
        self.names.append(name)
        return part()


@pytest.fixture(scope="module")
def alone():
    return Searched("plain", 4)


@pytest.fixture(scope="module")
def together():
    return Searched("stacked", 16)


def test_every_point_is_scored_on_every_fold(alone):
    assert [(score.hidden, score.epochs, len(score.log_losses)) for score in alone.scores] == [
        ((4,), 1, 2),
        ((4,), 2, 2),
    ]
    assert len({loss for score in alone.scores for loss in score.log_losses}) == 4
    assert all(0 < loss < 3 for score in alone.scores for loss in score.log_losses)


def test_one_fit_after_another_and_stacked_come_to_the_same_scores(alone, together):
    for one, other in zip(alone.scores, together.scores, strict=True):
        assert (one.hidden, one.epochs) == (other.hidden, other.epochs)
        assert one.log_losses == pytest.approx(other.log_losses, rel=1e-4)
    assert alone.loss == pytest.approx(together.loss, rel=1e-3)


def test_fits_that_have_ended_and_ride_along_change_no_score_and_need_no_other_program(together):
    riding = Searched("stacked", 16, shrinks=False)
    for one, other in zip(together.scores, riding.scores, strict=True):
        assert one.log_losses == pytest.approx(other.log_losses, rel=1e-4)
    assert {rows.shape for rows in riding.rows[:2]} == {(3, 16)}
    assert together.names.count("compile") == 3  # of four fits, of two, and of the last alone
    assert riding.names.count("compile") == 2


def test_a_step_is_handed_the_numbers_of_its_examples_and_takes_these():
    def seen(state, batch):
        return state, batch

    given = {"images": jax.numpy.arange(10.0), "labels": jax.numpy.arange(10, 20), "rows": np.array([7, 0, 7])}
    _, batch = picking(seen)((), given)
    assert {name: array.tolist() for name, array in batch.items()} == {"images": [7, 0, 7], "labels": [17, 10, 17]}


def test_a_search_says_what_it_ran_with(alone, together):
    assert alone.settings == together.settings
    assert not alone.settings["jax_weights_constant"]
    assert alone.settings["jax_devices"] == 1


def test_a_stack_has_fewer_epochs_and_the_best_point_is_trained_once_more(alone, together):
    best = min(alone.scores, key=lambda score: np.mean(score.log_losses)).epochs
    assert alone.names.count("epoch") == 2 * (1 + 2) + best
    assert together.names.count("epoch") == 2 + best
    assert [rows.shape for rows in together.rows[:2]] == [
        (3, 16),
        (3, 8),
    ]  # steps, and examples of four fits and of two
    assert [rows.shape for rows in alone.rows] == [(3, 4)] * 6 + [(6, 4)] * best


def test_no_fit_trains_on_what_it_is_scored_by_and_each_epoch_has_every_other_example_once(alone):
    first, second = set(range(12)), set(range(12, 24))
    seen = [set(rows.ravel().tolist()) for rows in alone.rows[:6]]
    assert seen == [second, first, second, second, first, first]
    assert len({rows.tobytes() for rows in alone.rows}) == len(alone.rows)


def test_scores_stand_in_a_record_as_they_were_found(alone):
    assert msgspec.json.decode(msgspec.json.encode(alone.scores), type=tuple[Score, ...]) == alone.scores


def test_a_search_is_asked_for_one_after_another_or_stacked():
    found = headline.cases([mnist_grid_search.WORKLOAD.description], Here(backends=("cpu",), cores=2), scopes=("run",),
                           variants=("plain", "stacked", "resident"))  # fmt: skip
    assert [(case.variant, case.batch) for case in found] == [("plain", 32), ("stacked", 192)]
