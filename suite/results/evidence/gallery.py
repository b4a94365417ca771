"""The data page's content: examples of the stand-ins and of each augmentation, and published data sets."""

from pathlib import Path

from suite.results.evidence.evidence_file import EvidenceFile
from suite.workload import Plain

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
    enlarged: int = 1  # display pixels per pixel
    seeds: tuple[int, ...]  # of the examples and of their distortion, if any
    digest: str  # sha256 of the stored examples


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
    """The distribution of the values of a table's column."""

    name: str
    values: tuple[float, ...]  # of the first rows
    quantiles: tuple[float, ...]  # least, lower quartile, median, upper quartile, largest


class Rows(Plain, frozen=True, kw_only=True):
    """A table's first rows in its first columns, and the distribution of all rows."""

    dataset: str
    rows: int  # behind the quantiles
    features: int  # columns in all, without the label
    columns: tuple[Column, ...]
    labels: tuple[int, ...]  # of the first rows
    positive: float  # share of label 1
    seed: int
    digest: str


class Published(Plain, frozen=True, kw_only=True):
    """A data set as its publisher describes it."""

    dataset: str
    builder: str  # TFDS' own
    version: str
    files: tuple[str, ...]
    download_bytes: int | None  # None: streamed
    training: str  # the split, or the part of one
    validation: str
    source: str  # its home page
    licence: str  # from TFDS; '' if not stated


class Gallery(EvidenceFile, frozen=True, kw_only=True):
    """The page's content."""

    PLACE = "gallery.json"
    WRITER = "suite data gallery"

    schema: str = "gallery/1"
    drawing: int  # edition of the drawings
    sheets: tuple[Sheet, ...]
    reviews: tuple[Reviews, ...]
    tables: tuple[Rows, ...]
    augmentations: tuple[Sheet, ...]
    published: tuple[Published, ...]
