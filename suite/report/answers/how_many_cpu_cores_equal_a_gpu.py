"""Cores: how many would take as long as the GPU, by Amdahl's law."""

import math
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
from suite.report.parts.quoted import Quoted, Quoting, listed
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import lacking


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return how many cores equal the GPU, for the model that needs fewest, one to be quoted before others."""
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
        turns=Html(" ").join(
            filter(None, (_rule(first, len(equals), len(gpus)), _others(quoting, others), _baseline(evidence, first)))
        ),
        draw=partial(shown, facts, evidence, "threads", title),
        tables=tables(facts, evidence, "threads"),
    )


_SENTENCES = {
    "never": "No number of its cores is enough for {model}: unlimited ones take {number} a step, one {gpu} {seconds}.",
    "probably never": "Probably no number of its cores is enough for {model}: unlimited ones take {number} a step, "
    "one {gpu} {seconds}.",
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


def _rule(first: EqualCores, timed: int, models: int) -> Html:
    """Return what the number hangs on, and for how many models it is known."""
    return Html(
        "Part of each step runs on one core only. If that part alone takes longer than the GPU’s step, no number of "
        "cores is enough. Further cores are extrapolated by Amdahl’s law from the {} that were timed. {} of {} were "
        "timed by threads."
    ).format(_threads(first), units.count(timed), units.pluralize(models, "model"))


def _baseline(evidence: Evidence, equal: EqualCores) -> str:
    """Return that the law is of JAX's step, with the time of the fastest other implementation on all cores."""
    name = equal.gpu.case.workload
    item = next((each for each in evidence.speedups if each.headline and each.workload == name), None)
    if item is None or not item.baselines:
        return ""
    return f"The law is fitted to JAX’s step; on all cores {item.baselines[0].takes} of its time."


def _number(quoting: Quoting, equal: EqualCores) -> Quoted:
    rest, pools = equal.without_end, [equal.best, equal.gpu]
    if math.isinf(equal.cores.value):
        words = units.seconds(rest.value, units.half_width(rest.low, rest.high))
        within = units.seconds_interval(rest.low, rest.high)
    else:
        words, within = units.pluralize(cores.whole(equal.cores.value), "core"), cores.interval(equal.cores)
    text = f"{words} ({within if within != units.DASH else 'no interval'})"
    return replace(quoting.of_pools(text, pools, _doubt(equal)), words=Html(text))  # no published number to lead to


def _doubt(equal: EqualCores) -> str:
    """Return the first reason why one of its times may not be quoted; '' if all may."""
    return next((words for pool in (*equal.pools, equal.gpu) for words in lacking(pool.pooled)), "")


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
