"""The data sets, their editions, and which are on this disk."""

from collections.abc import Iterator
from pathlib import Path

from suite import units
from suite.data import datasets, store
from suite.data.edition import Edition, Size
from suite.workload import Data

COLUMNS = ("data set", "data", "size", "training", "test", "download", "on this disk")


def rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each form of each data set: its size, and whether it is on the disk."""
    for name in datasets.names():
        for size, about in datasets.load(name).SIZES.items():
            path = store.path(name, "embedded", about)
            counts = (units.count(about.train), units.count(about.test) if about.test else units.DASH)
            yield name, "embedded", size, *counts, units.DASH, _bytes(path)
        if name in datasets.published_names():
            archives = datasets.archives(name)
            whole = units.quantity(sum(archive.size for archive in archives), "B")
            total = "streamed" if datasets.streamed(name) else whole
            yield name, "tfds", units.DASH, units.DASH, units.DASH, total, _bytes(store.path(name, "tfds"))


def files() -> Iterator[str]:
    """Yield how to prepare the published sets without a network: the command, then each set's files."""
    yield (
        "To prepare a set without a network, put all its files into a folder and run: "
        "suite data prepare NAME --data tfds --from FOLDER"
    )
    for name in datasets.published_names():
        archives = datasets.archives(name)
        if len(archives) > 1:
            yield f"  {name} needs all {len(archives)} files at once:"
        for archive in archives:
            unpacked = ", or unpacked" if archive.unpacked else ""
            yield f"  {name}: {archive.name}, {units.quantity(archive.size, 'B')}{unpacked}, from {archive.address}"


def edition(name: str, data: Data, size: Size) -> Edition:
    """Return a data set's edition of that size.

    Raises LookupError for an unknown data set, ValueError for a size that it lacks.
    """
    if data == "embedded":
        return datasets.edition(name, size)
    if size != "documented":
        raise ValueError("published data sets have one size; leave out --size")
    return Edition()


def _bytes(folder: Path) -> str:
    if not folder.is_dir():
        return "not yet"
    return units.quantity(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), "B")
