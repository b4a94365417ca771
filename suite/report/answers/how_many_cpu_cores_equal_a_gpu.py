"""Cores: how many would take as long as the GPU, by Amdahl's law."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from suite import units
from suite.analysis import cores
from suite.analysis.cores import EqualCores
from suite.experiments import threads
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, listed, why_not
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking

_Gain = tuple[Pool, Pool, Quoted]  # fewer and more threads, and how fast these are beside the fewer


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return how many cores equal the GPU, or how many at least, for the model that needs fewest.

    One to be quoted comes before others.
    """
    steps = evidence.fitting(
        lambda record: record.backend == "gpu" and record.description.documented and record.headline_step()
    )
    gpus = {pool.case.workload: pool for pool in steps}
    groups = [group for group in threads.sweeps(evidence) if group[0].case.workload in gpus]
    equals = [equal for group in groups if (equal := cores.equal_cores(group, gpus[group[0].case.workload]))]
    if not equals:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    equals.sort(key=lambda equal: (bool(_doubt(equal)), equal.cores.value, -len(equal.pools)))  # infinity is last
    first, others = equals[0], equals[1:]
    number, never = _number(quoting, first), _never(first)
    more, further = _more(quoting, first, groups)
    title = f"More of these cores {never} reach the GPU" if never else "How far more threads help"
    return Answer(
        sentence=Html(_SENTENCES[never]).format(
            model=quoting.model(first.gpu.newest.description),
            threads=_threads(first),
            number=number.words,
            gpu=quoting.gpu,
            seconds=quoting.seconds(first.gpu).words,
        ),
        numbers=(number, quoting.seconds(first.gpu)),
        more=more,
        further=further,
        turns=Html(" ").join(
            filter(
                None,
                (
                    _rule(first, len(equals), len(groups), len(gpus)),
                    _others(quoting, others),
                    _baseline(evidence, first),
                ),
            )
        ),
        draw=partial(shown, facts, evidence, "threads", title),
        tables=tables(facts, evidence, "threads"),
    )


_SENTENCES = {
    "never": "No number of its cores is enough for {model}: unlimited ones take {number} a step, one {gpu} {seconds}.",
    "probably never": "One {gpu} takes {seconds} a step of {model}; at least {number} equal it, probably no number "
    "does.",
    "": "For {model}, extrapolated from {threads}, about {number} equal one {gpu}, which takes {seconds} a step.",
}


def _never(equal: EqualCores) -> Literal["", "never", "probably never"]:
    """Return whether no number of cores is enough, as far as its interval tells."""
    if not math.isinf(equal.cores.value):
        return ""
    return "never" if equal.cores.low is None or math.isinf(equal.cores.low) else "probably never"


def _threads(equal: EqualCores) -> str:
    """Return the numbers of threads that were timed, in words."""
    few, many = (units.count(cores.threads(pool)) for pool in (equal.pools[0], equal.pools[-1]))
    return f"{few} to {many} threads"


def _more(
    quoting: Quoting, first: EqualCores, groups: Sequence[Sequence[Pool]]
) -> tuple[Html | None, tuple[Quoted, ...]]:
    """Return what more threads gain or cost if that is sure, and what unlimited ones take if they may be enough."""
    sentences, numbers = [], []
    if known := min(filter(None, (_gain(quoting, group) for group in groups)), key=_rank, default=None):
        few, many, number = known
        numbers.append(number)
        sentences.append(
            Html("With {} threads {} is {} as fast as with {}.").format(
                units.count(cores.threads(many)),
                quoting.model(many.newest.description),
                number.words,
                units.count(cores.threads(few)),
            )
        )
    rest, own = first.without_end, first.gpu.seconds.value
    if rest.low is not None and rest.high is not None and rest.low <= own <= rest.high:
        numbers.append(_unlimited(quoting, first))
        words = "Unlimited cores would take {} a step."
        sentences.insert(0, Html(words).format(numbers[-1].words))
    return (Html(" ").join(sentences) if sentences else None), tuple(numbers)


def _gain(quoting: Quoting, group: Sequence[Pool]) -> _Gain | None:
    """Return the fastest threads and all of them if these are surely slower; else the fewest and all, if quotable."""
    best, most = min(group, key=lambda pool: pool.pooled.value), group[-1]
    if best is not most and (over(most, best).low or 0) > 1:
        return best, most, quoting.ratio(best, most)
    number = quoting.ratio(group[0], most)
    return None if number.caveat else (group[0], most, number)


def _rank(gain: _Gain) -> tuple[bool, bool]:
    """Return what a gain is chosen by: that it may be quoted, then that the fewer threads are faster."""
    few, many, number = gain
    return bool(number.caveat), few.pooled.value > many.pooled.value


def _rule(first: EqualCores, fitted: int, timed: int, models: int) -> Html:
    """Return what the number hangs on, and for how many models it is known."""
    return Html(
        "Part of each step runs on one core only. If that part alone takes longer than the GPU’s step, no number of "
        "cores is enough. Further cores are extrapolated by Amdahl’s law from the {} that were timed. Of {} "
        "{} timed with several numbers of threads; the law was fitted to {}."
    ).format(
        _threads(first),
        units.pluralize(models, "model"),
        f"{units.count(timed)} {'was' if timed == 1 else 'were'}",
        units.count(fitted),
    )


def _baseline(evidence: Evidence, equal: EqualCores) -> str:
    """Return that the law is of JAX's step, with the time of the fastest other implementation on all cores."""
    name = equal.gpu.case.workload
    item = next((each for each in evidence.speedups if each.headline and each.workload == name), None)
    if item is None or not item.baselines:
        return ""
    return f"The law is fitted to JAX’s step; on all cores {item.baselines[0].takes} of its time."


def _number(quoting: Quoting, equal: EqualCores) -> Quoted:
    """Return the number of cores, or how many at least, or the time of unlimited ones if no number is enough."""
    never, value = _never(equal), equal.cores.value
    if never == "never":
        return _unlimited(quoting, equal)
    least = equal.cores.low if never and equal.cores.low is not None else value
    return _derived(quoting, equal, units.pluralize(cores.whole(least), "core"), cores.interval(equal.cores))


def _unlimited(quoting: Quoting, equal: EqualCores) -> Quoted:
    """Return the time of a step with unlimited cores."""
    rest = equal.without_end
    words = units.seconds(rest.value, units.half_width(rest.low, rest.high))
    return _derived(quoting, equal, words, units.seconds_interval(rest.low, rest.high))


def _derived(quoting: Quoting, equal: EqualCores, words: str, within: str) -> Quoted:
    text = f"{words} ({within if within != units.DASH else 'no interval'})"
    own = quoting.of_pools(text, [equal.best, equal.gpu], _doubt(equal))
    return replace(own, words=Html(text))  # no published number to lead to


def _doubt(equal: EqualCores) -> str:
    """Return the first reason why one of its times may not be quoted; '' if all may."""
    return why_not(words for pool in (*equal.pools, equal.gpu) for words in lacking(pool.pooled))


def _others(quoting: Quoting, equals: list[EqualCores]) -> Html:
    names = [quoting.model(equal.gpu.newest.description) for equal in equals if math.isinf(equal.cores.value)]
    return Html("The same holds for {}.").format(listed(names)) if names else Html("")


QUESTION = Question(
    title="How many CPU cores equal a GPU?",
    place=14,
    also=("threads", "Amdahl", "server CPU", "Threadripper", "EPYC", "Xeon"),
    wanted="This needs a step on 1, 2, 4 and more cores of a CPU, and on the GPU of the same machine.",
    command="nox -s bench -- cifar10_mlp --experiment threads",
    evidence=("threads",),
    read_next=("which_is_cheaper_in_the_cloud", "cpu_or_gpu_for_inference"),
    answer=answer,
)
