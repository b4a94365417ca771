"""Lower precision on the GPU: bfloat16 and TF32 beside float32, and bfloat16 beside TF32."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import geometric_mean

from suite import units
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.lead import short
from suite.report.parts.quoted import Quoting, span
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record

_FULL, _TF32, _MIXED = "float32-highest", "tf32", "bfloat16"


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the least and the most that bfloat16 gains over float32, and over TF32."""
    steps = [{pool.case.precision: pool for pool in group} for group in evidence.sides(_fits, least=2)]
    ends = _ends(steps, _FULL, _MIXED)
    if not ends:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    numbers = tuple(quoting.ratio(each[_FULL], each[_MIXED]) for each in ends)
    least, most = (quoting.model(each[_FULL].newest.description) for each in ends)
    gains = [over(each[_FULL], each[_MIXED]).value for each in steps if _FULL in each and _MIXED in each]
    mean, models = short(geometric_mean(gains)), units.pluralize(len(gains), "model")
    return Answer(
        sentence=Html("On one {}, bfloat16 makes a step {} as fast as float32, the geometric mean of {}: {}.").format(
            quoting.gpu, mean, models, span(numbers)
        ),
        numbers=numbers,
        turns=Html(
            "It helps where matrix products and convolutions fill the step. It gains most in {}, least in {}.{}"
        ).format(most, least, _beside_tf32(quoting, steps)),
        draw=partial(shown, facts, evidence, "precision", f"bfloat16 makes a step {mean} as fast over {models}"),
        tables=tables(facts, evidence, "precision"),
    )


def _ends(steps: Sequence[Mapping[str, Pool]], one: str, other: str) -> list[Mapping[str, Pool]]:
    """Return the models that gain least and most from one precision to another; none if none has both."""
    both = [each for each in steps if one in each and other in each]
    both.sort(key=lambda each: over(each[one], each[other]).value)
    return [both[0], both[-1]] if both else []


def _beside_tf32(quoting: Quoting, steps: Sequence[Mapping[str, Pool]]) -> Html:
    ends = _ends(steps, _TF32, _MIXED)
    if not ends:
        return Html("")
    least, most = (quoting.ratio(each[_TF32], each[_MIXED]).words for each in ends)
    return Html(" Beside TF32, which is one setting, bfloat16 makes a step {} to {} as fast.").format(least, most)


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
