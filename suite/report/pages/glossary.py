"""The glossary: each word comes from the code that defines it, so none can be missing."""

from suite.former import AXES
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.report.parts.words import groups

PATH = "glossary.md"
_FORMER = {new: old for old, new in AXES["allocator"].items()} | {"jax scan": "jax several-steps"}  # in addresses


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: render(PATH, groups=groups(facts.proof), former=_FORMER)}
