"""Collisions in 28 columns, half of them signals: a stand-in for the first million rows of HIGGS."""

from collections.abc import Iterator
from typing import Any

from suite.data.edition import Edition
from suite.data.published.higgs_1m import NAMES
from suite.data.tabulated import rows

CLASSES = None
SIZES = {"small": Edition(train=8192, test=0), "documented": Edition(train=1_000_000, test=0)}


def examples(split: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield records of class_label and the 28 features."""
    for values, label in rows(len(NAMES) - 1, 0.53, split, count, seed):
        yield dict(zip(NAMES, (float(label), *values.tolist()), strict=True))
