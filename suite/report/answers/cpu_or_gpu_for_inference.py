"""Inference: one picture at a time, in batches, and what the CPU alone can answer."""

from functools import partial

from suite import units
from suite.analysis import serving
from suite.report.parts import rungs
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.lead import short
from suite.report.parts.quoted import Quoting, span
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.statistics import Estimate

_ONE: serving.Way = ("step", 1)


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the smallest and the largest gain for one picture at a time."""
    networks = serving.served(evidence.speedups)
    single = sorted((ways[_ONE] for ways in networks.values() if _ONE in ways), key=lambda item: item.ratio.value)
    if not single:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    numbers = tuple(map(quoting.speedup, (single[0], single[-1])))
    mean = short(rungs.mean(single))
    slowest = min(single, key=lambda item: _rate(item).value)
    fastest = max(single, key=lambda item: _rate(item).value)
    return Answer(
        sentence=Html("Picture by picture, one {} is {} as fast as its {}, the geometric mean of {}: {}.").format(
            quoting.gpu,
            mean,
            quoting.cores,
            units.pluralize(len(single), "network"),
            span(numbers),
        ),
        numbers=numbers,
        turns=Html("The {} suffice up to {} of {} and {} of {}, one at a time.{}{}").format(
            quoting.cores, _rate_words(slowest), quoting.model(slowest.record.description),
            _rate_words(fastest), quoting.model(fastest.record.description), _slow_cpu(quoting, single[-1]),
            _in_batches(quoting, networks),
        ),
        draw=partial(shown, facts, evidence, "serving", f"One picture at a time the GPU is {mean} as fast"),
        tables=tables(facts, evidence, "serving"),
    )  # fmt: skip


def _rate(item: PooledSpeedUp) -> Estimate:
    """Return the CPU's pictures a second."""
    return item.cpu.seconds.per(item.case.batch)


def _rate_words(item: PooledSpeedUp) -> str:
    rate = _rate(item)
    within = units.interval(rate.low, rate.high)
    words = f"{units.number(rate.value, units.half_width(rate.low, rate.high))} pictures/s"
    return f"{words} ({within if within != units.DASH else 'no interval'})"


def _slow_cpu(quoting: Quoting, item: PooledSpeedUp) -> Html:
    """Return that the CPU beside a gain is slow, as a further sentence; '' if it is not."""
    if not item.slow_cpu:
        return Html("")
    return Html(" The gain of {} is beside a slow CPU: {}.").format(
        quoting.model(item.record.description), item.slow_cpu
    )


def _in_batches(quoting: Quoting, networks: dict[str, dict[serving.Way, PooledSpeedUp]]) -> Html:
    """Return what the largest batch gains, as a further sentence; '' if only single pictures were timed."""
    batched = [
        item for ways in networks.values() for (scope, batch), item in ways.items() if scope == "step" and batch > 1
    ]
    if not batched:
        return Html("")
    item = max(batched, key=lambda one: (one.case.batch, one.ratio.value))
    return Html(" In batches of {}, the GPU is {} as fast for {}.").format(
        units.count(item.case.batch), quoting.speedup(item).words, quoting.model(item.record.description)
    )


QUESTION = Question(
    title="CPU or GPU for inference?",
    place=8,
    also=("serving", "latency", "prediction", "one picture", "requests a second", "deployment"),
    wanted="This needs an inference network, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- serve_mobilenet_v2 --experiment serving",
    evidence=("serving",),
    read_next=("what_does_the_batch_size_do", "which_is_cheaper_in_the_cloud"),
    answer=answer,
)
