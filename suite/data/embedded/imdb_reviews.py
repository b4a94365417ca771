"""Film reviews from a grammar, positive or negative."""

from collections.abc import Iterator
from typing import Any

from suite.data.edition import Edition
from suite.data.written.reviews import reviews

CLASSES = ("neg", "pos")
SIZES = {"small": Edition(), "documented": Edition(train=25_000, test=25_000)}


def examples(split: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield records of text and label, alternating negative and positive."""
    for label, text in reviews(split, count, seed):
        yield {"text": text, "label": label}
