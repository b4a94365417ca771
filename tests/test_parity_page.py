"""The page of model parity shows what the sessions of parity and boosting found, and what they did not find."""

import math
from pathlib import Path

import msgspec
import pytest

from suite import units
from suite.report.pages import parity as report
from suite.report.parts.facts import Facts
from suite.results.evidence import parity

EVIDENCE = Path(__file__).parent.parent / "site" / "evidence"
GROWN = parity.Trees(
    made="2026-01-02", commit="def", machine="a processor", cores=2, packages={"xgboost": "3.4.1"}, bound=1e-4,
    forests=(parity.Forest(table="mortgage", columns=45, rows=400_000, tested=9, jax=0.94027, xgboost=0.94028),),
    planted=(parity.Planted(bug="a level too few", table="mortgage", rows=16_384, difference=0.0082),),
)  # fmt: skip


def found(**changes):
    network = parity.Network(
        name="mnist_mlp", against="PyTorch 2.13.0", examples=4, errors={"logits": 6e-16}, stored=0.0, agrees=True
    )
    usual = {
        "made": "2026-01-01",
        "commit": "abc",
        "machine": "a processor",
        "packages": {"jax": "0.12.0"},
        "bounds": {"logits": 1e-10},
        "networks": (network,),
        "bugs": (parity.Caught(bug="a ReLU is missing", network="mnist_mlp", check="logits"),),
    }
    return parity.Parity(**(usual | changes))


def page_of(networks, grown):
    return report.files(Facts(records=(), networks=networks, boosted=grown))["parity.md"]


def test_what_was_found_is_read_as_it_was_written(tmp_path):
    found().write(tmp_path)
    assert parity.Parity.read(tmp_path) == found()


def test_nothing_found_is_none_and_its_page_says_how_to_find_it(tmp_path):
    assert parity.Parity.read(tmp_path) is None
    assert parity.Trees.read(tmp_path) is None
    page = page_of(None, None)
    assert "nox -s parity" in page
    assert "nox -s boosting" in page


def test_a_file_that_is_something_else_is_named(tmp_path):
    (tmp_path / parity.Parity.PLACE).write_text('{"networks": 1}')
    with pytest.raises(ValueError, match=r"parity\.json' is not what the parity session writes"):
        parity.Parity.read(tmp_path)


def test_the_page_has_errors_bounds_and_a_dash_for_what_an_inference_has_not():
    (row, bounds) = report.networks(found()).rows
    assert [cell.text for cell in row][:3] == ["mnist_mlp", "6.0e-16", units.DASH]
    assert bounds[1].text == "1.0e-10"
    assert "caught 1 of 1;" in page_of(found(), None)


def test_a_bug_that_nothing_caught_and_a_network_that_differs_are_said():
    (network,) = found().networks
    worse = parity.Network(
        name="x", against=network.against, examples=4, errors={"logits": math.inf}, stored=None, agrees=False
    )
    missed = parity.Caught(bug="b", network="x", check=None)
    page = page_of(found(networks=(worse,), bugs=(missed,)), None)
    assert "differs" in page
    assert "not caught" in page
    assert "caught 0 of 1;" in page


def test_a_hostile_name_is_harmless():
    page = page_of(found(bugs=(parity.Caught(bug="<script>", network="{{7*7}}", check=None),)), None)
    assert "<script>" not in page
    assert "{{7*7}}" not in page


def test_what_was_found_of_trees_is_read_as_it_was_written(tmp_path):
    GROWN.write(tmp_path)
    assert parity.Trees.read(tmp_path) == GROWN
    (tmp_path / parity.Trees.PLACE).write_text("{}")
    with pytest.raises(ValueError, match=r"trees\.json' is not what the boosting session writes"):
        parity.Trees.read(tmp_path)


def test_the_page_has_the_auc_of_both_sides_and_what_a_bug_does_to_it():
    (row,) = report.forests(GROWN).rows
    texts = [cell.text for cell in row]
    assert texts == ["mortgage", "45", "400,000", "0.94027", "0.94028", "-1.0e-05", "1.0e-04", "agrees"]
    page = page_of(None, GROWN)
    assert "for 1 of 1." in page
    assert "a level too few" in page
    assert GROWN.good


@pytest.mark.parametrize("difference", [2e-4, -2e-4])
def test_trees_of_another_quality_differ_on_either_side(difference):
    (forest,) = GROWN.forests
    worse = msgspec.structs.replace(GROWN, forests=(msgspec.structs.replace(forest, jax=forest.xgboost + difference),))
    assert report.forests(worse).rows[0][-1].text == "differs"
    assert not worse.good


def test_a_bug_in_the_trees_that_goes_unseen_is_said():
    missed = msgspec.structs.replace(GROWN.planted[0], difference=9e-5)
    blind = msgspec.structs.replace(GROWN, planted=(missed,))
    assert report.planted(blind).rows[0][-1].text == "not seen"
    assert "for 0 of 1." in page_of(None, blind)
    assert not blind.good


def test_the_published_trees_are_as_good_as_those_of_xgboost_and_all_their_bugs_are_seen():
    evidence = parity.Trees.read(EVIDENCE)
    assert evidence is not None
    assert evidence.good
    assert {(forest.table, forest.rows) for forest in evidence.forests} >= {
        ("mortgage", 400_000), ("higgs_1m", 1_000_000)
    }  # fmt: skip


def test_the_published_evidence_is_that_all_networks_agree_and_all_bugs_are_caught():
    evidence = parity.Parity.read(EVIDENCE)
    assert evidence is not None
    assert all(network.agrees for network in evidence.networks)
    assert len(evidence.bugs) >= 20
    assert all(bug.check for bug in evidence.bugs)


@pytest.mark.parametrize(
    ("value", "text"), [(6.04e-16, "6.0e-16"), (0.0, "0"), (None, units.DASH), (math.nan, units.DASH)]
)
def test_errors_are_written_with_their_power_of_ten(value, text):
    assert units.scientific(value) == text
