"""O4: a GPU and a search over hyper-parameters."""

from suite.analysis.searches import gain_words, gains, is_search
from suite.claims import NOT_RUN, Judgement, Observation, judged, unmeasured
from suite.claims._articles import MNIST
from suite.claims._judging import over, sure
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record

_SEARCH = "mnist_grid_search"


def _gains(evidence: Evidence) -> Judgement:
    by_way = gains(evidence.speedups).get(_SEARCH, {})
    text = gain_words(by_way)
    if "plain" in by_way:
        plain = by_way["plain"]
        return judged(text, [over("", sure(plain), 1)], speedups=by_way.values())
    backends = {pool.case.backend for pool in evidence.fitting(_plain)}
    if not text and not backends:
        return NOT_RUN
    missing = " and ".join(f"the {side.upper()}" for side in ("cpu", "gpu") if side not in backends)
    return unmeasured(f"one fit after another on {missing or 'both sides, computed alike'}", text)


def _plain(record: Record) -> bool:
    return is_search(record) and record.workload == _SEARCH and record.case.variant == "plain"


OBSERVATIONS = (
    Observation(
        code="O4",
        article=MNIST,
        said="A grid search over hyper-parameters gains from a GPU.",
        rule="Reproduced if the whole search, one fit after another, is surely faster on the GPU. Refuted if it is "
        "surely slower.",
        experiment="grid_search",
        judge=_gains,
    ),
)
