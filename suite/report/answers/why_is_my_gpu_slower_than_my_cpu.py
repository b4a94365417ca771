"""A tiny step: starting it takes longer than its work; and what is around a small model's step."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from suite import units
from suite.analysis import threshold_map
from suite.report.answers import _second_clock
from suite.report.answers._around_the_step import around_the_step, dense
from suite.report.answers._by_way import by_way
from suite.report.answers._own_chart import OwnChart
from suite.report.charts.vega import Figure
from suite.report.parts.answer import Answer, Question, result, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.pooled.thresholds import Threshold, thresholds
from suite.results.views.experiment_result import Chart
from suite.variants import steps_per_call

_WAYS = {  # in words
    "jax nnx-jit": "if Python calls nnx.jit for each step",
    "jax scan": "if one call takes many steps by lax.scan",
    "torch eager": "in eager PyTorch",
}
_FAMILY = "crossover_mlp"  # dense networks of growing size


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return below how much work the CPU wins, or else which model's step is slowest beside the CPU's."""
    turning = _greatest_threshold(evidence)
    if turning:
        return _of_threshold(facts, evidence, turning)
    slowest = _slowest(evidence)
    return _of_model(facts, evidence, slowest) if slowest else None


def _slowest(evidence: Evidence) -> PooledSpeedUp | None:
    """Return the step of JAX that gains least, if it is slower on the GPU than on the CPU; None otherwise."""
    steps = [item for item in evidence.speedups if item.headline and item.state != "invalid" and item.ratio.value < 1]
    return min(steps, key=lambda item: item.ratio.value, default=None)


def _greatest_threshold(evidence: Evidence) -> Threshold | None:
    """Return the threshold of the way in which the CPU wins the largest calls; None if none is known."""
    slug = evidence.records[0].machine.slug
    turning = thresholds({(slug, case): pool for case, pool in evidence.pools.items()})
    known = [item for item in turning if item.family == _FAMILY and item.known]
    return max(known, key=lambda item: item.found.size or 0, default=None)


def _of_threshold(facts: Facts, evidence: Evidence, item: Threshold) -> Answer:
    quoting = Quoting(facts=facts, evidence=evidence)
    number = _size(quoting, item)
    title = f"With little work in a call the CPU wins, written as {item.way}"
    more, further = around_the_step(evidence, quoting)
    own, step = _of_jax(evidence, quoting)
    call = "call" if steps_per_call(item.around[-1].case) > 1 else "step"
    return Answer(
        sentence=Html(
            "On one {} a {} below {} in {} takes longer than on its host’s CPU: starting GPU work takes time."
        ).format(quoting.gpu, call, number.words, item.way),
        numbers=(number,),
        more=Html(" ").join(filter(None, (own, more))) or None,
        further=(*step, *further),
        turns=_turns(evidence, quoting),
        draw=partial(shown, facts, evidence, "crossover", title),
        tables=tables(facts, evidence, "crossover"),
    )


def _of_jax(evidence: Evidence, quoting: Quoting) -> tuple[Html | None, tuple[Quoted, ...]]:
    """Return which model's step in JAX is slower on the GPU than on the CPU, and that number."""
    item = _slowest(evidence)
    if item is None:
        return None, ()
    number, about = quoting.speedup(item), quoting.model(item.record.description)
    return Html("In JAX a step of {} is {} as fast on the GPU.").format(about, number.words), (number,)


def _size(quoting: Quoting, item: Threshold) -> Quoted:
    turn = item.found
    within = threshold_map.interval_words(turn, item.unit)
    return quoting.threshold(item, f"{threshold_map.size_words(turn, item.unit)} ({within})")


def _elsewhere(facts: Facts) -> tuple[Html | None, tuple[Quoted, ...]]:
    """Return below how much work the CPU wins on the first machine that knows, and that number."""
    for evidence in facts.evidence.values():
        item = _greatest_threshold(evidence)
        if item:
            own = Quoting(facts=facts, evidence=evidence)
            number = _size(own, item)
            words = Html("On one {} a call of less than {}, written as {}, is slower than on the CPU.")
            return words.format(own.gpu, number.words, item.way), (number,)
    return None, ()


def _of_model(facts: Facts, evidence: Evidence, item: PooledSpeedUp) -> Answer:
    quoting = Quoting(facts=facts, evidence=evidence)
    number, about = quoting.speedup(item), item.record.description
    waits, share = _second_clock.of_step(facts, quoting, about.name)
    below, work = _elsewhere(facts)
    more, further = around_the_step(evidence, quoting)
    return Answer(
        sentence=Html("Starting a tiny step takes longer than its work: one {} runs {} {} as fast as its CPU.").format(
            quoting.gpu, quoting.model(about), number.words
        ),
        numbers=(number,),
        more=Html(" ").join(filter(None, (waits, below, more))) or None,
        further=(*share, *work, *further),
        turns=_turns(evidence, quoting),
        draw=partial(_chart, facts, evidence),
        tables=tuple(replace(table, rows=table.rows[::-1]) for table in tables(facts, evidence, "headline")),
    )


def _chart(facts: Facts, evidence: Evidence) -> Iterable[Figure]:
    """Return the chart of all models' steps, that which gains least first: it answers the question."""
    its = result(facts, evidence, "headline")
    if its is None or not isinstance(its.chart, Chart):
        return ()
    chart = replace(its.chart, points=tuple(sorted(its.chart.points, key=lambda point: point.value)))
    name = "why-is-my-gpu-slower-than-my-cpu"
    return OwnChart(name=name, title=_finding(evidence), chart=chart, titles=facts.titles).figures()


def _finding(evidence: Evidence) -> str:
    steps = [item for item in evidence.speedups if item.headline]
    slower = [item for item in steps if item.ratio.value < 1]
    are = "is" if len(slower) == 1 else "are"
    return f"{units.count(len(slower))} of {units.pluralize(len(steps), 'model')} {are} slower on the GPU in a step"


def _turns(evidence: Evidence, quoting: Quoting) -> Html:
    """Return what makes the GPU win, with the way of writing that moves a small model most, if it was measured."""
    rule = Html("It turns with more work in a call: a larger batch, a larger model, or several steps compiled as one.")
    spans = [ways for ways in (by_way(evidence, name) for name in dense(evidence)) if len(ways) > 1]
    if not spans:
        return rule
    ways = max(spans, key=_span)
    (slow, least), *_, (fast, most) = ways.items()
    return Html("{} How it is written counts too: {} gains {} {}, {} {}.").format(
        rule, quoting.model(least.record.description), quoting.speedup(least).words, _written(slow),
        quoting.speedup(most).words, _written(fast),
    )  # fmt: skip


def _written(way: str) -> str:
    return _WAYS.get(way, f"written as {way}")


def _span(ways: Mapping[str, PooledSpeedUp]) -> float:
    least, *_, most = ways.values()
    return most.ratio.value / least.ratio.value


QUESTION = Question(
    title="Why is my GPU slower than my CPU on a small model?",
    place=1,
    also=("small network", "MNIST", "kernel launch", "overhead", "dispatch", "no speed-up"),
    wanted="This needs one small model on a CPU and a GPU of the same machine, written in several ways.",
    command="nox -s bench -- mnist_mlp --experiment as_written",
    evidence=("as_written", "crossover", "dispatch", "kernels", "headline"),
    read_next=("why_is_gpu_use_low", "what_does_the_batch_size_do"),
    answer=answer,
)
