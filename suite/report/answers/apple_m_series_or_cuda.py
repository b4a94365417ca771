"""Apple's processors: nothing is measured until somebody who has one sends records."""

from suite.report.answers._of_gpu import of_gpu
from suite.report.parts.answer import Question

QUESTION = Question(
    title="Is an Apple M-series chip as fast as a CUDA GPU?",
    place=5,
    also=("Mac", "Metal", "MPS", "M1", "M2", "M3", "M4"),
    wanted="This needs records of an Apple M-series machine; so far the suite times its CPU, not its GPU.",
    command="nox -s bench",
    evidence=("headline",),
    read_next=("is_an_rtx_card_worth_it", "how_many_cpu_cores_equal_a_gpu"),
    answer=of_gpu("Apple"),
)
