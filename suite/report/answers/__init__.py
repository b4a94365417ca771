"""Questions that people ask, each with its answer from the records: one a file, whose name becomes the page's."""

from collections.abc import Callable, Iterator
from functools import partial

from suite import discovery
from suite.report.parts.answer import Answer, Question, answer
from suite.report.parts.facts import Facts

names = partial(discovery.names, __path__)
load: Callable[[str], Question] = discovery.loader(__name__, "question", "QUESTION")


def answered(facts: Facts) -> Iterator[tuple[str, Question, Answer | None]]:
    """Yield the name in addresses, the question and its answer, None without evidence, in the order of their list."""
    questions = [(name, load(name)) for name in names()]
    for name, question in sorted(questions, key=lambda each: each[1].place):
        yield slug(name), question, answer(question, facts)


def slug(name: str) -> str:
    """Return a question's name in addresses."""
    return name.replace("_", "-")
