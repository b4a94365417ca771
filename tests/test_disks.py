"""File systems that lack locks, hard links, syncing or modes: what works there, and what a refusal says and leaves."""

import errno
import os
from pathlib import Path

import factory
import pytest
from campaigns import case, plan

from suite.driver.journal import FILE_NAME, Journal, Session
from suite.processes import lock
from suite.results.records import files, store


def refuses(number):
    """Return a call of the system that a file system refuses."""

    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    return refused


def errors(*numbers):
    """Return a parameter for each error, named after it."""
    return [pytest.param(number, id=errno.errorcode[number]) for number in numbers]


def measured():
    """Measure nothing."""
    with lock.measuring("first"):
        pass


def is_measured():
    return lock.is_measured("first")


@pytest.mark.parametrize("number", errors(errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL))
@pytest.mark.parametrize("call", ["os.link", "os.fsync", "os.chmod"])
def test_a_record_and_a_journal_are_written_where_the_file_system_lacks(tmp_path, monkeypatch, call, number):
    monkeypatch.setattr(call, refuses(number))
    path = store.add(factory.record(), tmp_path)
    journal = Journal(tmp_path / "campaign" / FILE_NAME)
    journal.append(header := plan(case()))
    journal.append(Session(place="here"))
    monkeypatch.undo()
    assert store.read(path).campaign == factory.record().campaign
    assert (journal.header(), journal.place()) == (header, "here")
    assert not list(tmp_path.rglob(".writing-*"))


@pytest.mark.parametrize("number", errors(errno.EPERM, errno.EOPNOTSUPP))
def test_a_record_is_never_replaced_without_hard_links_either(tmp_path, monkeypatch, number):
    monkeypatch.setattr("os.link", refuses(number))
    path = tmp_path / "campaign" / "record.json"
    store.write_once(path, b"first")
    with pytest.raises(FileExistsError, match="already exists; records are never edited"):
        store.write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_of_two_that_write_one_record_without_hard_links_one_is_refused(tmp_path, monkeypatch):
    """The other has made its claim, and neither looked nor renamed yet; if it was killed, its claim is named."""
    monkeypatch.setattr("os.link", refuses(errno.EPERM))
    claim = tmp_path / ".writing-record.json"
    claim.touch()
    with pytest.raises(RuntimeError, match=f"another process is writing it; if none is, .* delete '{claim}'"):
        store.write_once(tmp_path / "record.json", b"second")
    assert list(tmp_path.iterdir()) == [claim]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EFBIG, "raise the limit of a file's size (ulimit -f)"),
        (errno.EIO, "check the disk and its connection"),
        (errno.ESTALE, "check the disk and its connection"),
        (errno.EROFS, "choose another folder with --out"),
        (errno.EACCES, "choose another folder with --out"),
    ],
    ids=lambda value: errno.errorcode.get(value),
)
def test_a_refusal_says_its_cause_and_a_remedy_that_fits_and_leaves_no_folder(tmp_path, monkeypatch, number, remedy):
    monkeypatch.setattr("os.fsync", refuses(number))
    path = tmp_path / "records" / "campaign" / FILE_NAME
    with pytest.raises(RuntimeError) as refused:
        Journal(path).append(plan(case()))
    assert str(refused.value) == f"cannot write '{path}': {os.strerror(number)}; {remedy}"
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_leaves_the_folder_of_what_was_written_before(tmp_path, monkeypatch):
    store.write_once(tmp_path / "campaign" / "first", b"first")
    monkeypatch.setattr("os.fsync", refuses(errno.EIO))
    with pytest.raises(RuntimeError):
        store.write_once(tmp_path / "campaign" / "deeper" / "second", b"second")
    assert list(tmp_path.rglob("*")) == [tmp_path / "campaign", tmp_path / "campaign" / "first"]


def test_an_entry_that_the_disk_refuses_is_said_with_how_to_resume(tmp_path, monkeypatch):
    journal = Journal(tmp_path / FILE_NAME)
    journal.append(plan(case()))
    monkeypatch.setattr("os.fsync", refuses(errno.EIO))
    with pytest.raises(RuntimeError, match="Input/output error; check the disk and its connection, then run --resume"):
        journal.append(Session(place="here"))


def test_a_write_that_fails_otherwise_is_no_lack(monkeypatch):
    with pytest.raises(OSError, match="Input/output"), files.if_possible():
        raise OSError(errno.EIO, "Input/output error")


@pytest.fixture
def lockless(tmp_path, monkeypatch):
    """A function that has TMPDIR, or everything, refuse locks with an error; returns TMPDIR and a folder with locks."""
    mine, other = tmp_path / "tmp", tmp_path / "shm"
    mine.mkdir()
    other.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(mine))
    monkeypatch.setattr(lock, "_LOCAL", (str(tmp_path / "none"), str(other)))
    real = lock.fcntl.flock

    def given(number, everywhere=False):
        def flock(file, kind):
            if everywhere or Path(file.name).is_relative_to(mine):
                raise OSError(number, os.strerror(number))
            real(file, kind)

        monkeypatch.setattr(lock.fcntl, "flock", flock)
        return mine, other

    return given


@pytest.mark.parametrize(
    "number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL], ids=errno.errorcode.get
)
def test_locks_are_in_a_local_folder_where_tmpdir_has_none_and_are_still_seen(lockless, number):
    _, other = lockless(number)
    lock.moment()
    lock.check_nothing_measures()
    with lock.measuring("first"):
        assert lock.is_measured("first")
        with pytest.raises(RuntimeError, match=f"another run is measuring on this machine .process {os.getpid()}"):
            lock.check_nothing_measures()
    assert not lock.is_measured("first")
    assert next(other.glob("*/campaign-first.lock"))


@pytest.mark.parametrize("number", errors(errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP))
@pytest.mark.parametrize(
    "ask", [lock.moment, lock.check_nothing_measures, is_measured, measured], ids=lambda call: call.__name__
)
def test_without_any_locks_the_cause_is_said_and_that_another_run_measures_is_not(lockless, number, ask):
    mine, _ = lockless(number, everywhere=True)
    with pytest.raises(RuntimeError) as refused:
        ask()
    assert str(refused.value) == (
        f"'{mine}' has no locks ({os.strerror(number)}), without which two runs on this machine would not see each "
        "other; set TMPDIR to a folder on a local disk"
    )


def test_a_folder_of_locks_that_is_full_is_said(lockless, monkeypatch):
    lockless(errno.ENOLCK)
    monkeypatch.setattr("os.write", refuses(errno.ENOSPC))
    with pytest.raises(RuntimeError, match=r"begun.lock': No space left on device; set TMPDIR to a folder"):
        lock.moment()
