"""O16, O17, O24: tuning the input pipeline of cat-and-dog networks."""

from suite import units
from suite.analysis.input_pipeline import change, from_storage, gpu_busy, step_share
from suite.analysis.steps import percent_words, words
from suite.analysis.tuning import DEFAULT, DOCUMENTED, of_workers, twins
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
from suite.claims._articles import PHOTOGRAPHS
from suite.claims._judging import SIZE, above, alike, below, unsure
from suite.experiments.input_tuning import beside
from suite.results.pooled.machine_evidence import Evidence, rate_over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.statistics import Estimate

_BASE, _DROPOUT, _NOAUG = "catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_noaug"
GAINS = {"cpu": 64 / 47, "gpu": 3.0}  # documented, of four workers and batch 64 over the default
_IDLE, _STEP, _FREE = 0.1, 0.5, 0.05


def _cell(evidence: Evidence, name: str, backend: str, cell: tuple[int, int]) -> Pool | None:
    """Return a network's steps from storage with so many workers and such a batch; None if there are none."""

    def fits(record: Record) -> bool:
        case = record.case
        return (case.backend, case.workers, case.batch) == (backend, *cell) and from_storage(record, "workers", "batch")

    return next(evidence.of(name).fitting(fits), None)


def tuning_gain(evidence: Evidence, backend: str) -> Estimate | None:
    """Return the gain of four workers and batch 64 over the default; None if one of them was not measured."""
    tuned, base = (_cell(evidence, _BASE, backend, cell) for cell in (DOCUMENTED, DEFAULT))
    return rate_over(tuned, base).estimate if tuned and base else None


def _tuned(evidence: Evidence) -> Judgement:
    texts, parts = [], list[Part]()
    for backend, documented in GAINS.items():
        says = f"the gain on the {backend.upper()} is {units.documented(round(documented, 2))}"
        gain = tuning_gain(evidence, backend)
        if gain is None:
            parts.append(unjudged(says, "it was not measured"))
        elif backend == "cpu" and evidence.records[0].machine.cores < DOCUMENTED[0]:
            parts.append(unjudged(says, "the machine has fewer than four cores"))
        else:
            parts.append(alike(says, gain, documented))
        if gain is not None:
            texts.append(f"{words(gain)} on the {backend.upper()}, documented {units.documented(round(documented, 2))}")
    return judged(f"Four workers and batch 64 gain {'; '.join(texts)}.", parts) if texts else NOT_RUN


def _input_bound(evidence: Evidence) -> Judgement:
    pool = _cell(evidence, _BASE, "gpu", DEFAULT)
    busy, alone = (gpu_busy(pool), step_share(pool)) if pool else (None, None)
    if busy is None or alone is None:
        return NOT_RUN
    summary = (
        f"At the default the GPU is busy {percent_words(busy)}; the step alone is {percent_words(alone)} of the time."
    )
    idle = part("the GPU is busy at most 10 %", below(busy, _IDLE), above(busy, _IDLE), why=unsure(busy))
    held = part("the input holds it up", below(alone, _STEP), above(alone, _STEP), why=unsure(alone))
    return judged(summary, [idle, held])


def augmenting_costs(evidence: Evidence) -> list[tuple[Pool, Estimate]]:
    """Return each measured pool of the network with dropout, with its speed augmented over not augmented."""
    return [(pool, cost.estimate) for pool, cost in twins(beside(evidence))]


def _augmenting(evidence: Evidence) -> Judgement:
    costs = augmenting_costs(evidence)
    if not costs:
        return NOT_RUN
    changes = "; ".join(f"{change(cost)} with {of_workers(pool.case.workers)}, batch {pool.case.batch}, "
                     f"on the {pool.case.backend.upper()}" for pool, cost in costs)  # fmt: skip
    values = [cost for _, cost in costs]
    slower, alike_ = any(below(v, 1) for v in values), all(above(v, 1 - _FREE) for v in values)
    return judged(f"Augmentation changes the speed by {changes}.", [part("", slower, alike_, why=unsure(*values))])


OBSERVATIONS = (
    Observation(
        code="O16",
        article=PHOTOGRAPHS,
        said="Four workers for one, and batch 64 for 32, give 1.36x the speed on a CPU and about three times "
        "with a GPU.",
        rule=f"A part for each side. It holds if the gain is as high within a factor of {SIZE:g}, and fails if it is "
        "surely a loss. The CPU needs four cores.",
        experiment="input_tuning",
        numbers=(
            (_BASE, "throughput_default"),
            (_BASE, "throughput_tuned"),
            (_BASE, "epoch_of_8000_steps"),
            (_BASE, "25_epochs"),
        ),
        judge=_tuned,
    ),
    Observation(
        code="O17",
        article=PHOTOGRAPHS,
        said="With a small network the GPU is busy 0 to 10 % of the time: reading, decoding and augmenting hold it up.",
        rule="At the default. Part 1 holds if the GPU is surely busy less than 10 % of the time; it fails above. Part "
        "2 holds if the step alone is surely less than half of the time; it fails above.",
        experiment="input_tuning",
        judge=_input_bound,
    ),
    Observation(
        code="O24",
        article=PHOTOGRAPHS,
        said="Augmentation costs speed: 425 against 533 pictures a second.",
        rule="Reproduced if augmentation surely costs speed at the default or tuned. "
        "Refuted if it surely costs less than 5 % at both.",
        experiment="input_tuning",
        numbers=((_DROPOUT, "throughput"), (_NOAUG, "throughput")),
        judge=_augmenting,
    ),
)
