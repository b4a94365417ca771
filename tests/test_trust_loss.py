"""A sample of the proof that nothing is lost, and that a file from elsewhere does no harm."""

import sys

import pytest
from trust import part_faults, part_hostile, part_kills

from suite.results import acceptance

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the process table is read from /proc")


@pytest.mark.parametrize("part", [part_faults, part_kills, part_hostile])
def test_a_sample_of_the_proof_holds(part):
    _, findings = part.prove(sample=True)
    assert findings
    assert [finding for finding in findings if not finding.good] == []


def test_a_reader_that_takes_the_last_of_two_names_is_caught(monkeypatch):
    monkeypatch.setattr(acceptance, "_object", dict)
    bad = [finding.what for finding in part_hostile.lies() if not finding.good]
    assert bad == ["a name that stands twice, 2 files"]


def test_a_page_that_lets_braces_through_is_caught(monkeypatch):
    from suite.report import html

    monkeypatch.setattr(part_hostile, "EVIL", [text for text in part_hostile.EVIL if "{{" in text])
    monkeypatch.setattr(html, "_MEANINGFUL", html._MEANINGFUL - {"{"})
    assert [finding for finding in part_hostile.rendered() if not finding.good]
