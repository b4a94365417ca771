"""What the page of the data shows: examples of the stand-ins and of each augmentation, and what is published."""

from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FILE = "gallery.json"  # in the site's folder of evidence
PICTURES = Path("assets/data")  # below the site's sources


class Sheet(Plain, frozen=True, kw_only=True):
    """A file with several pictures of one size, row by row."""

    dataset: str
    title: str
    caption: str
    labels: tuple[str, ...]  # of the pictures, in reading order
    columns: int
    file: str  # in the folder of pictures
    width: int  # in pixels
    height: int
    enlarged: int = 1  # how large a pixel is shown
    seeds: tuple[int, ...]  # of the examples and, where they are distorted, of that
    digest: str  # sha256 of the stored examples before they are drawn together


class Review(Plain, frozen=True, kw_only=True):
    """The beginning of a review."""

    label: str
    text: str
    words: int  # of the whole review


class Reviews(Plain, frozen=True, kw_only=True):
    """Some reviews of a data set."""

    dataset: str
    reviews: tuple[Review, ...]
    seed: int
    digest: str


class Column(Plain, frozen=True, kw_only=True):
    """How the values of a table's column are spread."""

    name: str
    values: tuple[float, ...]  # of the first rows
    quantiles: tuple[float, ...]  # least, lower quartile, median, upper quartile, largest


class Rows(Plain, frozen=True, kw_only=True):
    """A table's first rows in its first columns, and how all rows are spread."""

    dataset: str
    rows: int  # of which the quantiles are
    features: int  # columns in all, without the label
    columns: tuple[Column, ...]
    labels: tuple[int, ...]  # of the first rows
    positive: float  # share of label 1
    seed: int
    digest: str


class Published(Plain, frozen=True, kw_only=True):
    """A data set as its publisher gives it."""

    dataset: str
    builder: str  # TFDS' own
    version: str
    files: tuple[str, ...]
    download_bytes: int | None  # None: read off the network as it comes
    training: str  # the split, or the part of one
    validation: str
    source: str  # its home page
    licence: str  # as TFDS states it; '' where it states none


class Gallery(Plain, frozen=True, kw_only=True):
    """All that the page shows."""

    schema: str = "gallery/1"
    drawing: int  # which edition of the drawings
    sheets: tuple[Sheet, ...]
    reviews: tuple[Reviews, ...]
    tables: tuple[Rows, ...]
    augmentations: tuple[Sheet, ...]
    published: tuple[Published, ...]


def write(gallery: Gallery, folder: Path) -> Path:
    """Write the gallery into the folder of evidence and return its file."""
    return json_files.write(gallery, folder / FILE)


def read(folder: Path) -> Gallery | None:
    """Return the gallery; None if nothing is there. Raises ValueError naming the file if it is no such file."""
    return json_files.read(folder / FILE, Gallery, "suite data gallery")
