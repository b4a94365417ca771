"""O26: a GPU and its batch size."""

from suite import units
from suite.analysis.input_pipeline import from_storage, gpu_busy
from suite.analysis.steps import percent_words
from suite.claims import NOT_RUN, Judgement, Observation, judged, part, unjudged, unmeasured
from suite.claims._articles import PHOTOGRAPHS
from suite.claims._judging import below, mostly, unsure
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record

_BATCH, _HALF, _FULL = 512, 0.6, 0.9
_INPUT_LEFT_OUT = "documented is a training that reads and distorts its pictures, and here they lay on the device"


def _half_idle(evidence: Evidence) -> Judgement:
    stored, resident = (_at_batch(evidence, scope) for scope in ("epoch", "step"))
    pool = stored or resident
    if pool is None:
        return NOT_RUN
    where = "from storage on" if stored else "its batch on the device"
    rate = f"{units.quantity(pool.seconds.per(_BATCH).value, '')} pictures/s"
    busy = gpu_busy(pool)
    if busy is None:
        return unmeasured("how busy the GPU is meanwhile", f"At batch {_BATCH}, {where}, it trains with {rate}.")
    summary = f"At batch {_BATCH}, {where}, the GPU is busy {percent_words(busy)} of the time: {rate}."
    if not stored:
        return judged(summary, [unjudged("", _INPUT_LEFT_OUT)])
    return judged(summary, [part("", below(busy, _HALF), mostly(busy, _FULL), why=unsure(busy, between=True))])


def _at_batch(evidence: Evidence, scope: str) -> Pool | None:
    """Return the GPU's pool at the documented batch, from storage or with the batch on the device; None if missing."""

    def fits(record: Record) -> bool:
        usual = from_storage(record, "batch") if scope == "epoch" else record.headline_step("batch")
        documented = record.workload == "cifar10_tf_cnn" and record.case.batch == _BATCH
        return documented and record.backend == "gpu" and usual

    return next(evidence.fitting(fits), None)


OBSERVATIONS = (
    Observation(
        code="O26",
        article=PHOTOGRAPHS,
        said="The CIFAR-10 network keeps a V100 only about 45 % busy at batch 512, at 15,000 to 17,000 pictures a "
        "second.",
        rule="By training from storage on, since the article's reads and distorts its pictures; a batch on the device "
        "decides nothing. Reproduced if the GPU is surely busy less than 60 % of the time. Refuted if surely more "
        "than 90 %.",
        experiment="batch",
        numbers=(("cifar10_tf_cnn", "throughput_b512"),),
        judge=_half_idle,
    ),
)
