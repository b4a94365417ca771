"""Data sets that the project makes itself: one per file, named as TFDS names the set it stands in for.

A file gives `CLASSES`, the names of the labels or None where the published set has none, `SIZES`, the edition for tests
and the one of the documented size, and `examples(split, count, seed)`, which yields that many records with the features
of the published set; where nobody publishes such a set in TFDS, `features()` gives them.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from suite import discovery
from suite.data.edition import Edition, Size


class Recipe(Protocol):
    """What a file of this package gives."""

    CLASSES: tuple[str, ...] | None
    SIZES: Mapping[Size, Edition]

    def examples(self, split: str, count: int, seed: int) -> Iterable[dict[str, Any]]:
        """Yield the records of a split, the same for the same seed on every machine."""
        ...


names = partial(discovery.names, __path__)
load: Callable[[str], Recipe] = discovery.loader(__name__, "dataset")


def edition(name: str, size: Size) -> Edition:
    """Return which edition of a set has that size; LookupError if there is no such set."""
    return load(name).SIZES[size]
