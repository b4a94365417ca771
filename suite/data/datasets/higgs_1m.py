"""The first million rows of HIGGS: collisions in 28 columns, half of them signals.

The published rows are streamed from the network: the whole file has 2.8 GB, these are a tenth of it. A part has no
published digest, so only the number of rows and columns is checked. A user's own file is whole, and so is its digest.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from suite.data.datasets import Records, Splits
from suite.data.download import Progress, opened
from suite.data.edition import Edition
from suite.data.random_loans import rows

CLASSES = None
SIZES = {"small": Edition(train=8192, test=0), "documented": Edition(train=1_000_000, test=0)}
STOCK = "higgs"
STREAMED = True
PARTS = ("train[:90%]", "train[90%:]")
ROWS = 1_000_000
ARCHIVE = "HIGGS.csv.gz"
ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/00280/HIGGS.csv.gz"
NAMES = (
    "class_label", "lepton_pT", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi",
    "jet_1_pt", "jet_1_eta", "jet_1_phi", "jet_1_b-tag", "jet_2_pt", "jet_2_eta", "jet_2_phi", "jet_2_b-tag",
    "jet_3_pt", "jet_3_eta", "jet_3_phi", "jet_3_b-tag", "jet_4_pt", "jet_4_eta", "jet_4_phi", "jet_4_b-tag",
    "m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb",
)  # fmt: skip
_CHUNK = 2**20


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of class_label and the 28 features."""
    for values, label in rows(len(NAMES) - 1, 0.53, split, count, seed):
        yield dict(zip(NAMES, (float(label), *values.tolist()), strict=True))


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of class_label and 28 features; there is one split."""
    return {"train": read(progress, files.get(ARCHIVE))}


def read(progress: Progress, path: Path | None) -> Records:
    """Yield the first rows, of a file or else from the network.

    Raises RuntimeError if the network fails, a row is malformed, or the file ends too early.
    """
    done, source = 0, path or ADDRESS
    with chunks_of(path) as chunks:
        for line in lines(chunks):
            values = line.split(b",")
            if len(values) != len(NAMES):
                raise RuntimeError(f"row {done + 1} of '{source}' has {len(values)} columns, not {len(NAMES)}")
            yield dict(zip(NAMES, map(float, values), strict=True))
            done += 1
            if done % 10_000 == 0:
                progress("rows of higgs", done, ROWS)
            if done == ROWS:
                return
    raise RuntimeError(f"'{source}' ended after {done:,} rows of {ROWS:,}; run again")


@contextmanager
def chunks_of(path: Path | None) -> Iterator[Iterable[bytes]]:
    """Give the gzipped file's bytes in chunks, from the network if there is no path."""
    if path is None:
        with opened(ADDRESS) as answer:
            yield answer.iter_content(_CHUNK)
    else:
        with path.open("rb") as file:
            yield iter(partial(file.read, _CHUNK), b"")


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the complete lines of gzipped chunks as they arrive."""
    unzip, rest = zlib.decompressobj(zlib.MAX_WBITS | 16), b""
    for chunk in chunks:
        *whole, rest = (rest + unzip.decompress(chunk)).split(b"\n")
        yield from whole
    if rest:
        yield rest
