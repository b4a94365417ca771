"""Stand-in data sets that the project makes: one per file, named as TFDS names the set it stands in for.

A file gives `CLASSES`, the labels' names, or None if the published set has none; `SIZES`, the editions for tests and of
the documented size; and `examples(split, count, seed)`, which yields records with the published features. If TFDS has
no such set, `features()` gives them.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from suite import discovery
from suite.data.edition import Edition, Size


class Recipe(Protocol):
    """The contract of a file in this package."""

    CLASSES: tuple[str, ...] | None
    SIZES: Mapping[Size, Edition]

    def examples(self, split: str, count: int, seed: int) -> Iterable[dict[str, Any]]:
        """Yield a split's records, the same for the same seed on every machine."""
        ...


names = partial(discovery.names, __path__)
load: Callable[[str], Recipe] = discovery.loader(__name__, "dataset")


def edition(name: str, size: Size) -> Edition:
    """Return a set's edition of that size. Raises LookupError if there is no such set."""
    return load(name).SIZES[size]
