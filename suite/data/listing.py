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
    """Yield how to bring each published set: the folder's option, then each set's files."""
    yield "Without a network: suite data prepare NAME --data tfds --from FOLDER, which holds"
    for name in datasets.published_names():
        for archive in datasets.archives(name):
            unpacked = ", or unpacked" if archive.unpacked else ""
            yield f"  {name}: {archive.name}, {units.quantity(archive.size, 'B')}{unpacked}, from {archive.address}"


def edition(name: str, data: Data, size: Size) -> Edition:
    """Return a data set's edition of that size.

    Raises LookupError for an unknown data set, ValueError for a size that it lacks.
    """
    if data == "embedded":
        return datasets.edition(name, size)
    if size != "documented":
        raise ValueError(f"--size {size} asked for with --data {data}, which has one size; leave --size or --data out")
    return Edition()


def _bytes(folder: Path) -> str:
    if not folder.is_dir():
        return "not yet"
    return units.quantity(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), "B")
