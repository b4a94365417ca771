"""The whole search trains every point on every fold, stacked as one after another, and the best point once more."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import msgspec
import numpy as np
import pytest
import synthetic

from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.models import mnist_grid_search
from suite.programs.jax.grid_search import SearchRun, picking
from suite.results.records.run import Score
from suite.workload import Grid

HERE = Path(__file__).parent
GRID = Grid(hidden=((4,),), epochs=(1, 2), folds=2)
ABOUT = msgspec.structs.replace(mnist_grid_search.WORKLOAD.description, grid=GRID, batch=4)
WORKLOAD = replace(mnist_grid_search.WORKLOAD, description=ABOUT)


def examples(count=24):
    rng = np.random.default_rng(0)
    prototypes, labels = rng.integers(0, 256, (10, 28, 28, 1)), rng.integers(0, 10, count)
    noisy = prototypes[labels] + rng.normal(0, 20, (count, 28, 28, 1))
    return synthetic.pictured(WORKLOAD.preparation, noisy.clip(0, 255).astype(np.uint8), labels)


class Searched:
    """A search that has been made: its scores and stages, the rows of every epoch, and what evaluations were handed."""

    def __init__(self, variant, batch, shrinks=True, seed=0, devices=1):
        case = Case(
            workload="mnist_grid_search", backend="cpu", scope="run", batch=batch, variant=variant, devices=devices
        )
        self.names: list[str] = []
        self.rows: list[np.ndarray] = []
        self.starts: list[bytes] = []  # the values that each epoch starts from
        self.scored: list[np.ndarray] = []
        self.losses: list[np.ndarray] = []  # of each evaluation
        self.programs = {}  # by how many devices hold their state
        run = SearchRun(WORKLOAD, case)
        assert run._shrinks  # on the CPU
        run._shrinks = shrinks
        run.initialise(0)
        self.taught, self.made = run._train_epoch, run._program
        run._train_epoch, run._program = self.teach, self.make
        self.scores = run.search(examples(), seed, self.stage)
        self.loss = run.loss()
        self.settings = run.settings()
        self.run = run

    def teach(self, program, rows, there):
        self.rows.append(rows)
        self.programs[len(program._state[0].sharding.device_set)] = program._compiled
        self.starts.append(b"".join(np.asarray(leaf).tobytes() for leaf in program._state if leaf.dtype == np.float32))
        self.taught(program, rows, there)

    def make(self, *given):
        program, evaluate = self.made(*given)

        def noted(state, batch):
            self.scored.append(batch["rows"])
            self.losses.append(np.asarray(evaluate(state, batch)))
            return self.losses[-1]

        return program, noted

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


def of_each(handed, fits):
    """Return the numbers of the examples that each of the fits was handed in some steps [T,SN], in ascending order."""
    return [sorted(part.ravel().tolist()) for part in np.split(np.stack(handed), fits, axis=1)]


def test_a_fit_is_scored_once_by_each_example_that_it_held_out_and_by_no_other(alone, together):
    first, second = list(range(12)), list(range(12, 24))
    assert len(alone.scored) == 12  # the last training is scored by none
    assert [of_each(alone.scored[at : at + 3], 1) for at in range(0, 12, 3)] == [[first], [second], [first], [second]]
    assert len(together.scored) == 6
    assert of_each(together.scored[:3], 4) == [first, second, first, second]
    assert of_each(together.scored[3:], 2) == [first, second]
    assert of_each(together.rows[0], 4) == [second, first, second, first]


def test_a_score_is_the_mean_of_what_a_fit_lost_on_its_held_out_examples(alone, together):
    means = np.reshape(alone.losses, (4, 3)).mean(1)
    assert [loss for score in alone.scores for loss in score.log_losses] == pytest.approx(means, rel=1e-6)
    one, two = (score.log_losses for score in together.scores)
    assert one == pytest.approx(np.mean(together.losses[:3], axis=0)[:2], rel=1e-6)
    assert two == pytest.approx(np.mean(together.losses[3:], axis=0), rel=1e-6)


def test_every_fit_of_every_search_has_a_seed_of_its_own_however_it_is_trained():
    def seeds(variant, batch):
        case = Case(workload="mnist_grid_search", backend="cpu", scope="run", batch=batch, variant=variant)
        run, seen = SearchRun(mnist_grid_search.WORKLOAD, case), []

        def untrained(hidden, fits, *_):
            seen.extend(fit.seed for fit in fits)
            return ((fit, 1.0) for fit in fits)

        run._trained = untrained  # pyright: ignore
        for seed in range(3):
            run.search(examples(), seed, lambda _, part: part())
        return seen

    alone = seeds("plain", 32)
    assert len(set(alone)) == len(alone) == 3 * (4 * 2 * 3 + 1)  # of all fits, and of the best point's on all examples
    assert alone == seeds("stacked", 192)


def test_a_search_of_another_seed_has_other_orders_and_comes_to_other_scores(alone):
    other = Searched("plain", 4, seed=1)
    assert not {rows.tobytes() for rows in alone.rows} & {rows.tobytes() for rows in other.rows}
    for one, another in zip(alone.scores, other.scores, strict=True):
        assert not set(one.log_losses) & set(another.log_losses)
    assert not set(alone.starts) & set(other.starts)


def test_which_point_is_best_and_the_seed_are_no_part_of_a_searchs_program(alone, together):
    assert len(together.run.lowered_texts()) == 2 * (len(together.run._made) - 1)  # without the last training's
    assert together.run.program_digest() != alone.run.program_digest()
    assert Searched("plain", 4, seed=1).run.program_digest() == alone.run.program_digest()


def test_no_two_fits_of_a_search_start_from_the_same_values(alone):
    assert len(set(alone.starts)) == len(alone.starts) == len(alone.rows)


SPLIT = """
import json, sys
sys.path.insert(0, sys.argv[2])
import test_search
devices = int(sys.argv[1])
found = test_search.Searched("stacked", 16 if devices == 2 else 4 * devices, devices=devices)
moved = sum(name in one.as_text() for one in found.programs.values() for name in ("all-reduce", "all-gather"))
rows = [row.shape for row in found.rows]
print(json.dumps([[s.log_losses for s in found.scores], found.loss, sorted(found.programs), moved, rows]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("devices", "rows"),
    [
        (2, [[3, 16], [3, 8]]),  # two fits on each device, then one
        (3, [[3, 24], [3, 12]]),  # four fits are six, two of them twice; two fits are three
        (5, [[3, 20], [3, 20]]),
    ],
)
def test_a_search_split_over_devices_comes_to_the_scores_of_one(together, devices, rows):
    command = [sys.executable, "-c", SPLIT, str(devices), str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    scores, loss, where, moved, handed = json.loads(done.stdout)
    assert [pytest.approx(score.log_losses, rel=1e-5) for score in together.scores] == scores
    assert loss == pytest.approx(together.loss, rel=1e-5)
    assert (where, moved) == ([1, devices], 0)  # the last training is of one fit; no device needs anything of another
    assert handed[:2] == rows


def test_scores_stand_in_a_record_as_they_were_found(alone):
    assert msgspec.json.decode(msgspec.json.encode(alone.scores), type=tuple[Score, ...]) == alone.scores


def test_a_search_is_asked_for_one_after_another_or_stacked():
    catalogue, here = [mnist_grid_search.WORKLOAD.description], MachineCapabilities(backends=("cpu",), cores=2)
    asked = Request(scopes=("run",), variants=("plain", "stacked", "resident"))
    found = default_cases(asked, catalogue, here)
    assert [(case.variant, case.batch) for case in found] == [("plain", 32), ("stacked", 192)]
    split = default_cases(replace(asked, devices=2), catalogue, here)
    assert [(case.variant, case.batch, case.devices) for case in split] == [("stacked", 192, 2)]
