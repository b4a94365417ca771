"""What a program reads of a command fits its exported schema, and says what the table says."""

import json
from pathlib import Path

import factory
import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli
from suite.results.cite.numbers import Numbers
from suite.results.cite.stored_pools import line_of
from suite.results.compare.comparison import LEAST_BAND, compared
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.single.paired_speedup import speedups
from suite.results.single.summary import summary
from suite.results.views import documents

CAMPAIGN = "20260101-000000-test"
HOST = factory.HOST.slug


def checked(document, name):
    """The document as its reader sees it, once its schema has accepted it."""
    plain = json.loads(documents.text(document))
    jsonschema.validate(plain, documents.schemas()[name])
    return plain


def of(records, **changes):
    asked = {"campaign": CAMPAIGN, "machine": factory.HOST.slug, "commit": "abc", "complete": True} | changes
    return checked(documents.run_document(records, **asked), "run")


def test_a_run_is_told_with_the_time_interval_and_file_of_each_case():
    records = factory.campaign()
    said = of(records, folder=Path("records") / CAMPAIGN, site=Path("build/html/index.html"))
    assert (said["schema"], said["campaign"], said["complete"], said["resume"]) == ("run/2", CAMPAIGN, True, None)
    assert said["site"] == "build/html/index.html"
    assert len(said["cases"]) == len(records)
    by_file = {case["record"]: case for case in said["cases"]}
    for record in records:
        case, item = by_file[f"records/{CAMPAIGN}/{record.name}.json"], summary(record)
        assert (case["value"], case["low"], case["high"]) == (item.seconds.value, item.seconds.low, item.seconds.high)
        assert (case["unit"], case["status"], case["rounds"], case["planned_rounds"]) == ("s", item.state, 3, 3)
        assert case["key"] == f"{factory.HOST.slug}/{case['case']}/seconds"


def test_a_run_is_told_with_its_speed_ups():
    records = factory.campaign()
    found = {item["workload"]: item for item in of(records)["speedups"]}
    for item in speedups(records):
        said = found.pop(item.gpu.record.workload)
        assert (said["value"], said["low"], said["high"]) == (item.ratio.value, item.ratio.low, item.ratio.high)
        assert (said["status"], said["reasons"]) == (item.state, list(item.reasons))
        assert (said["scope"], said["rounds"], said["certified"]) == ("step", 3, True)
    assert not found


def test_what_has_no_interval_or_no_time_has_null_and_says_why():
    alone = factory.record(step_seconds=(0.01,))
    lost = msgspec.structs.replace(factory.record(backend="gpu"), runs=(), reason="out of memory", digest="")
    first, second = of([alone, lost], complete=False, resume="suite run --resume")["cases"]
    assert first["value"] == pytest.approx(0.01, rel=0.01)
    assert (first["low"], first["high"], first["record"]) == (None, None, None)
    assert (second["value"], second["status"], second["rounds"]) == (None, "open", 0)
    assert second["reasons"] == ["out of memory"]


def test_a_run_that_has_completed_nothing_is_a_document_too():
    said = of([], complete=False, resume="suite run --resume")
    assert (said["cases"], said["speedups"], said["complete"]) == ([], [], False)
    assert said["resume"] == "suite run --resume"


def test_a_comparison_is_told_with_both_sides_and_the_verdict():
    slow = [factory.record(step_seconds=(0.0200, 0.0201, 0.0199))]
    fast = [factory.record(step_seconds=(0.0100, 0.0101, 0.0099), campaign="20260102-000000-b")]
    rows = compared(slow, fast)
    said = checked(documents.compare_document("slow", "fast", rows), "compare")
    assert (said["schema"], said["first"], said["second"]) == ("compare/2", "slow", "fast")
    assert said["band"] >= LEAST_BAND
    (row,) = said["rows"]
    assert (row["verdict"], row["value"]) == ("faster", pytest.approx(2.0, rel=0.01))
    assert (row["low"], row["high"]) == (rows[0].ratio.low, rows[0].ratio.high)
    assert (row["first"]["value"], row["first"]["campaign"]) == (pytest.approx(0.02, rel=0.01), CAMPAIGN)
    assert row["second"]["record"] == f"20260102-000000-b/{fast[0].name}.json"
    same = checked(documents.compare_document("slow", "fast", rows, band=2.0), "compare")
    assert (same["rows"][0]["verdict"], same["band"]) == ("same", 2.0)


def test_the_list_of_numbers_has_each_key_once_with_its_pool_and_why_a_number_may_not_be_quoted():
    records = [
        *factory.hosts(),
        *factory.hosts(1, workload="cifar10_mlp", day=2),
        factory.record("mnist_cnn", profile="smoke"),
    ]
    there = Numbers(records)
    stored = Numbers(records, [line_of(there.resolve(f"{HOST}/mnist_mlp/cpu/step/seconds"))])
    said = checked(documents.cite_list_document(stored), "cite-list")
    assert [number["key"] for number in said["numbers"]] == list(there.current)
    for number in said["numbers"]:
        assert number["quotable"] is (number["reason"] == "") is (number["status"] == "quotable")
        assert (number["pinned"] is None) is (number["digest"] is None)
    found = {number["key"]: number for number in said["numbers"]}
    step = found[f"{HOST}/mnist_mlp/cpu/step/seconds"]
    assert step["range_low"] < step["low"] < step["value"] < step["high"] < step["range_high"]
    assert (step["hosts"], len(step["campaigns"]), step["status"]) == (3, 3, "quotable")
    assert step["pinned"] == f"{step['key']}@{step['digest'][:16]}"
    alone = found[f"{HOST}/cifar10_mlp/gpu/step/speedup"]
    assert (alone["status"], alone["pinned"]) == ("open", None)
    assert alone["reason"] == "1 host of 3"
    smoke = found[f"{HOST}/mnist_cnn/cpu/step/seconds"]
    assert (smoke["status"], smoke["range_low"]) == ("open", None)
    assert smoke["reason"] == "it only shows that it runs"
    part = documents.cite_list_document(there, "/speedup").numbers
    assert {number.key.rpartition("/")[2] for number in part} == {"speedup"}


def test_a_reader_of_a_document_may_meet_a_field_that_it_does_not_know():
    said = json.loads(documents.text(documents.cite_list_document(Numbers(factory.campaign()))))
    jsonschema.validate(said | {"later": 1}, documents.schemas()["cite-list"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(said | {"schema": "cite-list/1"}, documents.schemas()["cite-list"])


# The command line


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "mkdocs.yml").write_text("")
    for record in (*factory.campaign(), *factory.campaign(cpu=0.02, campaign="20260102-000000-b")):
        store.add(record, tmp_path / "site" / "records")
    (tmp_path / "site" / "records" / "20260101-000000-test" / "broken.json").write_text("{")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("compare", ["compare", CAMPAIGN, "20260102-000000-b", "--json"]),
        ("cite-list", ["cite", "--list", "--json"]),
        ("baselines", ["baselines", "--json"]),
    ],
)
def test_a_command_prints_one_document_and_all_else_on_standard_error(checkout, schema, words):
    done = CliRunner().invoke(cli.main, words)
    assert done.exit_code == 0
    jsonschema.validate(json.loads(done.stdout), documents.schemas()[schema])
    assert "broken.json" in done.stderr


@pytest.mark.parametrize(
    ("words", "remark"),
    [
        (["compare", CAMPAIGN, "nosuch", "--json"], "Error: no record matches 'nosuch'"),
        (["cite", "--list", "nosuch", "--json"], "Error: no key with 'nosuch' in it"),
        (["cite", "a/b/c/d/seconds", "--json"], "Error: --json needs --list"),
    ],
)
def test_a_command_that_fails_prints_no_document(checkout, words, remark):
    done = CliRunner().invoke(cli.main, words)
    assert done.exit_code != 0
    assert done.stdout == ""
    assert remark in done.stderr
    assert len(done.stderr.splitlines()) <= 4


def test_the_list_of_workloads_fits_its_schema():
    done = CliRunner().invoke(cli.main, ["list", "--json"])
    jsonschema.validate(json.loads(done.stdout), documents.schemas()["list"])


def test_the_schemas_are_on_the_site():

    files = factory.pages(factory.campaign())
    assert {name for name in files if name.endswith(".schema.json")} == {
        f"assets/{name}.schema.json"
        for name in (
            "record",
            "run",
            "compare",
            "cite-list",
            "baselines",
            "threshold",
            "numbers",
            "kinds",
            "pool",
            "list",
        )
    }
    assert files["assets/record.schema.json"] == json.dumps(msgspec.json.schema(Record), indent=1) + "\n"
