"""What a GPU of some make gains on its own host: the answer to questions after one kind of card."""

from collections.abc import Callable
from functools import partial

from suite.report.parts.answer import Answer, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting, span
from suite.results.pooled.machine_evidence import Evidence


def of_gpu(*makes: str) -> Callable[[Facts, Evidence], Answer | None]:
    """Return the answer of a machine whose GPU's name has one of these words."""

    def answer(facts: Facts, evidence: Evidence) -> Answer | None:
        quoting = Quoting(facts=facts, evidence=evidence)
        names = {word for gpu in quoting.machine.gpus for word in gpu.name.split()}
        steps = sorted((i for i in evidence.speedups if i.headline), key=lambda item: item.ratio.value)
        if not steps or not names.intersection(makes):
            return None
        least, most = (quoting.speedup(item) for item in (steps[0], steps[-1]))
        return Answer(
            sentence=Html("One {} takes a float32 step {} as fast as the {} of its host.").format(
                quoting.gpu, span([least, most]), quoting.cores
            ),
            numbers=(least, most),
            turns=Html(
                "It turns with the CPU beside it: the fewer cores the host has, the larger the ratio. "
                "The smallest gain is that of {}, the largest that of {}."
            ).format(*(quoting.model(item.record.description) for item in (steps[0], steps[-1]))),
            draw=partial(shown, facts, evidence, "headline", f"One step on {quoting.machine.name}, model by model"),
            tables=tables(facts, evidence, "headline"),
        )

    return answer
