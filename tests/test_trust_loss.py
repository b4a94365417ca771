"""Samples of the proof: planted lies are caught, nothing is lost, a file from elsewhere does no harm."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from trust import lies, part_hostile, part_lies, structure

from suite.results.records import acceptance
from suite.results.single.validity import CHECKS

TESTS = Path(__file__).parent

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the process table is read from /proc")


@ON_LINUX
@pytest.mark.parametrize("part", ["faults", "kills", "hostile"])
def test_a_sample_of_the_proof_holds(part):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS.parent)))}
    command = [sys.executable, "-m", "trust", "--sample", part]  # on its own: JAX does not let this process fork
    ended = subprocess.run(command, cwd=TESTS.parent, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@ON_LINUX
def test_a_reader_that_takes_the_last_of_two_names_is_caught(monkeypatch):
    monkeypatch.setattr(acceptance, "_object", dict)
    bad = [finding.what for finding in part_hostile.lies() if not finding.good]
    assert bad == ["a name that stands twice, 2 files"]


@ON_LINUX
def test_a_page_that_lets_braces_through_is_caught(monkeypatch):
    from suite.report.parts import html

    monkeypatch.setattr(part_hostile, "EVIL", [text for text in part_hostile.EVIL if "{{" in text])
    monkeypatch.setattr(html, "_HARMLESS", {char: said for char, said in html._HARMLESS.items() if char != ord("{")})
    assert [finding for finding in part_hostile.rendered() if not finding.good]


def test_a_sample_of_the_lies_is_caught_and_honest_networks_are_believed():
    _, findings = part_lies.prove(sample=True)
    assert [finding for finding in findings if not finding.good] == []
    assert len(findings) == 8


def test_the_check_that_must_catch_a_lie_is_one_of_the_suite():
    assert {lie.check for lie in lies.LIES.values()} <= {*CHECKS, lies.TRUE_COST}


def test_what_breaks_at_a_record_whose_parts_were_changed_is_found(monkeypatch):
    assert part_hostile.structured(10).good
    monkeypatch.setattr(structure, "summary", lambda record: record.runs[99])
    found = part_hostile.structured(10)
    assert not found.good
    assert (found.trials, found.failures > 0, "while it was judged" in found.found) == (30, True, True)
    monkeypatch.setattr(structure, "validate", lambda content: content[-1:][1])
    assert part_hostile.structured(10).failures == 30


def test_every_way_to_change_a_record_is_taken():
    plain, dice = part_hostile.template(), random.Random(0)
    made = [structure.mutant(plain, plain, dice) for _ in range(400)]
    kinds = {what.split()[0] for what, changed in filter(None, made)}
    assert kinds == {*structure.FITS} - {"move"}  # nothing to take from itself
    assert all(changed != plain for _, changed in filter(None, made))
    assert plain == part_hostile.template()
