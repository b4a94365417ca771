"""Data sets on disk: prepared once and atomically, and read through TFDS."""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.data import datasets, local_files
from suite.data.builder import Examples, relative_home, write
from suite.data.download import Progress, fetched
from suite.data.draft import draft
from suite.data.edition import DEFAULT, Edition
from suite.workload import Data

VARIABLE = "SUITE_DATA"
_AT_ONCE = 1024  # records read in one call, which is ten times as fast as one by one
_REPORT_EVERY = 64  # progress is reported every so many examples


def folder() -> Path:
    """Return the folder of all data: $SUITE_DATA, else the user's cache folder. Raises RuntimeError without a home."""
    chosen = os.environ.get(VARIABLE)
    try:
        if chosen:
            return Path(chosen).expanduser().absolute()
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        what = f"{VARIABLE} is '{chosen}', whose home folder is unknown" if chosen else "no home folder for data"
        raise RuntimeError(f"{what}; set {VARIABLE} to a folder you may write to") from None
    return Path(cache) / "gpu-speedup-suite"


def place(name: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Path:
    """Return TFDS' data_dir for the set; the set lies below it, under its name.

    Raises LookupError if the set does not exist in this form.
    """
    if data == "tfds":
        datasets.published(name)
        return folder() / data
    datasets.load(name)
    return folder() / data / edition.text()


def path(name: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Path:
    """Return the folder of the set's files once it is prepared.

    Raises LookupError if the set does not exist in this form.
    """
    return place(name, data, edition) / relative_home(name, _stock(name))


def prepare(
    name: str,
    data: Data = "embedded",
    edition: Edition = DEFAULT,
    progress: Progress = lambda what, done, total: None,
    source: Path | None = None,
) -> Path:
    """Return `place` with the set in it; make or download the set if it is missing.

    With a `source` the published files are not downloaded but read where the user has them: in that folder or file.

    The set is written to a temporary folder and then renamed. A killed run leaves only a `.writing-` folder that
    nothing reads and the next run removes, and of two concurrent runs the first to finish wins. Raises RuntimeError if
    the disk, the folder or the network fails.
    """
    home, final = place(name, data, edition), path(name, data, edition)
    if final.is_dir():
        return home
    try:
        home.mkdir(parents=True, exist_ok=True)
        with draft(home) as written:
            _write(name, data, edition, written, progress, source)
            final.parent.mkdir(parents=True, exist_ok=True)
            (written / final.relative_to(home)).rename(final)
    except OSError as error:
        if not final.is_dir():  # otherwise another process was faster and wrote the same
            raise _refused(name, home, error) from error
    return home


def _write(name: str, data: Data, edition: Edition, into: Path, progress: Progress, source: Path | None) -> None:
    recipe = datasets.load(name)
    if data == "tfds":
        verb, counts = "writing", {}
        splits = datasets.published(name).splits(_published_files(name, into, progress, source), progress)
    else:
        verb, counts = "making", {"train": edition.train, "test": edition.test}
        splits = {split: recipe.examples(split, count, edition.seed) for split, count in counts.items() if count}
    reported = {
        split: _reported(f"{verb} {name} {split}", examples, counts.get(split, 0), progress)
        for split, examples in splits.items()
    }
    write(name, reported, into, stock=_stock(name), classes=recipe.CLASSES, features=getattr(recipe, "features", None))


def _published_files(name: str, scratch: Path, progress: Progress, source: Path | None) -> dict[str, Path]:
    """Return the paths of a published set's files by name; none if it is streamed."""
    if source is not None:
        return local_files.found(datasets.archives(name), source, scratch)
    if datasets.streamed(name):
        return {}
    downloads = folder() / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    return {archive.name: fetched(archive, downloads, progress) for archive in datasets.archives(name)}


def _stock(name: str) -> str | None:
    return getattr(datasets.load(name), "STOCK", None)


def _reported(what: str, examples: Examples, total: int, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield the examples and report their number; a total of 0 is unknown."""
    for done, example in enumerate(examples, 1):
        yield example
        if done % _REPORT_EVERY == 0 or done == total:
            progress(what, done, total)


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split of a prepared set; `records` is TFDS' random-access source, with pictures still encoded."""

    records: Any
    name: str
    path: Path

    def __len__(self) -> int:
        return len(self.records)

    def take(self, indices: Iterable[int]) -> list[dict[str, Any]]:
        """Return these records. Raises RuntimeError if they are damaged."""
        wanted, records = list(map(int, indices)), []
        try:
            for start in range(0, len(wanted), _AT_ONCE):
                records += self.records.__getitems__(wanted[start : start + _AT_ONCE])
        except Exception as error:  # TFDS and ArrayRecord raise many kinds
            raise _broken(self.name, self.path, error) from error
        if not all(map(complete, records)):
            raise _broken(self.name, self.path, "records are missing")
        return records


def complete(record: Mapping[str, Any] | None) -> bool:
    """Return whether a record has all its values: TFDS gives none if a file is truncated."""
    return record is not None and all(value is not None for value in record.values())


def split(dataset: str, name: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Split:
    """Return a split of a prepared set; TFDS' slices such as 'train[:8000]' are splits too.

    Raises RuntimeError if the set is missing or incomplete, ValueError for an unknown split.
    """
    import tensorflow_datasets as tfds

    final = path(dataset, data, edition)
    if not final.is_dir():
        raise _missing(dataset, data, final)
    try:
        builder: Any = tfds.builder_from_directory(final)
        splits = sorted(builder.info.splits)
        if (whole := name.partition("[")[0]) in splits:
            for file in map(Path, builder.info.splits[whole].filepaths):
                file.stat()  # grain's message for a missing file names no remedy
            raw = {"image": tfds.decode.SkipDecoding()} if "image" in builder.info.features else None
            return Split(records=builder.as_data_source(name, decoders=raw), name=dataset, path=final)
    except Exception as error:  # TFDS and ArrayRecord raise many kinds
        raise _broken(dataset, final, error) from error
    if not splits:
        raise _broken(dataset, final, "no dataset_info.json")
    raise ValueError(f"dataset '{dataset}' has no split '{name}'; there are: {', '.join(splits)}")


def parts(dataset: str, data: Data, edition: Edition = DEFAULT) -> tuple[str, str]:
    """Return the splits, or TFDS' slices of them, that training and validation read.

    Raises LookupError if the set does not exist in this form.
    """
    if data == "tfds":
        return getattr(datasets.published(dataset), "PARTS", ("train", "test"))
    datasets.load(dataset)
    return ("train", "test") if edition.test else ("train[:80%]", "train[80%:]")


def _missing(dataset: str, data: Data, final: Path) -> RuntimeError:
    command = f"suite data prepare {dataset}" + (f" --data {data}" if data != "embedded" else "")
    others = sorted(other.name for other in final.parent.glob("*") if other.is_dir()) if final.parent.is_dir() else []
    there = f"; '{final.parent}' holds version {', '.join(others)}, which this TFDS does not read" if others else ""
    return RuntimeError(f"dataset '{dataset}' asked for, nothing at '{final}'{there}; {command} writes it there")


def _refused(name: str, home: Path, error: OSError) -> RuntimeError:
    remedy = f"free some space, or set {VARIABLE} to a folder you may write to"
    if error.errno == errno.EFBIG:
        remedy = "raise the limit of a file's size (ulimit -f)"
    return RuntimeError(f"cannot write dataset '{name}' to '{home}': {error.strerror or error}; {remedy}")


def _broken(dataset: str, path: Path, found: object) -> RuntimeError:
    words = " ".join(str(found).split())[:200]
    return RuntimeError(f"dataset '{dataset}' at '{path}' cannot be read: {words}; remove that folder and run again")
