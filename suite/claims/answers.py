"""O23, O25: answers of cat-and-dog networks."""

from itertools import pairwise

from suite import units
from suite.analysis.learning import learnt, newest
from suite.claims import NOT_RUN, Judgement, Observation, judged, part, unjudged
from suite.claims._articles import PHOTOGRAPHS
from suite.claims._judging import least, most, over_processes, unsure
from suite.experiments import accuracy
from suite.results.pooled.machine_evidence import Evidence

_DROPOUT, _NOAUG = "catdog_cnn_dropout", "catdog_cnn_noaug"
_LADDER = ("catdog_cnn_base", "catdog_cnn_conv64", _DROPOUT, "catdog_cnn_128")
_TILTS, _RARE = 0.1, 0.1  # of the answers


def _ladder(evidence: Evidence) -> Judgement:
    result = accuracy.read(evidence)
    accuracies = {
        name: over_processes([one.accuracy for one in learnt(record)])
        for name, record in accuracy.trained(evidence.records).items()
    }
    known = {name: value for name, value in accuracies.items() if value is not None}
    if result is None or not set(_LADDER) <= known.keys():
        return Judgement(verdict="not run", found="Needs the real data.")
    rungs = [known[name] for name in _LADDER]
    rises = all(least(after) > most(before) for before, after in pairwise(rungs))
    falls = any(most(after) < least(before) for before, after in pairwise(rungs))
    parts = [part("the accuracy rises along the four networks", rises, falls, why=unsure(*rungs))]
    lower, plain, augmented = "it is lower without augmentation", known.get(_NOAUG), known[_DROPOUT]
    if plain is None:
        parts.append(unjudged(lower, "it was not measured"))
    else:
        less, more = most(plain) < least(augmented), least(plain) > most(augmented)
        parts.append(part(lower, less, more, why=unsure(plain, augmented)))
    return judged(" ".join(result.answers), parts)


def _not_rescaled(evidence: Evidence) -> Judgement:
    of_network = [record for record in evidence.records if record.workload == _DROPOUT]
    photographs = newest(record for record in of_network if record.case.data == accuracy.NEEDS_DATA)
    record = (photographs or newest(of_network)).get(_DROPOUT)
    predictions = {one.pixels: one for run in learnt(record)[:1] for one in run.predictions} if record else {}
    if set(predictions) != {"0 to 1", "0 to 255"}:
        return NOT_RUN
    right, wrong = predictions["0 to 1"], predictions["0 to 255"]
    more, less = wrong.above_half > right.above_half + _TILTS, wrong.above_half < right.above_half
    rare = right.exactly_one < _RARE
    words_ = (
        f"Of pixels from 0 to 1 it calls {units.percent(right.above_half)} a dog, of pixels from 0 to 255 "
        f"{units.percent(wrong.above_half)}; {units.percent(right.exactly_one)} of the outputs are exactly 1."
    )
    if not photographs:
        return judged(words_, [unjudged("", "it was trained on drawings, which decide nothing")])
    between = "the share called a dog rises by less than 10 points"
    tilted = part("pixels that were not rescaled tilt the answers to dogs", more, less, why=between)
    return judged(words_, [tilted, part("an output is rarely exactly 1", rare, not rare)])


OBSERVATIONS = (
    Observation(
        code="O23",
        article=PHOTOGRAPHS,
        said="Along four networks the accuracy is 80, 84, 90 and 94 %, and 85 % without augmentation.",
        rule="On the real data alone. Part 1 holds if the accuracy surely rises with each of the four networks; it "
        "fails if it surely falls with one. Part 2 holds if it is surely lower without augmentation; it fails if "
        "surely higher.",
        experiment="accuracy",
        judge=_ladder,
    ),
    Observation(
        code="O25",
        article=PHOTOGRAPHS,
        said="Pixels that were not rescaled tilt the answers to dogs, and an output is rarely exactly 0 or 1.",
        rule="By photographs alone; drawings of cats and dogs decide nothing. Part 1 holds if pixels that were not "
        "rescaled raise the share called a dog by 10 points; it fails if the share is lower. Part 2 holds if "
        "fewer than 10 % of the outputs are exactly 1, and fails otherwise.",
        experiment="predict_rescale",
        judge=_not_rescaled,
    ),
)
