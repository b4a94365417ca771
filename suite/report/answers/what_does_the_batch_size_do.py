"""Batch: how many more examples a second a larger one computes, and what becomes of the speed-up."""

from collections.abc import Sequence
from functools import partial

from suite import units
from suite.analysis import batch_sweeps
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return what a larger batch gains on both sides, up to where the GPU gains little if that was reached."""
    valid = [item for item in evidence.speedups if item.state != "invalid"]
    sweeps = batch_sweeps.sweeps_of(valid)
    if not sweeps:
        return None
    sweep = max(sweeps.values(), key=lambda each: (_enough(each) is not None, len(each)))
    quoting, enough = Quoting(facts=facts, evidence=evidence), _enough(sweep)
    small, large = sweep[0], next((item for item in sweep[1:] if item.case.batch == enough), sweep[-1])
    smallest, larger, largest = (units.count(item.case.batch) for item in (small, large, sweep[-1]))
    gains = tuple(quoting.rate(*sides) for sides in ((large.gpu, small.gpu), (large.cpu, small.cpu)))
    speedups = tuple(quoting.speedup(item) for item in (small, large))
    little = units.percent(batch_sweeps.LITTLE)
    reach = f"gains under {little} beyond batch {units.count(enough)}" if enough else f"still gains at batch {largest}"
    return Answer(
        sentence=Html("At batch {} one {} computes {} the examples a second of batch {}, its CPU {}, in {}.").format(
            larger, quoting.gpu, gains[0].words, smallest, gains[1].words, quoting.model(small.record.description)
        ),
        numbers=gains,
        more=Html("The GPU {}. The speed-up is {} at batch {}, {} at {}.").format(
            reach, speedups[0].words, smallest, speedups[1].words, larger
        ),
        further=speedups,
        turns=Html(
            "It turns with the work of one example: a small network needs a large batch to fill the GPU, a large one a "
            "small batch. The speed-up grows while the CPU is full and the GPU is not."
        ),
        draw=partial(shown, facts, evidence, "batch", f"On the GPU, {small.workload} {reach}"),
        tables=tables(facts, evidence, "batch"),
        thin=enough is None,
    )


def _enough(sweep: Sequence[PooledSpeedUp]) -> int | None:
    pool = batch_sweeps.filled_from([item.gpu for item in sweep])
    return pool.case.batch if pool else None


QUESTION = Question(
    title="What does the batch size do?",
    place=4,
    also=("throughput", "larger batch", "examples a second", "occupancy"),
    wanted="This needs one model at several batch sizes, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- cifar10_tf_cnn --experiment batch",
    evidence=("batch", "serving"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "cpu_or_gpu_for_inference"),
    answer=answer,
)
