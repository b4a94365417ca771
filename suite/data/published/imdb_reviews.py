"""IMDB reviews: a tar file with a file for each review, in folders named after split and sentiment."""

import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from suite.data.download import Progress
from suite.data.published import Splits

STOCK = "imdb_reviews"
ARCHIVE = "aclImdb_v1.tar.gz"
FOLDERS = {
    "train": re.compile("aclImdb/train/(neg|pos)/"),
    "test": re.compile("aclImdb/test/(neg|pos)/"),
    "unsupervised": re.compile("aclImdb/train/(unsup)/"),
}
LABELS = {"neg": 0, "pos": 1, "unsup": -1}


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of text and label, which is -1 without a rating."""
    return {split: examples(files[ARCHIVE], folder) for split, folder in FOLDERS.items()}


def examples(path: Path, folder: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of the files in a folder, in the order of the archive."""
    with tarfile.open(path) as archive:
        for member in archive:
            match = folder.match(member.name)
            file = archive.extractfile(member) if match and member.isfile() else None
            if match and file is not None:
                yield {"text": file.read().strip(), "label": LABELS[match[1]]}
