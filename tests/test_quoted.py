"""No measured number is typed by hand: a text quotes it by its key, and README shows what a campaign had found."""

import re
from pathlib import Path

import factory
import msgspec
import pytest

from suite.console import live_table
from suite.results.cite.citation import Citation
from suite.results.cite.numbers import Numbers
from suite.results.records import store
from suite.results.records.run import Stage
from suite.sessions import publishing

ROOT = Path(__file__).parent.parent
WRITTEN = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *(f"site/{name}.md" for name in ("changes", "citing", "contributing", "method", "reading")),
)
_UNIT = (
    r"x|×|%|percent|times|ns|µs|us|ms|s|min|h|seconds?|minutes?|hours?|examples/s|img/s|pictures/s|images/s|"
    r"[KMGT]?i?B(?:/s)?|[MGT]FLOP(?:/s)?|J|mJ|kJ|W|MHz|GHz|°C"
)
_N = r"\d+(?:[.,]\d+)*"
_COUNT = (
    r"\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty"
)
_OF = r" of (?:[\w']+ ){1,3}(?:time|speed)(?![\w-])"
_MEASURED = re.compile(
    rf"(?<![\w.@/-])(?:"
    rf"\d[\d.,]*\s?(?:{_UNIT})(?![\w%])"
    rf"|{_N} \({_N} to {_N}\)(?:{_OF})?"  # a value and its interval
    rf"|(?:less than )?{_N}(?: to {_N})?(?:{_OF}| as (?:fast|long|slow)\b)"
    # A ratio below 1, or with two decimals and more, as settings do not have them; a version has three parts or a name.
    rf"|(?:0\.\d+|\d+\.\d\d+|\d+\.\d+(?=e-?\d))(?!\.?\d)(?:e-?\d+)?(?: to {_N})?"
    rf"|(?i:{_COUNT}) of the \d+"  # how many of the 22 may be quoted; "all of", "most of", "two more of" are words
    rf")"
)
_VERSION = re.compile(r"\b(?:jax|jaxlib|JAX|Python) \d+\.\d+(?: or \d+\.\d+)?(?!\.?\d)")
_QUOTED = re.compile(r"<!--\s*cite\b.*?-->.*?<!--\s*/cite\s*-->", re.DOTALL)
_CODE = re.compile(r"^ {4}[^\n]*$|^```.*?^```$|`[^`]*`", re.DOTALL | re.MULTILINE)
# The intervals' level; a limit of the protocol; how wide a quotable number is; from where on a CPU has no certificate.
_CHOSEN = {"95 %", "2 %", "15 %", "less than 0.7 of JAX's time"}
# Settings and limits, of which tests/test_architecture.py compares some with the code.
_SETTINGS = {
    "README.md": {"10 %"},
    "site/changes.md": {"5 %", "10 %"},
    "site/method.md": {
        *("1 %", "5 %", "10 %", "0.7", "0.9", "0 s", "30 s", "100 minutes", "4 hours", "1 GiB"),
        *("2.1 times", "3 times"),
        "0.11",  # a version of JAX
    },
}


def typed(text):
    """Return what looks measured in a text, without quotations and code."""
    plain = _VERSION.sub("", " ".join(_CODE.sub("", _QUOTED.sub("", text)).split()))
    return [found for found in _MEASURED.findall(plain) if found not in _CHOSEN]


@pytest.mark.parametrize("name", WRITTEN)
def test_no_number_is_typed_by_hand(name):
    found = typed((ROOT / name).read_text(encoding="utf-8"))
    assert [number for number in found if number not in _SETTINGS.get(name, ())] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it takes 47.6 ms now", ["47.6 ms"]),
        ("13x as fast, 804 % more, 1,200 examples/s", ["13x", "804 %", "1,200 examples/s"]),
        ("12.1 times", ["12.1 times"]),
        ("<!-- cite a/b -->150 µs (148 µs to 151 µs)<!-- /cite -->", []),
        ("`--budget 30` and jax 0.12, Python 3.11, 95 % intervals, result/1, 20 networks", []),
        ("    suite run 10 s", []),
        ("    suite run 10 s\n\nIt takes 47.6 ms.\n\n```\n5 s\n```\n\nAnd 13x.", ["47.6 ms", "13x"]),
        ("XGBoost takes 0.70 (0.63 to 0.78) of JAX's time", ["0.70 (0.63 to 0.78) of JAX's time"]),
        ("2.7 (2.5 to 3.0), from 1.30 to 1.21, 0.61 to 0.84", ["2.7 (2.5 to 3.0)", "1.30 to 1.21", "0.61 to 0.84"]),
        ("in 0.57 of the time,\n  2.7 as fast, 1.5e-6 off.", ["0.57 of the time", "2.7 as fast", "1.5e-6"]),
        ("a step takes 0.84 with jax 0.12, 0.82 with jax 0.11", ["0.84", "0.82"]),
        ("Nineteen of the 22 may be quoted, 17 of the 22 before", ["Nineteen of the 22", "17 of the 22"]),
        ("jax 0.11 or 0.12 and 0.10.2, 25.6 million rows, batches of 1 to 128, two more of the 22, within 2e-6", []),
        ("takes less than 0.7 of\n  JAX's time", []),
    ],
)
def test_what_looks_measured(text, found):
    assert typed(text) == found


def test_publishing_a_newer_record_changes_every_mention_that_is_not_pinned(tmp_path):
    published = tmp_path / "site" / "records"
    store.add(factory.record("mnist_mlp", "gpu", [0.002, 0.00201, 0.00199]), published)
    key = "test-gpu-16-cores/mnist_mlp/gpu/step/seconds"
    there = Numbers(store.load([published])[0])
    number, pinned = there.resolve(key), f"{key}@{there.resolve(key).record.digest[:16]}"
    readme = f"<!-- cite {key} -->{{}}<!-- /cite --> <!-- cite {pinned} -->{{}}<!-- /cite -->"
    (tmp_path / "README.md").write_text(readme.format(*[Citation(number=number).value] * 2))
    assert publishing.mentions(published) == ()
    newer = {"campaign": "20260601-000000-test", "created": "2026-06-01T00:00:00Z"}
    store.add(factory.record("mnist_mlp", "gpu", [0.001, 0.00101, 0.00099], **newer), published)
    assert publishing.mentions(published) == (tmp_path / "README.md",)
    text = (tmp_path / "README.md").read_text()
    assert text.count("1.42 ms") == 1
    assert text.count(Citation(number=number).value) == 1, "a pinned mention moved"


def test_publishing_leaves_a_page_as_it_is_where_a_mark_has_no_partner_and_says_so(tmp_path, capsys):
    published = tmp_path / "site" / "records"
    store.add(factory.record("mnist_mlp", "gpu", [0.002, 0.00201, 0.00199]), published)
    key = "test-gpu-16-cores/mnist_mlp/gpu/step/seconds"
    stale = f"<!-- cite {key} -->3x<!-- /cite -->"
    (tmp_path / "README.md").write_text(stale)
    (tmp_path / "site" / "page.md").write_text(content := f"{stale}\n<!-- cite {key} -->3x\n\nText, {stale}.")
    assert publishing.mentions(published) == (tmp_path / "README.md",)
    assert (tmp_path / "site" / "page.md").read_text() == content
    assert f"page.md stays unchanged; line 2: '<!-- cite {key} -->' has no partner" in capsys.readouterr().err


def ended(record, *times):
    """Return the record with a process that started and ended in each of these seconds after its campaign began."""
    runs = tuple(
        msgspec.structs.replace(
            run,
            started=f"2026-01-01T00:{start // 60:02d}:{start % 60:02d}Z",
            stages=(Stage(name="samples", wall_seconds=end - start, process_seconds=None),),
        )
        for run, (start, end) in zip(record.runs, times, strict=False)
    )
    return msgspec.structs.replace(record, created="2026-01-01T00:00:00Z", runs=runs)


def campaign():
    cpu, gpu = (factory.record(backend=side, step_seconds=(0.010, 0.011)) for side in ("cpu", "gpu"))
    return [ended(cpu, (5, 60), (61, 200)), ended(gpu, (5, 61), (62, 201))]


@pytest.mark.parametrize(("minutes", "rounds", "shown"), [(0.9, "0", False), (1, "1", False), (1.02, "1", True)])
def test_a_process_counts_from_when_it_had_ended(minutes, rounds, shown):
    line = live_table.shown(campaign(), minutes).splitlines()[-1].split()
    assert line[-1] == rounds
    assert ("1.00x" in line) is shown


def test_the_interval_is_that_of_the_rounds_there_were():
    early, late = (live_table.shown(campaign(), minutes).splitlines()[-1] for minutes in (2, 4))
    assert " to " not in early
    assert late.rstrip().endswith("2")


def test_what_is_outside_the_marks_and_a_page_without_a_campaign_stay_as_they_are(tmp_path):
    text = "before\n<!-- terminal 1 -->\nold\n<!-- /terminal -->\nafter"
    assert live_table.renewed(text, tmp_path) == text
    new = live_table.renewed(text, ROOT / "site")
    assert (new[:6], new[-5:], "old" in new) == ("before", "after", False)


def test_readme_shows_the_stored_campaign():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- terminal ") == 3
    assert live_table.renewed(text, ROOT / "site") == text
