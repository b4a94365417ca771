"""Faults of files that git, an editor or a mail program changed: the same record, or a reason that tells."""

import codecs
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import factory

from suite.results.records import store
from trust.bench import ROOT, THE_RESULT, Bench, Outcome, fault, refused, whole

_BY = "the record's digest, once its bytes are restored"
_AS_IT_WAS, _REASON = "the same record, exit 0", "one line that says what was done to it, exit 1"


def record(place: Bench) -> Path:
    """Write a record, and return its file."""
    return store.add(factory.record(), place.out)


def laid_out(place: Bench, change: Callable[[bytes], bytes]) -> Outcome:
    """Change the layout of a record, and check it by the command line."""
    path = record(place)
    path.write_bytes(change(path.read_bytes()))
    ran = place.ran("check", str(place.out))
    same = ran.records == (factory.record(),)
    return ran.code == 0 and same, f"exit {ran.code}; the same: {same}; {ran.said[-200:]}"


def crlf(content: bytes) -> bytes:
    """Return a text with the line ends of Windows."""
    return content.replace(b"\n", b"\r\n")


for _what, _change in (
    ("the line ends of Windows (core.autocrlf)", crlf),
    ("a byte order mark", lambda content: codecs.BOM_UTF8 + content),
    ("another indentation", lambda content: json.dumps(json.loads(content), indent="\t").encode()),
    ("no last line break", lambda content: content[:-1]),
):
    fault(f"a record has {_what}", _AS_IT_WAS, _BY)(partial(laid_out, change=_change))


def spoilt(place: Bench, change: Callable[[bytes], bytes], words: str) -> Outcome:
    """Change a record so that it is no more what was written."""
    path = record(place)
    path.write_bytes(change(path.read_bytes()))
    ran = place.ran("check", str(place.out))
    good = ran.code == 1 and words in ran.said and not ran.records and "Traceback" not in ran.said
    return good, f"exit {ran.code}; {ran.said[-300:]}"


for _what, _change, _words in (
    ("is in UTF-16, as PowerShell writes it", lambda content: content.decode().encode("utf-16"),
     "UTF-16, as PowerShell's '>' writes it"),
    ("has git's marks of a conflict", lambda content: content.replace(b' "rounds"', b'<<<<<<< HEAD\n "rounds"'),
     "git left a conflict"),
    ("is a pointer of Git LFS", lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
     "a pointer of Git LFS, whose file 'git lfs pull' fetches"),
    ("has another value and a byte order mark",
     lambda content: codecs.BOM_UTF8 + content.replace(b'"rounds": 3', b'"rounds": 4'),
     "it was changed after it was written"),
    ("has another value and the line ends of Windows",
     lambda content: crlf(content.replace(b'"rounds": 3', b'"rounds": 4')), "it was changed after it was written"),
):  # fmt: skip
    fault(f"a record {_what}", _REASON, _BY)(partial(spoilt, change=_change, words=_words))


@fault("records are cloned by a git with core.autocrlf", _AS_IT_WAS, _BY)
def _(place: Bench) -> Outcome:
    record(place)
    shutil.copy(ROOT / ".gitattributes", place.out)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=true")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "a")):
        subprocess.run([*git, *words], cwd=place.out, check=True, capture_output=True)
    clone = place.folder / "clone"
    subprocess.run([*git, "clone", "-q", "-c", "core.autocrlf=true", place.out, clone], check=True, capture_output=True)
    place.out = clone
    ran = place.ran("check", str(clone))
    return ran.code == 0 and ran.records == (factory.record(),), f"exit {ran.code}; {ran.said[-200:]}"


@fault(
    "a pack of records within a ZIP archive", "one line that says that it is an archive, exit 1", "the pack's members"
)
def _(place: Bench) -> Outcome:
    pack = store.pack(record(place).parent)
    outer = place.folder / "records.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(pack, pack.name)
    ran = place.ran("check", str(outer))
    good = ran.code == 1 and "is no record's file; a pack holds only NAME.json" in ran.said
    return good and "Traceback" not in ran.said, f"exit {ran.code}; {ran.said[-300:]}"


def journal(place: Bench, change: Callable[[bytes], bytes]) -> Outcome:
    """Interrupt a campaign, change its journal, and resume it."""
    place.faked().run("alpha", "beta", planted=(("signal_after", 3, "SIGTERM"),))
    before = place.journal().done()
    path = place.journal().path
    path.write_bytes(change(path.read_bytes()))
    kept = place.journal().done()
    last = place.run("--resume")
    same = all(entry in before for entry in kept)
    return last.good and same, f"{len(kept)} of {len(before)} runs stay; {whole(last)[1]}"


def garbled(content: bytes) -> bytes:
    """Return a journal whose last but one line has a wrong byte."""
    *lines, one, last = content.splitlines(keepends=True)
    return b"".join((*lines, one[:20] + b"?" + one[21:], last))


for _what, _change in (
    ("has the line ends of Windows", crlf),
    ("is cut in its last line", lambda content: content[:-30]),
    ("has a wrong byte in one line", garbled),
    ("has one line twice", lambda content: content + content.splitlines(keepends=True)[-1]),
):
    fault(f"the journal of an interrupted campaign {_what}", f"what is whole stays, and {THE_RESULT}",
          "each line's checksum")(partial(journal, change=_change))  # fmt: skip


@fault(
    "the journal of an interrupted campaign has lost its plan", "one line, exit 1, the journal as it was", "the journal"
)
def _(place: Bench) -> Outcome:
    place.faked().run("alpha", planted=(("signal_after", 1, "SIGTERM"),))
    path = place.journal().path
    path.write_bytes(content := b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    good, found = refused(place.run("--resume"), "journal")
    return good and path.read_bytes() == content, found
