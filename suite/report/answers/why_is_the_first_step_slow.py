"""Compiling: after how many steps the GPU has won back its longer start."""

import math
from collections.abc import Callable, Iterator, Sequence
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
    """Return how long the start takes both sides with an empty compile cache, and when the GPU has won it back.

    The start is of the model that wins it back last.
    """
    valid = [item for item in evidence.speedups if item.state != "invalid"]
    plain = [one for one in break_even.break_evens(valid) if one.step.case.variant == "plain"]
    empty = [one for one in plain if one.start.case.cache == "empty"]
    later = sorted((one for one in empty if 1 < one.steps < math.inf), key=lambda one: one.steps)
    if not later:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    last = later[-1].start
    numbers = quoting.seconds(last.gpu), quoting.seconds(last.cpu)
    more, further, title = _of_one(quoting, later[0]) if len(empty) == 1 else _of_several(quoting, empty)
    return Answer(
        sentence=Html("The first step also compiles the program: it takes one {} {}, its CPU {}, for {}.").format(
            quoting.gpu, *(number.words for number in numbers), quoting.model(last.record.description)
        ),
        numbers=numbers,
        more=more,
        further=further,
        turns=Html(" ").join(_turns(quoting, empty, later)),
        draw=partial(shown, facts, evidence, "break_even", title),
        tables=tables(facts, evidence, "break_even"),
    )


_Said = tuple[Html, tuple[Quoted, ...], str]  # a sentence, its numbers, and the chart's title


def _of_one(quoting: Quoting, one: BreakEven) -> _Said:
    numbers = _steps(quoting, one), _seconds(quoting, one)
    words = Html("The GPU has won its longer start back after {}, {}.")
    return words.format(*(number.words for number in numbers)), numbers, ""


def _of_several(quoting: Quoting, empty: Sequence[BreakEven]) -> _Said:
    """Return the steps after which half of the models have won it back, and how many do at once and never."""
    order = sorted(empty, key=lambda one: one.steps)
    half, models = order[(len(order) - 1) // 2], units.pluralize(len(order), "model")
    once, never = (sum(one.steps == steps for one in order) for steps in (1, math.inf))
    rest = f"at once for {units.count(once)}, never for {units.count(never)}"
    if not 1 < half.steps < math.inf:
        return Html("Of {} the GPU wins its longer start back {}.").format(models, rest), (), ""
    number = _steps(quoting, half)
    words = Html("Within {} the GPU has won its longer start back for half of {}, {}.")
    title = f"Compiling included, the GPU is ahead within {_count(half)[0]} steps for half of {models}"
    return words.format(number.words, models, rest), (number,), title


def _turns(quoting: Quoting, empty: Sequence[BreakEven], later: Sequence[BreakEven]) -> Iterator[Html]:
    """Yield what a shorter run means, and the models that win back first, last, at once and never."""
    yield Html(
        "A run that ends before its break-even is faster on the CPU; a warm compile cache shortens the start. A "
        "program starts later still: it also reads its data, and may compile an evaluation."
    )
    if len(later) > 1:
        yield _span(quoting, later, _steps)
        yield _span(quoting, sorted(later, key=_until), _seconds)
    for words, steps in (("At once: {}.", 1), ("Never: {}.", math.inf)):
        if those := [one for one in empty if one.steps == steps]:
            yield Html(words).format(listed([quoting.model(one.step.record.description) for one in those]))


def _span(quoting: Quoting, order: Sequence[BreakEven], quoted: Callable[[Quoting, BreakEven], Quoted]) -> Html:
    """Return the first and the last of the models, with their numbers."""
    first, last = order[0], order[-1]
    return Html("It takes from {} for {} to {} for {}.").format(
        quoted(quoting, first).words, quoting.model(first.step.record.description),
        quoted(quoting, last).words, quoting.model(last.step.record.description),
    )  # fmt: skip


def _until(one: BreakEven) -> float:
    return one.seconds(one.steps)


def _count(one: BreakEven) -> tuple[str, str]:
    """Return the number of steps and its interval, such as '374' and '(250 to 547)'."""
    words = break_even.when(one).removeprefix("after ").rpartition(", ")[0]
    count, _, within = words.partition(" steps")
    return count, within.strip() or "(no interval)"


def _steps(quoting: Quoting, one: BreakEven) -> Quoted:
    return quoting.following("{} steps {}".format(*_count(one)), [one.start, one.step])


def _seconds(quoting: Quoting, one: BreakEven) -> Quoted:
    ends = (one.seconds(end) if end and math.isfinite(end) else None for end in (one.low, one.high))
    within = units.seconds_interval(*ends)
    value = units.seconds(_until(one), break_even.digits(one))
    words = f"{value} ({within if within != units.DASH else 'no interval'})"
    return quoting.following(words, [one.start, one.step])


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
