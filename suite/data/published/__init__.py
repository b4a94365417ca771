"""Published data sets: one per file, read without TensorFlow into what TFDS' own builder writes.

A file gives `STOCK`, the TFDS builder whose version, features, addresses and checksums are used, and `splits(files,
progress)`, which maps each split's name to its records; `files` maps the published files' names to their paths. A set
that is streamed from the network has no files and says `STREAMED`. One with a single split says in `PARTS` which slices
are for training and for validation.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlparse

from suite import discovery
from suite.data.builder import stock_class
from suite.data.download import Archive, Progress

Splits = dict[str, Iterable[dict[str, Any]]]


class Reader(Protocol):
    """The contract of a file in this package."""

    STOCK: str

    def splits(self, files: Mapping[str, Path], progress: Progress) -> Splits:
        """Return the records of each split, read lazily."""
        ...


names = partial(discovery.names, __path__)
load: Callable[[str], Reader] = discovery.loader(__name__, "published dataset")


def archives(name: str) -> tuple[Archive, ...]:
    """Return a data set's files, with the sizes and digests that TFDS records."""
    reader = load(name)
    if getattr(reader, "STREAMED", False):
        return ()
    listed = stock_class(reader.STOCK).url_infos or {}
    return tuple(
        Archive(address=address, name=Path(urlparse(address).path).name, size=int(info.size), sha256=info.checksum)
        for address, info in listed.items()
    )
