"""The page about the right model shows what the parity session found, and what it did not find."""

import math
from pathlib import Path

import pytest

from suite import units
from suite.report import parity as report
from suite.results import parity

EVIDENCE = Path(__file__).parent.parent / "site" / "evidence"


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


def test_what_was_found_is_read_as_it_was_written(tmp_path):
    parity.write(found(), tmp_path)
    assert parity.read(tmp_path) == found()


def test_nothing_found_is_none_and_its_page_says_how_to_find_it(tmp_path):
    assert parity.read(tmp_path) is None
    assert "nox -s parity" in report.page(None)


def test_a_file_that_is_something_else_is_named(tmp_path):
    (tmp_path / parity.FILE).write_text('{"networks": 1}')
    with pytest.raises(ValueError, match=r"parity\.json' is not what the parity session writes"):
        parity.read(tmp_path)


def test_the_page_has_errors_bounds_and_a_dash_for_what_an_inference_has_not():
    (row, bounds) = report.networks(found()).rows
    assert [cell.text for cell in row][:3] == ["mnist_mlp", "6.0e-16", units.DASH]
    assert bounds[1].text == "1.0e-10"
    assert "1 of 1 bugs" in report.page(found())


def test_a_bug_that_nothing_caught_and_a_network_that_differs_are_said():
    (network,) = found().networks
    worse = parity.Network(
        name="x", against=network.against, examples=4, errors={"logits": math.inf}, stored=None, agrees=False
    )
    missed = parity.Caught(bug="b", network="x", check=None)
    page = report.page(found(networks=(worse,), bugs=(missed,)))
    assert "differs" in page
    assert "not caught" in page
    assert "0 of 1 bugs" in page


def test_a_hostile_name_is_harmless():
    page = report.page(found(bugs=(parity.Caught(bug="<script>", network="{{7*7}}", check=None),)))
    assert "<script>" not in page
    assert "{{7*7}}" not in page


def test_the_published_evidence_is_that_all_networks_agree_and_all_bugs_are_caught():
    evidence = parity.read(EVIDENCE)
    assert evidence is not None
    assert all(network.agrees for network in evidence.networks)
    assert len(evidence.bugs) >= 20
    assert all(bug.check for bug in evidence.bugs)


@pytest.mark.parametrize(
    ("value", "text"), [(6.04e-16, "6.0e-16"), (0.0, "0"), (None, units.DASH), (math.nan, units.DASH)]
)
def test_errors_are_written_with_their_power_of_ten(value, text):
    assert units.scientific(value) == text
