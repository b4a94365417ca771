"""What the command line says and does about data sets."""

from collections.abc import Iterator
from pathlib import Path

from suite import units
from suite.console.progress import DataProgress
from suite.data import embedded, published, store
from suite.data.edition import Edition, Size
from suite.workload import Data

COLUMNS = ("data set", "data", "size", "training", "test", "download", "on this disk")


def rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each form of each data set: how large it is, and whether it is there."""
    for name in embedded.names():
        for size, edition in embedded.load(name).SIZES.items():
            there = store.path(name, "embedded", edition)
            counts = (units.count(edition.train), units.count(edition.test) if edition.test else units.DASH)
            yield name, "embedded", size, *counts, units.DASH, _bytes(there)
        if name in published.names():
            archives = published.archives(name)
            total = units.quantity(sum(archive.size for archive in archives), "B") if archives else "streamed"
            yield name, "tfds", units.DASH, units.DASH, units.DASH, total, _bytes(store.path(name, "tfds"))


def prepared(name: str, data: Data, size: Size) -> Path:
    """Return where a data set lies, made or downloaded if it was not there.

    Raises LookupError for an unknown one, ValueError for a size that it does not come in, RuntimeError, saying what to
    do, if disk or network refuse.
    """
    edition = _edition(name, data, size)
    with DataProgress() as progress:
        store.prepare(name, data, edition, progress)
    return store.path(name, data, edition)


def path(name: str, data: Data, size: Size) -> Path:
    """Return where a data set lies or will lie.

    Raises LookupError for an unknown one, ValueError for a size that it does not come in.
    """
    return store.path(name, data, _edition(name, data, size))


def _edition(name: str, data: Data, size: Size) -> Edition:
    if data == "embedded":
        return embedded.edition(name, size)
    if size != "documented":
        raise ValueError(f"--size {size} asked for with --data {data}, which has one size; leave --size or --data out")
    return Edition()


def _bytes(folder: Path) -> str:
    if not folder.is_dir():
        return "not yet"
    return units.quantity(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), "B")
