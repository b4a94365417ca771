"""How the input of a network that tells cats from dogs is tuned."""

from collections.abc import Sequence

from suite import units
from suite.experiments import input_tuning
from suite.inquiry.flows import change
from suite.inquiry.steps import percent_words, steady, words
from suite.inquiry.tuning import DEFAULT, DOCUMENTED, of_workers, speed, twins
from suite.observations import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
from suite.observations._articles import PHOTOGRAPHS
from suite.observations._found import SIZE, above, alike, below, counted, gpu_busy, unsure
from suite.results.flow import flow
from suite.results.record import Record
from suite.results.statistics import Estimate
from suite.results.summary import Summary

_BASE, _DROPOUT, _NOAUG = "catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_noaug"
GAINS = {"cpu": 64 / 47, "gpu": 3.0}  # documented, of four workers and batch 64 over the default
_IDLE, _STEP, _FREE = 0.1, 0.5, 0.05


def _cells(records: Sequence[Record], backend: str) -> dict[tuple[int, int, str], Summary]:
    found = [input_tuning.cells(group) for group in input_tuning.swept(records) if group[0].record.backend == backend]
    return {key: item for cells in found for key, item in cells.items() if counted(item)}


def tuning_gain(records: Sequence[Record], backend: str) -> tuple[Estimate | None, tuple[Summary, ...]]:
    """Return what four workers and batch 64 gain over the default, None if no campaign has both; and both results."""
    cells = _cells(records, backend)
    tuned, base = cells.get((*DOCUMENTED, "host")), cells.get((*DEFAULT, "host"))
    return (speed(tuned, base), (tuned, base)) if tuned and base else (None, ())


def _tuned(records: Sequence[Record]) -> Judgement:
    said, parts, items = [], list[Part](), list[Summary]()
    for backend, documented in GAINS.items():
        says = f"the gain on the {backend.upper()} is {units.stated(round(documented, 2))}"
        found, results = tuning_gain(records, backend)
        if found is None:
            parts.append(unjudged(says, "it was not measured"))
        elif backend == "cpu" and results[0].record.machine.cores < DOCUMENTED[0]:
            parts.append(unjudged(says, "the machine has fewer than four cores"))
        else:
            parts.append(alike(says, found, documented, results))
        if found is not None:
            items += results
            said.append(f"{words(found)} on the {backend.upper()}, documented {units.stated(round(documented, 2))}")
    return judged(f"Four workers and batch 64 gain {'; '.join(said)}.", parts, items) if said else NOT_RUN


def _input_bound(records: Sequence[Record]) -> Judgement:
    item = _cells(records, "gpu").get((*DEFAULT, "host"))
    busy, share = (gpu_busy(item.record), flow(item.record).share) if item else (None, None)
    if item is None or busy is None or share is None:
        return NOT_RUN
    said = (
        f"At the default the GPU is busy {percent_words(busy)}; the step alone is {percent_words(share)} of the time."
    )
    idle = part("the GPU is busy at most 10 %", below(busy, _IDLE), above(busy, _IDLE), [item], unsure(busy))
    held = part("the input holds it up", below(share, _STEP), above(share, _STEP), [item], unsure(share))
    return judged(said, [idle, held], [item])


def augmenting_cost(records: Sequence[Record]) -> tuple[Estimate | None, tuple[Summary, ...]]:
    """Return the GPU's speed with augmentation over that without, with most workers, and both results."""
    gpu = [item for item in input_tuning.beside(records) if counted(item) and item.record.backend == "gpu"]
    one, other, cost = max(twins(gpu), key=lambda pair: pair[0].record.case.workers or 0, default=(None, None, None))
    return (cost, (one, other)) if one and other else (None, ())


def _augmenting(records: Sequence[Record]) -> Judgement:
    found = [item for item in input_tuning.beside(records) if counted(item)]
    costs = list(twins(found))
    if not costs:
        return NOT_RUN
    said = "; ".join(f"{change(cost)} with {of_workers(i.record.case.workers)}, batch {i.record.case.batch}, "
                     f"on the {i.record.backend.upper()}" for i, _, cost in costs)  # fmt: skip
    values = [cost for *pair, cost in costs if steady(*pair)]
    slower, alike_ = any(below(v, 1) for v in values), bool(values) and all(above(v, 1 - _FREE) for v in values)
    why = unsure(*values) if values else "no pair of results is steady"
    return judged(f"Augmentation changes the speed by {said}.", [part("", slower, alike_, why=why)],
                  [i for *pair, _ in costs for i in pair])  # fmt: skip


OBSERVATIONS = (
    Observation(
        code="O16",
        article=PHOTOGRAPHS,
        said="Four workers for one, and batch 64 for 32, give 1.36 times the speed on a CPU and about three times "
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
        rule="Unsteady results are left out. Reproduced if augmentation surely costs speed at the default or tuned. "
        "Refuted if it surely costs less than 5 % at both.",
        experiment="input_tuning",
        numbers=((_DROPOUT, "throughput"), (_NOAUG, "throughput")),
        judge=_augmenting,
    ),
)
