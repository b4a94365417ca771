"""What git or an editor does to the bytes of a file and not to its values changes no record and no digest of code."""

import codecs
import json
import shutil
import subprocess
from pathlib import Path

import factory
import pytest
from campaigns import case, plan

from suite.child_imports import PACKAGE
from suite.driver.journal import FILE_NAME, Journal, Session
from suite.results.cite import stored_pools
from suite.results.evidence import copyable
from suite.results.records import catalogue, store
from suite.results.records.layout import as_written
from suite.results.single import prices
from suite.system import software

RECORD = factory.record()
ROOT = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path):
    return store.add(RECORD, tmp_path)


def crlf(content):
    return content.replace(b"\n", b"\r\n")


ANOTHER_LAYOUT = {
    "CRLF": crlf,
    "no last line break": lambda content: content[:-1],
    "two last line breaks": lambda content: content + b"\n",
    "CR alone": lambda content: content.replace(b"\n", b"\r"),
    "four spaces": lambda content: json.dumps(json.loads(content), indent=4).encode(),
    "tabs": lambda content: json.dumps(json.loads(content), indent="\t").encode(),
    "one line": lambda content: json.dumps(json.loads(content), separators=(",", ":")).encode(),
    "trailing spaces": lambda content: content.replace(b",\n", b", \n"),
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "a byte order mark and CRLF": lambda content: b"\xef\xbb\xbf" + crlf(content),
}


@pytest.mark.parametrize("change", ANOTHER_LAYOUT.values(), ids=ANOTHER_LAYOUT.keys())
def test_a_record_in_another_layout_is_the_same_record_and_is_packed_as_it_was_written(path, change):
    written = path.read_bytes()
    path.write_bytes(change(written))
    assert path.read_bytes() != written
    assert store.read(path) == RECORD
    assert store.content(store.pack(path.parent) / path.name) == written


@pytest.mark.parametrize("change", ANOTHER_LAYOUT.values(), ids=ANOTHER_LAYOUT.keys())
def test_a_changed_value_is_refused_in_every_layout(path, change):
    path.write_bytes(change(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4')))
    with pytest.raises(ValueError, match="it was changed after it was written"):
        store.read(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.encode("utf-16"), "UTF-16, as PowerShell's '>' writes it, not UTF-8 at line 1 column 1"),
        (
            lambda text: "\ufeff".encode() + text.replace('"rounds": 3', '"rounds": 4').encode(),
            "it was changed after it was written: a byte order mark (BOM) comes first at line 1 column 1",
        ),
        (
            lambda text: text.replace(' "rounds"', '<<<<<<< HEAD\n "rounds"').encode(),
            "not JSON: git left a conflict at line",
        ),
        (
            lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "a pointer of Git LFS, whose file 'git lfs pull' fetches at line 1 column 1",
        ),
        (
            lambda text: text.replace(' "rounds": 3', ' "rounds": 4,\r\n "rounds": 3').encode(),
            "the name is repeated at $.rounds",
        ),
    ],
)
def test_what_cannot_be_restored_says_what_was_done_to_it(path, change, reason):
    path.write_bytes(change(path.read_text(encoding="utf-8")))
    with pytest.raises(ValueError, match="is not a readable record") as raised:
        store.read(path)
    assert reason in str(raised.value)


def test_published_records_are_as_they_were_written():
    paths = list(store.paths([ROOT / "site" / "records"]))[::50]
    assert paths
    for each in paths:
        content = store.content(each)
        assert as_written(crlf(content)) == content


def test_code_is_the_same_with_either_line_end(tmp_path):
    here = shutil.copytree(PACKAGE, tmp_path / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    assert software.code(here) == software.code(PACKAGE)
    for module in here.rglob("*.py"):
        module.write_bytes(crlf(module.read_bytes()))
    assert software.code(here) == software.code(PACKAGE)


def test_the_digest_of_a_step_to_copy_is_the_same_with_either_line_end(tmp_path):
    step = next((ROOT / "site" / "steps").glob("*.py"))
    (tmp_path / step.name).write_bytes(crlf(step.read_bytes()))
    assert copyable.digest(tmp_path / step.name) == copyable.digest(step)


def test_a_file_of_prices_may_have_a_byte_order_mark_and_either_line_end(tmp_path):
    (tmp_path / "prices.toml").write_bytes(b"\xef\xbb\xbf" + crlf(prices.SHIPPED.read_bytes()))
    assert prices.read(tmp_path / "prices.toml") == prices.read()


def test_a_checkout_with_autocrlf_has_the_bytes_that_were_committed(tmp_path):
    files = {"page.md": b"a\nb\n", "code.py": b"1\n2\n", "pack.zip": b"PK\r\n\n", "picture.png": b"\x89PNG\r\n\x1a\n\0"}
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    shutil.copy(ROOT / ".gitattributes", one)
    for name, content in files.items():
        (one / name).write_bytes(content)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=true"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *command], cwd=one, check=True, capture_output=True)
    subprocess.run([*git, "clone", "-q", "-c", "core.autocrlf=true", str(one), str(other)], check=True)
    assert {name: (other / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_journal_is_read_whatever_its_line_ends(tmp_path, mark):
    journal = Journal(tmp_path / FILE_NAME)
    journal.append(header := plan(case()))
    journal.append(Session(place="here"))
    journal.path.write_bytes(mark + crlf(journal.path.read_bytes()))
    again = Journal(journal.path)
    assert (again.header(), again.place()) == (header, "here")


def test_evidence_pools_and_the_catalogue_may_have_a_byte_order_mark_and_either_line_end(tmp_path):
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "site" / "evidence", folder / "evidence", ignore=shutil.ignore_patterns("*.zip", "*.svg"))
    for name in (stored_pools.FILE_NAME, "catalogue.json"):
        (place,) = (ROOT / "site").rglob(name)
        shutil.copy(place, folder / name)

    def everything():
        lines, problems = stored_pools.read(folder / stored_pools.FILE_NAME)
        return lines, problems, copyable.Compared.read_all(folder / "evidence"), catalogue.read(folder)

    before = everything()
    assert all(before[:1] + before[2:])
    assert before[1] == ()
    for path in [*folder.rglob("*.json"), *folder.rglob("*.jsonl")]:
        path.write_bytes(codecs.BOM_UTF8 + crlf(path.read_bytes()) + b"\r\n")
    assert everything() == before


def test_a_line_of_pools_with_a_conflict_says_so(tmp_path):
    path = tmp_path / stored_pools.FILE_NAME
    path.write_text("<<<<<<< HEAD\n")
    (problem,) = stored_pools.read(path)[1]
    assert "is no stored pool: not JSON: git left a conflict" in problem
