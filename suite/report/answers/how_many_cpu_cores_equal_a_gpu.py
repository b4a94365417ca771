"""Cores: how many would take as long as the GPU, by Amdahl's law."""

import math
from functools import partial

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
    """Return how many cores equal the GPU, for the model whose law has most numbers of threads."""
    steps = evidence.fitting(lambda record: record.backend == "gpu" and record.headline_step())
    gpus = {pool.case.workload: pool for pool in steps}
    groups = [group for group in threads.sweeps(evidence) if group[0].case.workload in gpus]
    equals = [equal for group in groups if (equal := cores.equal_cores(group, gpus[group[0].case.workload]))]
    if not equals:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    equals.sort(key=lambda equal: (math.isinf(equal.cores.value), equal.cores.value, -len(equal.pools)))
    first, others = equals[0], equals[1:]
    number = _number(quoting, first)
    title = "No number of cores equals the GPU" if math.isinf(first.cores.value) else "How far more threads help"
    return Answer(
        sentence=Html(_SENTENCES[math.isinf(first.cores.value)]).format(
            quoting.model(first.gpu.newest.description), number.words, quoting.gpu, quoting.seconds(first.gpu).words
        ),
        numbers=(number, quoting.seconds(first.gpu)),
        turns=Html(
            "It turns with the part of a step that no thread shortens: where it outlasts the GPU’s step, no number of "
            "cores is enough.{} {} Another host, or PyTorch, may take less."
        ).format(_others(quoting, others), _law(first, len(equals))),
        draw=partial(shown, facts, evidence, "threads", title),
        tables=tables(facts, evidence, "threads"),
    )


def _law(equal: EqualCores, models: int) -> str:
    """Return from how many threads the law is, and of how many models there is one, in a sentence."""
    least, most = units.count(cores.threads(equal.pools[0])), units.pluralize(equal.fitted, "thread")
    tried = units.pluralize(models, "model was tried", "models were tried")
    return f"This carries on from {least} to {most} by Amdahl’s law; {tried}."


_SENTENCES = {
    True: "None for {}: infinitely many cores would take {} a step, one {} takes {}.",
    False: "For {} about {} equal one {}, which takes {} a step.",
}


def _number(quoting: Quoting, equal: EqualCores) -> Quoted:
    rest, pools = equal.without_end, [equal.best, equal.gpu]
    caveat = next((words for pool in (*equal.pools, equal.gpu) for words in lacking(pool.pooled)), "")
    if math.isinf(equal.cores.value):
        words = units.seconds(rest.value, units.half_width(rest.low, rest.high))
        within = units.seconds_interval(rest.low, rest.high)
    else:
        words, within = units.pluralize(cores.whole(equal.cores.value), "core"), cores.interval(equal.cores)
    return quoting.of_pools(f"{words} ({within if within != units.DASH else 'no interval'})", pools, caveat)


def _others(quoting: Quoting, equals: list[EqualCores]) -> Html:
    names = [quoting.model(equal.gpu.newest.description) for equal in equals if math.isinf(equal.cores.value)]
    return Html(" The same holds for {}.").format(listed(names)) if names else Html("")


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
