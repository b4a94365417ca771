"""Samples of the proof: planted lies are caught, nothing is lost, a file from elsewhere does no harm."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from trust import lies, mutated, part_hostile, part_kills, part_lies, part_lies_gpu, structure, telling
from trust.__main__ import proved

from suite.results.records import acceptance
from suite.results.single.validity import CHECKS

TESTS = Path(__file__).parent

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the process table is read from /proc")


@ON_LINUX
@pytest.mark.parametrize("part", ["faults", pytest.param("kills", marks=pytest.mark.slow), "hostile"])
def test_a_sample_of_the_proof_holds(part):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS.parent)))}
    command = [sys.executable, "-m", "trust", "--sample", part]  # on its own: JAX does not let this process fork
    ended = subprocess.run(command, cwd=TESTS.parent, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@ON_LINUX
@pytest.mark.slow
def test_every_bug_that_is_planted_for_the_kills_is_caught(tmp_path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS.parent)))}
    command = [sys.executable, "-m", "trust.planted", str(tmp_path)]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    caught = json.loads(ended.stdout)
    assert caught.pop("nothing") == []
    words = {
        "a record written in place": "record",
        "a run measured again after a resume": "1 of 2 rounds",
        "a line glued to one that was cut": "1 of 2 rounds",
        "drafts that nobody removes": "drafts are left over",
        "a child that outlives its parent": "sleep 60",
        "a kept run beside the one of its sibling": "samples twice",
    }
    assert caught.keys() == words.keys()
    assert [bug for bug, said in words.items() if said not in "; ".join(caught[bug])] == []


def test_parts_that_try_by_chance_are_told_how_long_and_by_which_seed(monkeypatch):
    monkeypatch.setattr(part_kills, "prove", lambda sample, minutes, seed: ({"asked": (minutes, seed)}, []))
    assert proved("kills", sample=False, minutes=120.0, seed=7).figures == {"asked": (120.0, 7), "seed": "7"}
    usual = [proved("kills", sample=False).figures for _ in range(2)]
    assert {minutes for minutes, _ in (each["asked"] for each in usual)} == {part_kills.MINUTES}
    assert usual[0]["seed"] != usual[1]["seed"]


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


def test_a_sample_of_the_lies_is_caught_and_an_honest_network_is_believed():
    _, findings = part_lies.prove(sample=True)
    assert [finding for finding in findings if not finding.good] == []
    assert len(findings) == 4


def test_the_check_that_must_catch_a_lie_is_one_of_the_suite():
    assert {check for lie in lies.LIES.values() for check in lie.checks.values()} <= {*CHECKS, lies.TRUE_COST}


def test_most_lies_are_told_on_both_backends_and_those_about_cores_on_a_cpu_alone():
    on_cpu, on_gpu = set(lies.told_on("cpu")), set(lies.told_on("gpu"))
    assert on_cpu - on_gpu == {"half_the_cores", "half_the_pool", "fallback"}
    assert on_gpu - on_cpu == {"no_block_long"}


NEW = {
    "one_batch": "replay",
    "one_batch_inference": "replay",
    "constant_inputs": "inputs on the device",
    "constant_batches": "examples",
    "half_deferred": "unfinished work",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "check"), NEW.items())
def test_a_lie_passes_if_the_check_that_catches_it_is_gone(monkeypatch, name, check):
    assert telling.Session(backend="cpu").caught(name, lies.LIES[name]).by == check
    monkeypatch.delitem(CHECKS, check)
    finding = telling.Session(backend="cpu").caught(name, lies.LIES[name])
    assert (finding.good, finding.by) == (False, "")
    assert not finding.found.startswith(("invalid", "failed"))


def test_a_lie_that_breaks_costs_no_other_and_nothing_begins_after_the_limit(monkeypatch, capsys):
    def breaks(session, case, lie):
        raise OSError("no such device")

    monkeypatch.setattr(telling.Session, "_measured", breaks)
    figures, findings = part_lies_gpu.told("gpu", sample=False)
    assert figures["lies told"] == len(lies.told_on("gpu"))
    assert len(findings) == figures["lies told"] + figures["honest workloads"]
    assert {(finding.good, finding.found) for finding in findings} == {(False, "OSError: no such device")}
    assert len(capsys.readouterr().err.splitlines()) >= len(findings)
    monkeypatch.setattr(part_lies_gpu, "_LIMIT_SECONDS", -1.0)
    _, late = part_lies_gpu.told("gpu", sample=True)
    assert {finding.found for finding in late} == {"TimeoutError: -1 s were over before it began"}


def test_a_process_that_takes_too_long_is_killed():
    session = telling.Session(backend="cpu", longest_seconds=0.1)
    finding = session.caught("nan", lies.LIES["nan"])
    assert not finding.good
    assert "was killed by SIGKILL" in finding.found


def test_what_breaks_at_a_record_whose_parts_were_changed_is_found(monkeypatch):
    monkeypatch.setattr(structure, "summary", lambda record: record.runs[99])
    tally = mutated.tried(seed=0, number=0, seconds=0, records=3)
    *damaged, changed = part_hostile.by_chance(tally)
    assert [finding.good for finding in damaged] == [True, True]
    assert not changed.good
    assert (changed.trials, changed.failures) == (tally.changed, tally.changed_taken)
    assert "seed 0" in changed.found
    assert "while it was judged" in changed.found
    monkeypatch.setattr(structure, "validate", lambda content: content[-1:][1])
    tally = mutated.tried(seed=0, number=0, seconds=0, records=3)
    assert len(tally.changed_troubles) == tally.changed > 0


def test_a_reader_that_takes_what_was_cut_or_changed_is_caught(monkeypatch):
    good = mutated.tried(seed=0, number=0, seconds=0, records=2)
    assert (good.cut_troubles, good.flipped_troubles, good.changed_troubles) == ([], [], [])
    monkeypatch.setattr(acceptance, "digest", lambda content, stated="": stated)
    found = mutated.tried(seed=0, number=0, seconds=0, records=2)
    assert found.flipped == good.flipped
    assert any(line.endswith("taken") for line in found.flipped_troubles)
    monkeypatch.setattr(mutated, "validate", lambda content: None)
    assert len(mutated.tried(seed=0, number=0, seconds=0, records=2).cut_troubles) == good.cut


def test_the_same_seed_changes_the_same_records_and_another_changes_others():
    first, again, other = (mutated.tried(seed=seed, number=0, seconds=0, records=3) for seed in (1, 1, 2))
    assert first == again != other


def test_every_way_to_change_a_record_is_taken():
    plain, dice = part_hostile.template(), random.Random(0)
    made = [structure.mutant(structure.Parts(plain), plain, dice) for _ in range(400)]
    kinds = {what.split()[0] for what, changed in filter(None, made)}
    assert kinds == {*structure.FITS} - {"move"}  # nothing to take from itself
    assert all(changed != plain for _, changed in filter(None, made))
    assert plain == part_hostile.template()
