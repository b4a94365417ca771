"""O11: networks that read reviews."""

from suite.analysis.steps import words
from suite.claims import NOT_RUN, Judgement, Observation, judged
from suite.claims._articles import TEXT
from suite.claims._judging import SIZE, gains, steps
from suite.results.pooled.machine_evidence import Evidence

_DOCUMENTED = 13.76
_NAMES = ("imdb_text_cnn", "imdb_bilstm")


def _trains(evidence: Evidence) -> Judgement:
    speedups = steps(evidence, _NAMES)
    convolutional = speedups.get(_NAMES[0])
    if convolutional is None:
        return NOT_RUN
    listed = "; ".join(
        f"{name} is {words(speedups[name].ratio.estimate)} as fast on the GPU" for name in _NAMES if name in speedups
    )
    one = gains("", convolutional, _DOCUMENTED)
    return judged(f"A step of {listed}.", [one], speedups=speedups.values())


OBSERVATIONS = (
    Observation(
        code="O11",
        article=TEXT,
        said="A text classification trains 13.76x as fast on a GPU.",
        rule=f"Reproduced if a step of the convolutional network gains as much within a factor of {SIZE:g}. Refuted if "
        "the GPU is surely slower. The article leaves network and GPU open.",
        numbers=(("imdb_text_cnn", "training"),),
        judge=_trains,
    ),
)
