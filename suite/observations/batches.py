"""A GPU and the size of its batch."""

from collections.abc import Sequence

from suite import units
from suite.observations import NOT_RUN, Judgement, Observation, either, unmeasured
from suite.observations._articles import PHOTOGRAPHS
from suite.observations._found import groups
from suite.results.record import Record
from suite.results.watched import gpu_share

_BATCH, _HALF = 512, 0.6


def _half_idle(records: Sequence[Record]) -> Judgement:
    found = groups(
        records, lambda r: r.backend == "gpu" and r.workload == "cifar10_tf_cnn" and r.headline_step("batch")
    )
    items = [item for group in found.values() for item in group if item.record.case.batch == _BATCH]
    if not items:
        return NOT_RUN
    rate = f"{units.quantity(items[0].examples_per_second, '')} pictures/s"
    share = gpu_share(items[0].record)
    if share is None:
        return unmeasured("how busy the GPU is meanwhile", f"At batch {_BATCH} it trains with {rate}.")
    said = f"At batch {_BATCH} the GPU is busy {units.percent(share)} of the time, its batch on the device: {rate}."
    return either(share <= _HALF, share > 0.9, said, items)


OBSERVATIONS = (
    Observation(
        code="O26",
        article=PHOTOGRAPHS,
        said="The CIFAR-10 network keeps a V100 only about 45 % busy at batch 512, at 15,000 to 17,000 pictures a "
        "second.",
        rule="Reproduced if the GPU is busy no more than 60 % of the time, refuted if more than 90 %.",
        experiment="crossover",
        numbers=(("cifar10_tf_cnn", "throughput_b512"),),
        judge=_half_idle,
    ),
)
