"""Data sets on disk: prepared once, whole or not at all, and read through TFDS by one path."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suite.data import embedded
from suite.data.builder import Progress, write
from suite.data.edition import DEFAULT, Edition
from suite.workload import Data

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
        raise RuntimeError(f"data '{data}' asked for, only 'embedded' is there so far")
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
        (draft / name).rename(home / name)
    except OSError as error:
        if not (home / name).is_dir():  # else another process was faster and wrote the same
            raise RuntimeError(
                f"cannot write dataset '{name}' to '{home}': {error.strerror or error};"
                f" free some space or set {VARIABLE} to another folder"
            ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return home


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split of a prepared set; `records` is TFDS' random-access source of it."""

    records: Sequence[Any]
    name: str
    path: Path

    def __len__(self) -> int:
        return len(self.records)

    def take(self, indices: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return these examples as images uint8[N,H,W,C] and labels int64[N]; RuntimeError if they are damaged."""
        try:
            examples = [self.records[int(index)] for index in indices]
            return np.stack([e["image"] for e in examples]), np.array([e["label"] for e in examples], np.int64)
        except Exception as error:  # TFDS and ArrayRecord raise many kinds
            raise _broken(self.name, self.path, error) from error


def split(dataset: str, name: str, data: Data = "embedded", edition: Edition = DEFAULT) -> Split:
    """Return a split of a prepared set.

    Raises RuntimeError if the set is not there or not whole, ValueError for an unknown split.
    """
    import tensorflow_datasets as tfds

    home = place(dataset, data, edition)
    path = home / dataset
    if not path.is_dir():
        raise RuntimeError(
            f"dataset '{dataset}' asked for, nothing at '{path}'; suite run writes it there, as does "
            f"suite.data.store.prepare('{dataset}')"
        )
    try:
        builder: Any = tfds.builder(dataset, data_dir=home)
        splits = sorted(builder.info.splits)
        if name in splits:
            return Split(records=builder.as_data_source(name), name=dataset, path=path)
    except Exception as error:  # TFDS and ArrayRecord raise many kinds
        raise _broken(dataset, path, error) from error
    if not splits:
        raise _broken(dataset, path, "no dataset_info.json")
    raise ValueError(f"dataset '{dataset}' has no split '{name}'; there are: {', '.join(splits)}")


def read(
    dataset: str, name: str, count: int | None = None, data: Data = "embedded", edition: Edition = DEFAULT
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `count` examples of the split (None: all) as images uint8[N,H,W,C] and labels int64[N].

    Raises as `split` does, and ValueError if it is smaller than that.
    """
    examples = split(dataset, name, data, edition)
    if count is not None and count > len(examples):
        raise ValueError(f"{count} examples of '{dataset}' asked for, split '{name}' has {len(examples)}")
    return examples.take(range(len(examples) if count is None else count))


def _broken(dataset: str, path: Path, found: object) -> RuntimeError:
    words = " ".join(str(found).split())[:200]
    return RuntimeError(f"dataset '{dataset}' at '{path}' cannot be read: {words}; remove that folder and run again")
