"""The page of the data: what is committed is what the code draws today, and the page says what it is."""

import re
from pathlib import Path

import cv2
import factory
import msgspec
import numpy as np
import pytest

from suite.cli import gallery
from suite.data import datasets
from suite.data import gallery as pictures
from suite.report.pages import gallery as report
from suite.report.parts.facts import Facts
from suite.results.evidence import gallery as evidence

SITE = Path(__file__).parent.parent / "site"
LOSSY, LOSSLESS = 8.0, 0.5  # mean difference in levels of 255: of WebP, and of PNG where a float rounds otherwise


@pytest.fixture(scope="module")
def stored():
    return evidence.Gallery.read(SITE / "evidence")


@pytest.fixture(scope="module")
def drawn():
    return dict(gallery.sheets())


def page_of(found):
    return report.files(Facts(records=(), drawn=found))["data.md"]


def test_what_is_committed_is_what_the_code_says_today(stored, drawn):
    now = gallery.collected({name: about for name, (about, _) in drawn.items()})
    for name in now.__struct_fields__:
        assert getattr(now, name) == getattr(stored, name), f"{name}: suite data gallery writes it anew"


@pytest.mark.parametrize("name", [*gallery.PLAIN, *gallery.DISTORTED])
def test_the_committed_pictures_are_what_the_code_draws_today(drawn, name):
    about, pixels = drawn[name]
    file = cv2.imread(str(SITE / evidence.PICTURES / about.file), cv2.IMREAD_UNCHANGED)[..., [2, 1, 0, 3]]
    assert file.shape == pixels.shape
    assert np.array_equal(file[..., 3] > 127, pixels[..., 3] > 127)
    there = pixels[..., 3] > 0
    bound = LOSSY if about.file.endswith("webp") else LOSSLESS
    assert np.abs(file[there].astype(float) - pixels[there]).mean() < bound


def test_another_seed_would_be_seen(monkeypatch, drawn):
    monkeypatch.setattr(pictures, "SEED", 1)
    about, pixels = dict(gallery.sheets())["mnist"]
    before, was = drawn["mnist"]
    assert about.digest != before.digest
    assert np.abs(pixels.astype(float) - was).mean() > LOSSLESS


def test_no_other_file_lies_among_the_pictures(stored):
    wanted = {sheet.file for sheet in (*stored.sheets, *stored.augmentations)}
    assert {file.name for file in (SITE / evidence.PICTURES).iterdir()} == wanted


def test_the_page_with_its_pictures_stays_small(stored):
    files = [SITE / evidence.PICTURES / sheet.file for sheet in (*stored.sheets, *stored.augmentations)]
    assert len(page_of(stored)) + sum(file.stat().st_size for file in files) < 150 * 1024


def test_there_are_twelve_of_each_stand_in_and_six_after_each_before(stored):
    assert [len(sheet.labels) for sheet in stored.sheets] == [12, 12, 12]
    assert [len(some.reviews) for some in stored.reviews] == [12]
    assert {len(column.values) for table in stored.tables for column in table.columns} == {12}
    for sheet in stored.augmentations:
        distorted = [label.endswith("distorted") for label in sheet.labels]
        assert distorted == ([False] + [True] * 6) * 2


def test_the_page_says_what_is_shown_and_what_it_is_not(stored):
    text = page_of(stored)
    assert "stand-ins" in text
    assert "no real photographs" in text
    alternatives = re.findall(r'<img[^>]+alt="([^"]+)"', text)
    assert len(alternatives) == 6
    assert all("stand-in for" in words for words in alternatives)
    for name in datasets.published_names():
        assert f"<th scope='row'>{name.replace('_', '&#95;')}</th>" in text
    assert text.count("TFDS states none") >= 1


def test_nothing_drawn_yet_is_said():
    assert "Nothing has been drawn yet: <code>suite data gallery</code>" in page_of(None)


def test_hostile_text_in_the_evidence_is_harmless(stored):
    hostile = "<script>alert(1)</script>"
    sheet = msgspec.structs.replace(stored.sheets[0], caption=hostile, labels=(hostile,), file=f'"{hostile}')
    one = msgspec.structs.replace(stored.published[0], source="javascript:alert(1)")
    text = page_of(msgspec.structs.replace(stored, sheets=(sheet,), published=(one,)))
    assert "<script>" not in text
    assert 'href="javascript:' not in text


def test_a_file_that_is_no_gallery_is_refused_by_name(tmp_path):
    (tmp_path / evidence.Gallery.PLACE).write_text("{}")
    with pytest.raises(ValueError, match=r"gallery\.json' is not what suite data gallery writes"):
        evidence.Gallery.read(tmp_path)


def test_pages_that_name_a_stand_in_link_its_pictures():
    found = factory.pages(factory.campaign(("mnist_mlp",)))
    assert (
        '<a href="../data.html#mnist">stand-in for mnist, made by this project</a>' in found["workloads/mnist_mlp.md"]
    )
    assert 'href="data.html"' in found["index.md"]
    assert 'id="mnist"' in page_of(evidence.Gallery.read(SITE / "evidence"))
