"""Input from storage: both sides wait for it."""

from collections.abc import Sequence
from functools import partial

from suite import units
from suite.report.answers import _second_clock
from suite.report.parts import ladder_figures, rungs
from suite.report.parts.answer import Answer, Question, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting, ratio_words
from suite.report.parts.rungs import Rung
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.views.rows import row_of
from suite.results.views.table import Cell, Table


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
    shown = rungs.rungs([*evidence.speedups, *evidence.ways])
    about, slug = stored.by_workload[worst].record.description, quoting.machine.slug
    rule = (
        "It turns when a step takes longer than reading its batch: with a larger model, more input workers, or the "
        "data in memory. Then how the loop is written decides, as "
        '<a href="why-is-my-gpu-slower-than-my-cpu.html">small models</a> show. First check whether the GPU waits '
        "between steps, then whether a CPU core is full, then whether the disk is."
    )
    more, further = _second_clock.of_steps(facts, quoting)
    example = Html(" Read from storage, {} still has {}.").format(
        quoting.model(stored.by_workload[best].record.description), largest.words
    )
    return Answer(
        sentence=Html("Reading is the limit: one {} gains {} in a step of {}, {} read from storage{}.").format(
            quoting.gpu, before.words, quoting.model(about), after.words, rungs.on_other_hosts(len(apart), 1)
        ),
        numbers=(before, after),
        more=Html(" ").join(filter(None, (_workers(stored.by_workload[worst]), more))),
        further=further,
        turns=Html(rule) + (example if best != worst else Html("")),
        draw=partial(ladder_figures.figures, shown, f"speedups.{slug}"),
        tables=(_table(facts, shown), *_second_clock.table(facts, quoting), *tables(facts, evidence, "depth")),
    )


def _workers(item: PooledSpeedUp) -> str:
    """Return with how many workers the input pipeline reads, as a sentence."""
    cores, workers = item.record.machine.cores, item.case.workers
    each = "" if workers else ", one for each core" if cores > 1 else ""
    return f"The input pipeline reads with {units.pluralize(workers or cores, 'worker')}{each}."


def _table(facts: Facts, amounts: Sequence[Rung]) -> Table:
    """Return each model's speed-up by how much of the work is counted, the largest of a step first."""
    items = {item.workload: item for rung in reversed(amounts) for item in rung.by_workload.values()}
    rows = (
        row_of(facts.titles[name], *(_cell(rung.by_workload.get(name)) for rung in amounts))
        for name in sorted(items, key=lambda name: -items[name].ratio.value)
    )
    columns = ("model", *(rung.name for rung in amounts))
    return Table(title="Speed-ups by how much of the work is counted", columns=columns, rows=tuple(rows))


def _cell(item: PooledSpeedUp | None) -> Cell:
    if item is None:
        return Cell(text=units.DASH, remark="not measured")
    return Cell(text=ratio_words(item.ratio).removesuffix(" (no interval)"), sort=item.ratio.value, record=item.record)


QUESTION = Question(
    title="Why is GPU use low, or the speed the same on both?",
    place=2,
    also=(
        "will my input pipeline eat the gain",
        "utilisation",
        "input pipeline",
        "data loader",
        "bottleneck",
        "nvidia-smi",
    ),
    wanted="This needs an epoch read from storage, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- catdog_cnn_base --experiment depth",
    evidence=("depth", "input_tuning", "run_length", "kernels"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "why_is_the_first_step_slow"),
    answer=answer,
)
