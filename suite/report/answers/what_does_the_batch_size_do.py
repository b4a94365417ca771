"""Batch: from which one on a larger one gains little, and what becomes of the speed-up."""

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
    """Return from which batch on the GPU gains little, of a model for which that was reached if there is one."""
    valid = [item for item in evidence.speedups if item.state != "invalid"]
    sweeps = batch_sweeps.sweeps_of(valid)
    if not sweeps:
        return None
    sweep = max(sweeps.values(), key=lambda each: (_enough(each) is not None, len(each)))
    quoting, enough = Quoting(facts=facts, evidence=evidence), _enough(sweep)
    first, last = (quoting.speedup(item) for item in (sweep[0], sweep[-1]))
    smallest, largest = (units.count(item.case.batch) for item in (sweep[0], sweep[-1]))
    little = units.percent(batch_sweeps.LITTLE)
    gains = f"gains under {little} beyond batch {units.count(enough)}" if enough else f"still gains at batch {largest}"
    return Answer(
        sentence=Html("On one {}, {} {}; its speed-up is {} at {}, {} at {}.").format(
            quoting.gpu, quoting.model(sweep[0].record.description), gains, first.words, smallest, last.words, largest
        ),
        numbers=(first, last),
        turns=Html(
            "It turns with the work of one example: a small network needs a large batch to fill the GPU, a large one a "
            "small batch. The speed-up grows while the CPU is full and the GPU is not."
        ),
        draw=partial(shown, facts, evidence, "batch", f"On the GPU, {sweep[0].workload} {gains}"),
        tables=tables(facts, evidence, "batch"),
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
