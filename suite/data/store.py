"""Data sets on disk: prepared once, whole or not at all, and read through TFDS by one path."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from suite.data import embedded
from suite.data.builder import Progress, write
from suite.data.edition import DEFAULT, Edition

Data = Literal["embedded", "tfds"]
VARIABLE = "SUITE_DATA"


def folder() -> Path:
    """Return where all data lives: $SUITE_DATA, else the user's cache folder. RuntimeError if there is neither."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser().absolute()
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        raise RuntimeError(f"no home folder to keep data in; set {VARIABLE} to a folder you may write to") from None
    return Path(cache) / "gpu-speedup-suite"


def place(name: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Path:
    """Return the folder to hand to TFDS as data_dir; the set lies below it, under its name.

    Raises LookupError for an unknown set, RuntimeError for data that is not there yet.
    """
    if data != "embedded":
        raise RuntimeError(f"data '{data}' asked for, only 'embedded' is there so far; run with --data embedded")
    embedded.load(name)
    return folder() / data / edition.text()


def prepare(
    name: str, data: Data = "embedded", edition: Edition = DEFAULT, progress: Progress = lambda done, total: None
) -> Path:
    """Return `place`, with the set in it: written if it was not there.

    Written beside its place, then renamed: a killed run leaves only a `.writing-` folder that nobody reads, and of two
    runs at once the first to finish wins. Raises RuntimeError if the disk or folder refuses.
    """
    home = place(name, data, edition)
    if (home / name).is_dir():
        return home
    try:
        home.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=home, prefix=".writing-"))
    except OSError as error:
        raise RuntimeError(
            f"cannot write dataset '{name}' to '{home}': {error.strerror}; set {VARIABLE} to a folder you may write to"
        ) from error
    try:
        write(name, embedded.load(name), edition, draft, progress)
        _rename(draft / name, home / name)
    except OSError as error:
        raise RuntimeError(
            f"cannot write dataset '{name}' to '{home}': {error}; free some space or set {VARIABLE} to another folder"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return home


def _rename(draft: Path, final: Path) -> None:
    try:
        draft.rename(final)
    except OSError:
        if not final.is_dir():
            raise
        # another process was faster and wrote the same bytes


def source(name: str, split: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Any:
    """Return a prepared split as TFDS' random-access source of records.

    Raises RuntimeError if the set is not there or not whole, ValueError for an unknown split.
    """
    import tensorflow_datasets as tfds

    home = place(name, data, edition)
    if not (home / name).is_dir():
        raise RuntimeError(f"dataset '{name}' asked for, nothing at '{home / name}'; prepare it: suite data {name}")
    try:
        builder = tfds.builder(name, data_dir=home)
        if split in builder.info.splits:
            return builder.as_data_source(split)
        splits = sorted(builder.info.splits)
    except Exception as error:
        raise _broken(name, home, error) from error
    if not splits:
        raise _broken(name, home, "no dataset_info.json")
    raise ValueError(f"dataset '{name}' has no split '{split}'; there are: {', '.join(splits)}")


def read(
    name: str, split: str, count: int | None = None, data: Data = "embedded", edition: Edition = DEFAULT
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `count` examples (None: all) as images uint8[N,H,W,C] and labels int64[N].

    Raises as `source` does, and ValueError if the split is smaller than that.
    """
    records = source(name, split, data, edition)
    if count is not None and count > len(records):
        raise ValueError(f"{count} examples of '{name}' asked for, split '{split}' has {len(records)}; ask for fewer")
    return take(records, range(len(records) if count is None else count), name, place(name, data, edition))


def take(records: Any, indices: Iterable[int], name: str, home: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return these examples as images uint8[N,H,W,C] and labels int64[N]; RuntimeError if they cannot be decoded."""
    try:
        examples = [records[int(index)] for index in indices]
        return np.stack([e["image"] for e in examples]), np.array([e["label"] for e in examples], np.int64)
    except Exception as error:
        raise _broken(name, home, error) from error


def _broken(name: str, home: Path, found: object) -> RuntimeError:
    words = " ".join(str(found).split())[:200]
    return RuntimeError(f"dataset '{name}' at '{home / name}' cannot be read: {words}; remove that folder and run again")
