"""Data sets, one a file, named as TFDS names them: the stand-in that the project makes, and the published set.

A file gives `CLASSES`, the labels' names, or None if the published set has none; `SIZES`, the stand-in's editions for
tests and of the documented size; and `examples(split, count, seed)`, which yields its records with the published
features.

A published set is read without TensorFlow into what TFDS' own builder writes. Its file also gives `STOCK`, the TFDS
builder whose version, features, addresses and checksums are used, and `splits(files, progress)`, which maps each
split's name to its records; `files` maps the published files' names to their paths. Where each of these holds one file
whose digest is known, `UNPACKED` maps their names to it, and a path may be that of the unpacked file. A set that is
streamed from the network says `STREAMED`; it has files only if the user brings them. One with a single split says in
`PARTS` which slices are for training and for validation. If TFDS has no such set, `features()` gives the stand-in's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlparse

from suite import discovery
from suite.data.builder import stock_class
from suite.data.download import Archive, Content, Progress
from suite.data.edition import Edition, Size

Records = Iterator[dict[str, Any]]
Splits = dict[str, Records]


class Recipe(Protocol):
    """The contract of a file in this package."""

    CLASSES: tuple[str, ...] | None
    SIZES: Mapping[Size, Edition]

    def examples(self, split: str, count: int, seed: int) -> Iterable[dict[str, Any]]:
        """Yield the records of a stand-in's split, the same for the same seed on every machine."""
        ...


class Published(Recipe, Protocol):
    """The contract of a file whose set TFDS publishes."""

    STOCK: str

    def splits(self, files: Mapping[str, Path], progress: Progress) -> Splits:
        """Return the published records of each split, read lazily."""
        ...


names = partial(discovery.names, __path__)
load: Callable[[str], Recipe] = discovery.loader(__name__, "dataset")


def edition(name: str, size: Size) -> Edition:
    """Return a stand-in's edition of that size. Raises LookupError if there is no such set."""
    return load(name).SIZES[size]


def published_names() -> tuple[str, ...]:
    """Return the names of the sets that TFDS publishes."""
    return tuple(name for name in names() if hasattr(load(name), "STOCK"))


def published(name: str) -> Published:
    """Return a published set's file. Raises LookupError if TFDS publishes no such set."""
    found: Any = discovery.module(__name__, name, published_names(), "published dataset")
    return found


def archives(name: str) -> tuple[Archive, ...]:
    """Return a published set's files, with the sizes and digests that TFDS records."""
    reader = published(name)
    unpacked: Mapping[str, Content] = getattr(reader, "UNPACKED", {})
    listed = stock_class(reader.STOCK).url_infos or {}
    names = {address: Path(urlparse(address).path).name for address in listed}
    return tuple(
        Archive(
            address=address, name=names[address], size=int(info.size), sha256=info.checksum,
            unpacked=unpacked.get(names[address]),
        )
        for address, info in listed.items()
    )  # fmt: skip


def streamed(name: str) -> bool:
    """Return whether a published set comes from the network without files."""
    return getattr(published(name), "STREAMED", False)
