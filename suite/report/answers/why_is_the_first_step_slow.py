"""Compiling: after how many steps the GPU has won back its longer start."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from suite import units
from suite.experiments import break_even
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, listed
from suite.results.pooled.break_even import BreakEven
from suite.results.pooled.machine_evidence import Evidence


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return after how few and how many steps the start is won back, with an empty compile cache."""
    valid = [item for item in evidence.speedups if item.state != "invalid"]
    plain = [one for one in break_even.break_evens(valid) if one.step.case.variant == "plain"]
    empty = [one for one in plain if one.start.case.cache == "empty"]
    later = sorted((one for one in empty if 1 < one.steps < math.inf), key=lambda one: one.steps)
    if not later:
        return None
    quoting, middle = Quoting(facts=facts, evidence=evidence), later[(len(later) - 1) // 2]
    number = _number(quoting, middle)
    one, all_of_them = quoting.model(middle.step.record.description), units.pluralize(len(later), "model")
    who = one if len(later) == 1 else f"the middle one of {all_of_them}"
    steps = break_even.when(middle).partition(" (")[0].removeprefix("after ").removesuffix(" steps")
    title = f"Half of {all_of_them} win the compile time back within {steps} steps" if len(later) > 1 else ""
    return Answer(
        sentence=Html("Compile time comes first: on one {}, {} wins it back after {}.").format(
            quoting.gpu, who, number.words
        ),
        numbers=(number,),
        turns=Html(" ").join(_turns(quoting, empty, later)),
        draw=partial(shown, facts, evidence, "break_even", title),
        tables=tables(facts, evidence, "break_even"),
    )


def _turns(quoting: Quoting, empty: Sequence[BreakEven], later: Sequence[BreakEven]) -> Iterator[Html]:
    """Yield what a shorter run means, and the models that win back first, last, at once and never."""
    yield Html("A run that ends before its break-even is faster on the CPU; a warm compile cache shortens the start.")
    first, last = later[0], later[-1]
    if first is not last:
        names = (quoting.model(each.step.record.description) for each in (first, last))
        yield Html("The first to win is {}, the last {}, after {}.").format(*names, _number(quoting, last).words)
    for words, steps in (("At once: {}.", 1), ("Never: {}.", math.inf)):
        if those := [one for one in empty if one.steps == steps]:
            yield Html(words).format(listed([quoting.model(one.step.record.description) for one in those]))


def _number(quoting: Quoting, one: BreakEven) -> Quoted:
    return quoting.following(break_even.when(one).removeprefix("after "), [one.start, one.step])


QUESTION = Question(
    title="Why is the first epoch or step slow?",
    place=3,
    also=("compile time", "compilation", "warm-up", "cold start", "break-even", "tracing"),
    wanted="This needs a cold start and a step, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- mnist_mlp --experiment break_even",
    evidence=("break_even", "first_call_vs_steady"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "why_is_gpu_use_low"),
    answer=answer,
)
