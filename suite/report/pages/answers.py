"""The answers: a page for each question that people ask, and the list of all with their sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from suite import experiments, units
from suite.report import answers
from suite.report.parts.answer import Answer, Question, Quotable
from suite.report.parts.facts import Facts
from suite.results.pooled.pools import FEWEST_HOSTS

FOLDER = "answers"
INDEX = f"{FOLDER}/index.md"
_MARKS: Mapping[Quotable, str] = {"all": "May be quoted.", "some": "May be quoted in part.", "none": ""}


def files(facts: Facts) -> dict[str, str]:
    """Return the page of each question with the charts that no other page has, and the list."""
    known = answers.answered(facts)
    pages = {path: text for name, question, its in known for path, text in _files(facts, name, question, its)}
    index = facts.page(
        INDEX,
        "answers.md.j2",
        quoting=quoting([its for _, _, its in known if its]),
        marks=_MARKS,
        answered=[(name, question, its) for name, question, its in known if its],
        waiting=[(name, question) for name, question, its in known if not its],
        faq=faq((question.title, its.text) for _, question, its in known if its),
        experiments=[(name, words, bool(facts.answers[name])) for name, words in experiments.questions()],
    )
    return pages | {INDEX: index}


def quoting(known: Sequence[Answer]) -> str:
    """Return how many sentences may be quoted, and what it means if one may not, in sentences."""
    which = Counter(its.quotable for its in known)
    count = units.count(which["all"]) if which["all"] else "None"
    some = f", {units.count(which['some'])} in part" if which["some"] else ""
    rest = (
        f" Each page says which numbers, and why not the others: fewer than {units.count(FEWEST_HOSTS)} hosts, too "
        "wide an interval, no certificate, or an earlier method of timing. More hosts may change these numbers."
    )
    total = units.pluralize(len(known), "sentence")
    return f"{count} of {total} below may be quoted as a whole{some}.{rest if which['all'] < len(known) else ''}"


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
