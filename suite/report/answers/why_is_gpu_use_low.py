"""Input from storage: both sides wait for it."""

from functools import partial

from suite.report.parts import ladder_figures, rungs
from suite.report.parts.answer import Answer, Question, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting
from suite.results.pooled.machine_evidence import Evidence


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the model that loses most of its step's speed-up when it is read from storage."""
    amounts = rungs.rungs([item for item in evidence.speedups if item.state != "invalid"])
    step, stored = rungs.step(amounts), next((rung for rung in amounts if rung.name == "from storage"), None)
    names = sorted(rungs.both(step, stored)) if step and stored else []
    if not step or not stored or not names:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    order = sorted(names, key=lambda name: stored.by_workload[name].ratio.value)
    known = [name for name in order if stored.by_workload[name].ratio.low is not None]
    worst, best = (known or order)[0], order[-1]
    before, after = (quoting.speedup(rung.by_workload[worst]) for rung in (step, stored))
    largest, apart = quoting.speedup(stored.by_workload[best]), rungs.elsewhere([stored.by_workload[worst]], step)
    about, slug = stored.by_workload[worst].record.description, quoting.machine.slug
    rule = (
        "It turns when a step takes longer than reading its batch: with a larger model, more input workers, or the "
        "data in memory. Check in this order: is the GPU idle between steps, is a CPU core full, is the disk."
    )
    example = Html(" Read from storage, {} still has {}.").format(
        quoting.model(stored.by_workload[best].record.description), largest.words
    )
    return Answer(
        sentence=Html("Reading is the limit: on one {}, {} is {} as fast in a step, {} read from storage{}.").format(
            quoting.gpu, quoting.model(about), before.words, after.words, rungs.on_other_hosts(len(apart), 1)
        ),
        numbers=(before, after),
        turns=Html(rule) + (example if best != worst else Html("")),
        draw=partial(ladder_figures.figures, rungs.rungs([*evidence.speedups, *evidence.ways]), f"speedups.{slug}"),
        tables=tables(facts, evidence, "depth"),
    )


QUESTION = Question(
    title="Why is GPU use low, or the speed the same on both?",
    place=2,
    also=("utilisation", "input pipeline", "data loader", "bottleneck", "nvidia-smi"),
    wanted="This needs an epoch read from storage, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- catdog_cnn_base --experiment depth",
    evidence=("depth", "input_tuning", "run_length", "kernels"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "why_is_the_first_step_slow"),
    answer=answer,
)
