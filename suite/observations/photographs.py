"""Networks that tell cats from dogs, with their input: how it is tuned, and what depth costs."""

from collections.abc import Sequence

from suite import units
from suite.experiments import accuracy, depth, input_tuning
from suite.inquiry.flows import change, gain
from suite.inquiry.learning import learnt, newest
from suite.inquiry.steps import words
from suite.inquiry.tuning import DEFAULT, DOCUMENTED, gpu_busy, of_workers, speed, step_share, twins
from suite.observations import NOT_RUN, Judgement, Observation, either, judgement
from suite.observations._articles import PHOTOGRAPHS
from suite.observations._found import FAR, above, below, counted, higher, near, steps
from suite.results.record import Record
from suite.results.statistics import Estimate
from suite.results.summary import Summary
from suite.results.watched import gpu_share

_BASE, _DROPOUT, _WIDE, _DEEP = "catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_128", "catdog_cnn_deep"
_GAINS = {"cpu": 64 / 47, "gpu": 3.0}  # documented, of four workers and batch 64 over the default
_SAME, _IDLE, _STEP = 0.1, 0.1, 0.5
_RISES = 0.1  # of the time that the GPU is busy


def _cells(records: Sequence[Record], backend: str) -> dict[tuple[int, int, str], Summary]:
    found = [input_tuning.cells(group) for group in input_tuning.swept(records) if group[0].record.backend == backend]
    return {key: item for cells in found for key, item in cells.items() if counted(item)}


def tuning_gain(records: Sequence[Record], backend: str) -> tuple[Estimate | None, tuple[Summary, ...]]:
    """Return what four workers and batch 64 gain over the default, None if no campaign has both; and both results."""
    cells = _cells(records, backend)
    tuned, base = cells.get((*DOCUMENTED, "host")), cells.get((*DEFAULT, "host"))
    return (speed(tuned, base), (tuned, base)) if tuned and base else (None, ())


def _tuned(records: Sequence[Record]) -> Judgement:
    said, alike, lost, items = [], [], [], []
    for backend, documented in _GAINS.items():
        found, results = tuning_gain(records, backend)
        if found is not None:
            items += results
            said.append(f"{words(found)} on the {backend.upper()}, documented {units.stated(round(documented, 2))}")
            alike.append(near(found, documented))
            lost.append(below(found, 1))
    if not said:
        return NOT_RUN
    return either(all(alike), any(lost), f"Four workers and batch 64 gain {'; '.join(said)}.", items)


def _input_bound(records: Sequence[Record]) -> Judgement:
    item = _cells(records, "gpu").get((*DEFAULT, "host"))
    busy, share = (gpu_busy(item), step_share(item)) if item else (None, None)
    if item is None or busy is None or share is None:
        return NOT_RUN
    said = (
        f"At the default the GPU is busy {units.percent(busy)}; the step alone is {units.percent(share)} of the time."
    )
    return either(busy <= _IDLE and share < _STEP, share >= _STEP, said, [item])


def _networks(records: Sequence[Record]) -> depth.Networks:
    found = depth.networks(records)
    return {key: scopes for key, scopes in found.items() if all(map(counted, scopes.values()))}


def _results(
    found: depth.Networks, *names: str, scopes: Sequence[str] = ("epoch",), backends: Sequence[str] = ("cpu", "gpu")
) -> list[Summary]:
    """Return these networks' results, by default from storage on both sides."""
    mine = [each for (name, backend), each in found.items() if name in names and backend in backends]
    return [each[scope] for each in mine for scope in scopes if scope in each]


def _even_so(records: Sequence[Record]) -> Judgement:
    stored = steps(records, (_BASE,), "epoch").get(_BASE)
    if stored is None:
        return NOT_RUN
    said = f"From storage on the GPU is {words(stored.ratio)} as fast as the CPU."
    return either(near(stored.ratio, 4), below(stored.ratio, 1), said, [stored])


def _changes(found: depth.Networks, name: str, base: str, scope: str) -> dict[str, Estimate]:
    """Return how a rate changes from a network to another, by backend."""
    pairs = {b: (found.get((name, b), {}).get(scope), found.get((base, b), {}).get(scope)) for b in ("cpu", "gpu")}
    ratios = {b: gain(mine, theirs) for b, (mine, theirs) in pairs.items() if mine and theirs}
    return {backend: ratio for backend, ratio in ratios.items() if ratio is not None}


def _said(changes: dict[str, Estimate]) -> str:
    return ", ".join(f"{change(value)} on the {backend.upper()}" for backend, value in changes.items())


def _gap_grows(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    (small, _), (large, _) = (depth.between(found, name, "epoch") for name in (_BASE, _WIDE))
    changes = _changes(found, _WIDE, _DROPOUT, "epoch")
    cost = f"Larger pictures change the speed from storage on by {_said(changes)}. " if changes else ""
    if small is None or large is None:
        unknown = f"{cost}The gap is not known, as GPU and CPU of a network are not of one campaign."
        return judgement("not comparable", unknown, _results(found, _DROPOUT, _WIDE)) if changes else NOT_RUN
    items = _results(found, _BASE, _DROPOUT, _WIDE)
    said = f"{cost}From storage on the GPU is {words(small)} as fast with {_BASE} and {words(large)} with {_WIDE}."
    both = _results(found, _BASE, _WIDE)
    return either(higher(large, small, both), higher(small, large, both), said, items)


def _free_depth(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    stored, alone = (_changes(found, _DEEP, _WIDE, scope).get("gpu") for scope in ("epoch", "step"))
    if stored is None or alone is None:
        return NOT_RUN
    said = (
        f"From {_WIDE} to {_DEEP} the GPU's speed changes by {change(stored)} from storage on, {change(alone)} alone."
    )
    items = _results(found, _WIDE, _DEEP, scopes=("epoch", "step"), backends=("gpu",))
    return either(above(stored, 1 - _SAME), below(stored, 1 - _SAME), said, items)


def _busier(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    shares = [
        gpu_share(found[name, "gpu"]["epoch"].record) if (name, "gpu") in found else None
        for name in (_BASE, _WIDE, _DEEP)
    ]
    small, wide, deep = shares
    if small is None or wide is None or deep is None:
        return NOT_RUN
    said = f"The GPU is busy {', '.join(map(units.percent, (small, wide, deep)))} of the time along the three networks."
    items = _results(found, _BASE, _WIDE, _DEEP, backends=("gpu",))
    return either(wide > small + _RISES and deep > wide + _RISES, deep <= small, said, items)


def _no_change(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    pairs = (("catdog_cnn_conv64", _BASE), (_DROPOUT, "catdog_cnn_conv64"))
    changes = {f"{name} after {base}": _changes(found, name, base, "epoch") for name, base in pairs}
    values = [value for change_ in changes.values() for value in change_.values()]
    if not all(changes.values()):
        return NOT_RUN
    said = "; ".join(f"{pair}: {_said(change_)}" for pair, change_ in changes.items())
    inside = all(above(value, 1 - _SAME) and below(value, 1 + _SAME) for value in values)
    outside = any(below(value, 1 - _SAME) or above(value, 1 + _SAME) for value in values)
    return either(inside, outside, f"{said}.", _results(found, *(name for pair in pairs for name in pair)))


def _ladder(records: Sequence[Record]) -> Judgement:
    reading, rises = accuracy.read(records), accuracy.rising(accuracy.trained(records))
    if reading is None or rises is None:
        return Judgement(verdict="not run", found="Needs the real data.")
    return either(rises, not rises, " ".join(reading.answers), ())  # no times


def _augmenting(records: Sequence[Record]) -> Judgement:
    found = [item for item in input_tuning.beside(records) if counted(item)]
    costs = list(twins(found))
    if not costs:
        return NOT_RUN
    said = "; ".join(f"{change(cost)} with {of_workers(i.record.case.workers)}, batch {i.record.case.batch}, "
                     f"on the {i.record.backend.upper()}" for i, _, cost in costs)  # fmt: skip
    values = [cost for *_, cost in costs]
    return either(any(below(v, 1) for v in values), all(above(v, 1 - _SAME / 2) for v in values),
                  f"Augmentation changes the speed by {said}.", [i for *pair, _ in costs for i in pair])  # fmt: skip


def _not_rescaled(records: Sequence[Record]) -> Judgement:
    mine = [record for record in records if record.workload == _DROPOUT]
    photographs = newest(record for record in mine if record.case.data == accuracy.NEEDS_DATA)
    record = (photographs or newest(mine)).get(_DROPOUT)
    said = {one.pixels: one for run in learnt(record)[:1] for one in run.predictions} if record else {}
    if set(said) != {"0 to 1", "0 to 255"}:
        return NOT_RUN
    right, wrong = said["0 to 1"], said["0 to 255"]
    tilted = wrong.above_half > right.above_half + _RISES
    rare = right.exactly_one < _RISES
    words_ = (
        f"Of pixels from 0 to 1 it calls {units.percent(right.above_half)} a dog, of pixels from 0 to 255 "
        f"{units.percent(wrong.above_half)}; {units.percent(right.exactly_one)} of the outputs are exactly 1."
    )
    if not photographs:
        return Judgement(verdict="not comparable", found=f"{words_} It has seen drawings, which decide nothing.")
    return either(tilted and rare, wrong.above_half < right.above_half, words_, ())  # no times


OBSERVATIONS = (
    Observation(
        code="O16",
        article=PHOTOGRAPHS,
        said="Four workers for one, and batch 64 for 32, give 1.36 times the speed on a CPU and about three times "
        "with a GPU.",
        rule="Reproduced if the gain is as high on each side that was measured, within a factor of 1.25; refuted if "
        "it is surely a loss on one.",
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
        rule="Reproduced if the GPU is busy no more than 10 % at the default and the step alone is less than half of "
        "the time; refuted if it is more than half.",
        experiment="input_tuning",
        judge=_input_bound,
    ),
    Observation(
        code="O18",
        article=PHOTOGRAPHS,
        said="Even so the GPU is four times as fast as the server's processors.",
        rule="Reproduced if the speed-up from storage on is as high, within a factor of 1.25; refuted if the GPU is "
        "surely slower. Other ratios are of other hardware.",
        experiment="depth",
        judge=_even_so,
    ),
    Observation(
        code="O19",
        article=PHOTOGRAPHS,
        said="Pictures of 128 instead of 64 pixels cost the GPU about 20 % and the CPU about 85 % of its speed: the "
        "gap grows to 23 times.",
        rule="Reproduced if the speed-up from storage on surely grows with the larger pictures, refuted if it surely "
        f"falls; by a factor of {FAR:g} where no campaign has both.",
        experiment="depth",
        numbers=((_WIDE, "throughput"), (_WIDE, "change_from_dropout_net")),
        judge=_gap_grows,
    ),
    Observation(
        code="O20",
        article=PHOTOGRAPHS,
        said="More than thirty further convolutions cost the GPU nothing, while the CPU falls to 3 pictures a second.",
        rule="Reproduced if the GPU surely loses less than 10 % from storage on, refuted if it surely loses more.",
        experiment="depth",
        numbers=((_DEEP, "throughput"),),
        judge=_free_depth,
    ),
    Observation(
        code="O21",
        article=PHOTOGRAPHS,
        said="Along three networks the GPU is busy 10, 50 and 100 % of the time.",
        rule="Reproduced if each of the three keeps the GPU busier by 10 points than the one before, refuted if the "
        "last keeps it no busier than the first.",
        experiment="depth",
        numbers=tuple((name, "gpu_utilisation") for name in (_BASE, _WIDE, _DEEP)),
        judge=_busier,
    ),
    Observation(
        code="O22",
        article=PHOTOGRAPHS,
        said="A further convolution with its pooling, and dropout, do not change the speed.",
        rule="Reproduced if each surely changes the speed from storage on by less than 10 % on all sides measured, "
        "refuted if one surely changes it by more.",
        experiment="depth",
        judge=_no_change,
    ),
    Observation(
        code="O23",
        article=PHOTOGRAPHS,
        said="Along four networks the accuracy is 80, 84, 90 and 94 %, and 85 % without augmentation.",
        rule="On the real data alone: reproduced if the accuracy rises with each of the four, else refuted.",
        experiment="accuracy",
        judge=_ladder,
    ),
    Observation(
        code="O24",
        article=PHOTOGRAPHS,
        said="Augmentation costs speed: 425 against 533 pictures a second.",
        rule="Reproduced if augmentation surely costs speed at the default or tuned, refuted if it surely costs less "
        "than 5 % in all.",
        experiment="input_tuning",
        numbers=((_DROPOUT, "throughput"), ("catdog_cnn_noaug", "throughput")),
        judge=_augmenting,
    ),
    Observation(
        code="O25",
        article=PHOTOGRAPHS,
        said="Pixels that were not rescaled tilt the answers to dogs, and an output is rarely exactly 0 or 1.",
        rule="Reproduced if such pixels make the share called a dog higher by 10 points and fewer than 10 % of the "
        "outputs are exactly 1; refuted if the share is lower. By photographs alone: drawings of cats and dogs decide "
        "nothing.",
        experiment="predict_rescale",
        judge=_not_rescaled,
    ),
)
