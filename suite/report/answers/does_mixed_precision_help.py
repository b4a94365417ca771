"""Lower precision on the GPU: bfloat16 over TF32, which is the default, and over full float32."""

from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from suite import units
from suite.analysis.steps import ratio_point
from suite.report.answers._own_chart import OwnChart
from suite.report.parts.answer import Answer, Question, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.lead import short
from suite.report.parts.quoted import Quoting, span
from suite.results.pooled.kinds import FEWEST_MODELS
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.records.record import Record
from suite.results.views.experiment_result import Chart

_FULL, _TF32, _MIXED = "float32-highest", "tf32", "bfloat16"
_NAMES = {_MIXED: "bfloat16", _TF32: "TF32", _FULL: "full float32"}
_LEAD = {_TF32: "TF32, JAX’s default"}


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the least and the most that bfloat16 gains over TF32, JAX's default, or over float32 without TF32."""
    steps = [{pool.case.precision: pool for pool in group} for group in evidence.sides(_fits, least=2)]
    base = _TF32 if _ends(steps, _TF32) else _FULL
    ends = _ends(steps, base)
    if not ends:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    numbers = tuple(quoting.ratio(each[base], each[_MIXED]) for each in ends)
    least, most = (quoting.model(each[base].newest.description) for each in ends)
    mean, models = _mean(steps, base)
    chart = _chart(facts, steps, base, f"bfloat16 makes a step {mean} as fast as {_NAMES[base]} over {models}")
    return Answer(
        sentence=Html("Over {}, bfloat16 makes a step {} as fast on one {}, the geometric mean of {}: {}.").format(
            _LEAD.get(base, _NAMES[base]), mean, quoting.gpu, models, span(numbers)
        ),
        numbers=numbers,
        turns=Html(
            "It helps where matrix products and convolutions fill the step. It gains most in {}, least in {}.{}"
        ).format(most, least, _over_full(quoting, steps) if base == _TF32 else ""),
        draw=chart.figures,
        tables=(chart.table, *tables(facts, evidence, "precision")),
        thin=len(_with(steps, base)) < FEWEST_MODELS,
    )


def _with(steps: Sequence[Mapping[str, Pool]], base: str) -> list[Mapping[str, Pool]]:
    """Return the models timed in a base and in bfloat16, that which gains least first."""
    both = [each for each in steps if base in each and _MIXED in each]
    return sorted(both, key=lambda each: over(each[base], each[_MIXED]).value)


def _ends(steps: Sequence[Mapping[str, Pool]], base: str) -> list[Mapping[str, Pool]]:
    """Return the models that gain least and most over a base; none if none has both."""
    both = _with(steps, base)
    return [both[0], both[-1]] if both else []


def _mean(steps: Sequence[Mapping[str, Pool]], base: str) -> tuple[str, str]:
    """Return the geometric mean of what bfloat16 gains over a base, and of how many models, in words."""
    gains = [over(each[base], each[_MIXED]).value for each in _with(steps, base)]
    return short(geometric_mean(gains)), units.pluralize(len(gains), "model")


def _over_full(quoting: Quoting, steps: Sequence[Mapping[str, Pool]]) -> Html:
    """Return that TF32 is the default, and what bfloat16 gains over full float32."""
    default = Html(
        " JAX takes TF32 by default on such a GPU, so it is the base here; the suite’s speed-ups are in full float32."
    )
    ends = _ends(steps, _FULL)
    if not ends:
        return default
    mean, models = _mean(steps, _FULL)
    numbers = [quoting.ratio(each[_FULL], each[_MIXED]) for each in ends]
    return Html("{} Over full float32, bfloat16 makes a step {} as fast, the geometric mean of {}: {}.").format(
        default, mean, models, span(numbers)
    )


def _chart(facts: Facts, steps: Sequence[Mapping[str, Pool]], base: str, title: str) -> OwnChart:
    """Return the chart of the other precisions' speed over the base's, the model that gains most first."""
    gains = [
        (each[base].case.workload, other, over(each[base], each[other]))
        for each in reversed(_with(steps, base))
        for other in _NAMES
        if other != base and other in each
    ]
    points = tuple(ratio_point(_NAMES[other], gain, row=workload) for workload, other, gain in gains)
    doubts = [next(lacking(gain), "") for *_, gain in gains]
    caption = f"Time of a step in {_NAMES[base]} over its time in another precision on one GPU; above 1 that is faster."
    chart = Chart(caption=caption, across=f"{_NAMES[base]} time / time, log scale", points=points, level=1.0)
    columns = ("model", "precision", f"speed over {_NAMES[base]}")
    return OwnChart(
        name="does-mixed-precision-help", title=title, chart=chart, titles=facts.titles, doubts=doubts, columns=columns
    )


def _fits(record: Record) -> bool:
    return record.backend == "gpu" and record.headline_step("precision")


QUESTION = Question(
    title="Does mixed precision help?",
    place=13,
    also=("bfloat16", "bf16", "fp16", "half precision", "AMP", "autocast", "TF32", "tensor cores"),
    wanted="This needs a step on a GPU in float32, TF32 and bfloat16.",
    command="nox -s bench -- cifar10_resnet63 --experiment precision",
    evidence=("precision", "roofline"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "what_does_the_batch_size_do"),
    answer=answer,
)
