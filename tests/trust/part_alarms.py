"""Does a table of equals stay quiet, and is a slow-down found? Simulated through the verdicts that users read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import stdev

import factory
import msgspec
import numpy as np

from suite.results.compare.comparison import compared
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.records.run import Run, Sample
from suite.results.single.summary import seconds_by_round, summary
from trust.noise import spread_over_cores

TITLE = "Do equals stay quiet, and is a slow-down found?"
MOST_ALARMS, LEAST_FOUND = 0.065, 0.95
SLOWER = 1.05
ROWS, ROUNDS = 20, 10
_TABLES, _SAMPLE, _PARTS = 10_000, 60, 10
_WITH_SLOW = 1_000  # tables of a kind that has slow rows
RECORDS = Path(__file__).parents[2] / "site" / "records"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Tables of one kind: how processes spread, how sides were paired, how many rows are slower by 5 %."""

    what: str
    spread: str  # whose: "cpu" or "gpu" of the published records, "all" of them, or a share
    shape: str = "log-normal"
    paired: bool = True
    drift: float = 0.0  # of the logarithms, shared by the sides of a round
    rows: int = ROWS
    slow: int = 0


ALARMS = (
    Trial(what="spreads of published records that are sound", spread="sound"),
    Trial(what="the same, heavy tails", spread="sound", shape="heavy"),
    Trial(what="the same, drift of 10 % that both sides share", spread="sound", drift=0.1),
    Trial(what="the same, two campaigns", spread="sound", paired=False),
)
FOUND = (
    Trial(what="1 % between processes, alone", spread="0.01", rows=1, slow=1),
    Trial(what="1 % between processes, one of 20 rows", spread="0.01", slow=1),
    Trial(what="1 % between processes, two campaigns, one of 20 rows", spread="0.01", slow=1, paired=False),
    Trial(what="sound GPU records' spreads, alone", spread="gpu", rows=1, slow=1),
    Trial(what="sound GPU records' spreads, one of 20 rows", spread="gpu", slow=1),
    Trial(what="sound CPU records' spreads, alone", spread="cpu", rows=1, slow=1),
    Trial(what="sound CPU records' spreads, one of 20 rows", spread="cpu", slow=1),
    Trial(what="sound CPU records' spreads, all of 20 rows", spread="cpu", slow=20),
)


@cache
def spreads(whose: str) -> tuple[float, ...]:
    """Return by how much processes of published steps differ, the standard deviation of their logarithms.

    Nothing speaks against sound ones.
    """
    if whose not in ("all", "sound", "cpu", "gpu"):
        return (float(whose),)
    found = []
    for record in store.load([RECORDS])[0]:
        values = list(seconds_by_round(record).values())
        sound = summary(record).steady
        wanted = whose == "all" or (sound and whose in ("sound", record.backend))
        if wanted and record.case.scope == "step" and len(values) > 1:
            found.append(stdev(map(math.log, values)))
    return tuple(found)


@cache
def _plain(row: int, campaign: str) -> Record:
    made = factory.record(f"w{row}", campaign=campaign, profile="standard")
    return msgspec.structs.replace(made, rounds=ROUNDS)


@cache
def _run(number: int) -> Run:
    return factory.run(number, 1.0, steps=1, samples=1, stages=(), warmup=())


def record(row: int, campaign: str, seconds: Sequence[float]) -> Record:
    """Return a standard record whose processes took these times."""
    runs = tuple(
        msgspec.structs.replace(_run(number), samples=(Sample(wall_seconds=value, process_seconds=value),))
        for number, value in enumerate(seconds)
    )
    return msgspec.structs.replace(_plain(row, campaign), runs=runs)


def noise(rng: np.random.Generator, trial: Trial) -> np.ndarray:
    """Return the logarithms of a table's times, float[2, rows, rounds]."""
    size = (2, trial.rows, ROUNDS)
    shape = {
        "log-normal": lambda: rng.normal(0, 1, size),
        "heavy": lambda: rng.standard_t(4, size) / math.sqrt(2),
    }[trial.shape]()
    spread = rng.choice(spreads(trial.spread), trial.rows)[:, None]
    shared = trial.drift * np.cumsum(rng.normal(0, 1, ROUNDS)) / math.sqrt(ROUNDS)
    return shape * spread + shared


def judged(job: tuple[Trial, int, int]) -> tuple[int, int]:
    """Return in how many tables an equal row was called different, and how many slow rows were called slower."""
    trial, count, seed = job
    rng, alarms, found = np.random.default_rng(seed), 0, 0
    campaigns = ("a", "a" if trial.paired else "b")
    for _ in range(count):
        logs = noise(rng, trial)
        logs[1, : trial.slow] += math.log(SLOWER)
        sides = [
            [record(row, campaign, values) for row, values in enumerate(side)]
            for campaign, side in zip(campaigns, np.exp(logs).tolist(), strict=True)
        ]
        verdicts = {row.first.record.workload: row.verdict(0.0) for row in compared(*sides)}
        words = [verdicts[f"w{row}"] for row in range(trial.rows)]
        alarms += any(word in ("faster", "slower") for word in words[trial.slow :])
        found += words[: trial.slow].count("slower")
    return alarms, found


def tables(trial: Trial, sample: bool) -> int:
    """Return how many tables of a kind are simulated."""
    return _SAMPLE if sample else _WITH_SLOW if trial.slow else _TABLES


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Simulate tables of equals, and tables with a slow-down in them."""
    parts = 1 if sample else _PARTS
    trials = (ALARMS[:1] + FOUND[1:2]) if sample else ALARMS + FOUND
    jobs = [(trial, tables(trial, sample) // parts, seed) for trial in trials for seed in range(parts)]
    answers = spread_over_cores(judged, jobs, 1 if sample else None)
    findings = []
    for place, trial in enumerate(trials):
        mine, count = answers[place * parts : (place + 1) * parts], tables(trial, sample)
        alarms, found = (sum(answer[index] for answer in mine) for index in (0, 1))
        findings.append(detection(trial, found, count) if trial.slow else quiet(trial, alarms, count, sample))
    middle = {whose: sorted(spreads(whose))[len(spreads(whose)) // 2] for whose in ("all", "cpu", "gpu")}
    figures: dict[str, float | int | str] = {
        "tables of equals, of each kind": _SAMPLE if sample else _TABLES,
        "rows in a table": ROWS,
        "processes of a row's side": ROUNDS,
        "published steps": f"{len(spreads('all'))}, of which {len(spreads('sound'))} are sound",
        "spread of published steps, median": f"{middle['all']:.2%}",
        "of sound ones on a CPU": f"{middle['cpu']:.2%}",
        "of sound ones on a GPU": f"{middle['gpu']:.2%}",
    }
    return figures, findings


def quiet(trial: Trial, alarms: int, count: int, sample: bool) -> Finding:
    """Return whether few enough tables of equals had a row that was called faster or slower."""
    share = alarms / count
    margin = 4 * math.sqrt(MOST_ALARMS / count) if sample else 0.0
    return Finding(
        what=f"a table of {trial.rows} equals: {trial.what}",
        expected=f"an alarm in at most {MOST_ALARMS:.1%} of the tables",
        found=f"{share:.2%}",
        by=f"{count} tables",
        good=share <= MOST_ALARMS + margin,
    )


def detection(trial: Trial, found: int, count: int) -> Finding:
    """Return whether slow-downs of 5 % were called slower often enough."""
    share = found / (count * trial.slow)
    return Finding(
        what=f"a slow-down of {SLOWER - 1:.0%}: {trial.what}",
        expected=f"called slower in at least {LEAST_FOUND:.0%}",
        found=f"{share:.2%}",
        by=f"{count} tables",
        good=share >= LEAST_FOUND,
    )
