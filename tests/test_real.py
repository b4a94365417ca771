"""The comparison of `nox -s real` sees one pixel and one label that are other than in the files."""

import pytest
from real.witness import differences
from test_published import FILES

from suite.data import builder
from suite.data.datasets import mnist


@pytest.fixture
def files(tmp_path):
    """Return the paths of four small IDX files by name."""
    names = [name for name in FILES if "ubyte" in name]
    for name in names:
        (tmp_path / name).write_bytes(FILES[name])
    return {name: tmp_path / name for name in names}


def written(files, home, change=lambda index, example: example):
    splits = {
        split: [change(index, example) for index, example in enumerate(mnist.read(files, prefix))]
        for split, prefix in mnist.PREFIXES.items()
    }
    builder.write("fashion_mnist", splits, home, stock="fashion_mnist")
    return differences("fashion_mnist", home, files)


def test_a_set_written_as_the_files_have_it_has_no_difference(files, tmp_path):
    assert written(files, tmp_path / "home") == ""


def test_a_label_that_is_another_is_seen(files, tmp_path):
    def relabelled(index, example):
        return example | {"label": 9} if index == 3 else example

    found = written(files, tmp_path / "home", relabelled)
    assert found == "1 of 12 examples of train are others; 1 of 5 examples of test are others"


def test_a_picture_that_is_another_is_seen(files, tmp_path):
    first = next(mnist.read(files, "train"))["image"]

    def redrawn(index, example):
        return example | {"image": first} if index == 2 else example

    found = written(files, tmp_path / "home", redrawn)
    assert found == "1 of 12 examples of train are others; 1 of 5 examples of test are others"
