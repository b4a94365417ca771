"""The answers: a page for each question that people ask, and the list of all with their sentences."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from suite import experiments
from suite.report import answers
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts

FOLDER = "answers"
INDEX = f"{FOLDER}/index.md"


def files(facts: Facts) -> dict[str, str]:
    """Return the page of each question with the charts that no other page has, and the list."""
    known = answers.answered(facts)
    pages = {path: text for name, question, its in known for path, text in _files(facts, name, question, its)}
    index = facts.page(
        INDEX,
        "answers.md.j2",
        answered=[(name, question, its) for name, question, its in known if its],
        waiting=[(name, question) for name, question, its in known if not its],
        faq=faq((question.title, its.text) for _, question, its in known if its),
        experiments=[(name, words, bool(facts.answers[name])) for name, words in experiments.questions()],
    )
    return pages | {INDEX: index}


def _files(facts: Facts, name: str, question: Question, its: Answer | None) -> Iterator[tuple[str, str]]:
    path, figures = f"{FOLDER}/{name}.md", list(its.draw()) if its else []
    page = facts.page(
        path,
        "answer.md.j2",
        title=question.title,
        question=question,
        answer=its,
        figures=figures,
        faq=faq([(question.title, its.text)] if its else ()),
        evidence=[(each, experiments.load(each).TITLE) for each in question.evidence if facts.answers[each]],
        read_next=[(answers.slug(each), answers.load(each).title) for each in question.read_next],
    )
    yield path, page
    for figure in figures:
        if figure.name.startswith(f"{FOLDER}."):
            yield from figure.files.items()


def faq(pairs: Iterable[tuple[str, str]]) -> Mapping[str, Any] | None:
    """Return questions and answers as structured data for search engines; None without any.

    Source: schema.org, FAQPage.
    """
    entities = [
        {"@type": "Question", "name": name, "acceptedAnswer": {"@type": "Answer", "text": text}} for name, text in pairs
    ]
    return {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": entities} if entities else None
