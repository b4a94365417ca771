"""Questions that people ask, each with its answer from the records: one a file, whose name becomes the page's."""

from collections.abc import Callable, Sequence
from functools import partial

from suite import discovery
from suite.report.parts.answer import Answer, Question, answer
from suite.report.parts.facts import Facts
from suite.results.records.record import once

names = partial(discovery.names, __path__)
load: Callable[[str], Question] = discovery.loader(__name__, "question", "QUESTION")


@once
def answered(facts: Facts) -> Sequence[tuple[str, Question, Answer | None]]:
    """Return each question's name in addresses and its answer, None without evidence, in the order of their list."""
    questions = sorted(((name, load(name)) for name in names()), key=lambda each: each[1].place)
    return [(slug(name), question, answer(question, facts)) for name, question in questions]


def slug(name: str) -> str:
    """Return a question's name in addresses."""
    return name.replace("_", "-")
