"""The store: whole or not at all, safe for two at once, and one clear line for everything that is wrong."""

import dataclasses
import errno
import os
import resource
import shutil
import signal
import tempfile
from multiprocessing import get_context

import pytest

from suite.data import store
from suite.data.draft import draft
from suite.data.edition import Edition

TINY = Edition(train=40, test=20)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a data folder with the smallest mnist in it, not to be changed."""
    home = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(home))
        store.prepare("mnist", edition=TINY)
    return home


@pytest.fixture
def home(prepared, tmp_path, monkeypatch):
    """Return a copy of it that a test may damage."""
    shutil.copytree(prepared, tmp_path / "data")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "data"))
    return tmp_path / "data"


def read(split):
    there = store.split("mnist", split, edition=TINY)
    return there.take(range(len(there)))


def test_records_are_read_many_at_a_time_and_in_the_asked_order(home):
    there, calls = store.split("mnist", "train", edition=TINY), []

    class Counting:
        def __getitems__(self, keys):
            calls.append(len(keys))
            return there.records.__getitems__(keys)

    asked = [3, 0, 3, 2]
    counted = dataclasses.replace(there, records=Counting())
    assert counted.take(asked) == [there.records[index] for index in asked]
    assert calls == [len(asked)]


def only(folder, pattern):
    (path,) = folder.rglob(pattern)
    return path


def test_the_environment_chooses_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    assert store.folder() == tmp_path


def test_the_cache_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv(store.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.folder().parent == tmp_path


def test_an_unknown_dataset_is_answered_with_all_names():
    with pytest.raises(
        LookupError, match=r"no dataset 'minst' \(did you mean 'mnist'\?\); there are: cats_vs_dogs, cifar10"
    ):
        store.prepare("minst")


def test_data_that_was_not_prepared_is_named_with_its_remedy(empty):
    with pytest.raises(RuntimeError, match=r"nothing at .*3\.0\.1'; suite data prepare mnist writes it there"):
        read("train")


def test_preparing_again_writes_nothing(home):
    info = only(home, "dataset_info.json")
    before = info.stat().st_mtime_ns
    store.prepare("mnist", edition=TINY)
    assert only(home, "dataset_info.json").stat().st_mtime_ns == before


def test_preparing_says_nothing_but_calls_back(empty, capfd):
    calls = []
    store.prepare("mnist", edition=TINY, progress=lambda *told: calls.append(told))
    assert calls == [("making mnist train", 40, 40), ("making mnist test", 20, 20)]
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_preparation_leaves_nothing_behind(empty):
    def interrupt(*told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.prepare("mnist", edition=TINY, progress=interrupt)
    assert not any(path.is_file() for path in empty.rglob("*"))
    assert not store.place("mnist", edition=TINY).joinpath("mnist").exists()


def test_what_a_killed_preparation_left_is_not_read(prepared, empty):
    draft = empty / "embedded" / TINY.text() / ".writing-killed"
    shutil.copytree(prepared, draft)
    only(draft, "*train*record*").write_bytes(b"half")
    store.prepare("mnist", edition=TINY)
    assert len(read("train")) == TINY.train


def test_what_a_killed_preparation_left_is_removed_by_the_next_and_a_running_one_is_not(empty):
    killed = get_context("spawn").Process(target=prepare_and_die)
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    home = store.place("mnist", edition=TINY)
    assert [path.name.startswith(".writing-") for path in home.iterdir()] == [True]
    with draft(home) as running:
        store.prepare("mnist", edition=TINY)
        assert sorted(path.name for path in home.iterdir()) == [running.name, "mnist"]
    assert [path.name for path in home.iterdir()] == ["mnist"]


def prepare_and_die():
    store.prepare("mnist", edition=TINY, progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))


def test_a_file_system_without_locks_keeps_every_draft(empty, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr("fcntl.flock", refuse)
    home = store.place("mnist", edition=TINY)
    home.mkdir(parents=True)
    with draft(home) as running:
        store.prepare("mnist", edition=TINY)
        assert running.is_dir()
    assert len(read("train")) == TINY.train


def test_nothing_is_left_in_the_folder_of_temporary_files(empty, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    store.prepare("mnist", edition=TINY)
    assert not list((tmp_path / "temporary").iterdir())


def test_two_processes_may_prepare_at_once(empty):
    with get_context("spawn").Pool(2) as pool:
        pool.map(prepare_tiny, range(2))
    assert len(read("train")) == TINY.train
    assert [path.name for path in store.place("mnist", edition=TINY).iterdir()] == ["mnist"]


def prepare_tiny(_):
    store.prepare("mnist", edition=TINY)


def test_a_preparation_that_finishes_second_keeps_the_first(prepared, empty):
    final = store.path("mnist", edition=TINY)

    def overtake(what, done, total):
        if what == "making mnist test":
            shutil.copytree(only(prepared, "3.0.1"), final)

    store.prepare("mnist", edition=TINY, progress=overtake)
    assert [path.name for path in final.parent.iterdir()] == ["3.0.1"]
    assert [path.name for path in store.place("mnist", edition=TINY).iterdir()] == ["mnist"]


def test_sizes_and_seeds_never_mix():
    editions = (TINY, Edition(train=41, test=20), Edition(train=40, test=21), Edition(train=40, test=20, seed=1))
    assert len({store.place("mnist", edition=edition) for edition in editions}) == 4


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("*train*record*", b""),
        ("*train*record*", bytes(131072)),
        ("dataset_info.json", b'{"name": "mni'),
        ("dataset_info.json", None),
    ],
)
def test_damage_is_named_with_its_remedy(home, file, content):
    path = only(home, file)
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(RuntimeError, match=r"cannot be read: .*; remove that folder and run again") as caught:
        read("train")
    assert "\n" not in str(caught.value)


def test_a_lost_file_is_named_before_anything_is_read(home):
    only(home, "*train*record*").unlink()
    with pytest.raises(RuntimeError, match=r"cannot be read: .*; remove that folder and run again"):
        store.split("mnist", "train", edition=TINY)


def test_a_truncated_file_is_named_with_its_remedy(home):
    path = only(home, "*train*record*")
    path.write_bytes(path.read_bytes()[:65536])
    with pytest.raises(RuntimeError, match="cannot be read"):
        read("train")


def test_a_folder_that_refuses_names_the_variable(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="set SUITE_DATA to a folder you may write to"):
        store.prepare("mnist", edition=TINY)


def test_a_prepared_folder_may_be_read_only(home, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: pytest.fail("wrote"))
    store.prepare("mnist", edition=TINY)
    assert len(read("test")) == TINY.test


def test_a_slice_of_a_split_is_a_split(home):
    assert len(store.split("mnist", "train[:25%]", edition=TINY)) == TINY.train // 4


def test_another_version_is_named(home):
    path = only(home, "3.0.1")
    path.rename(path.with_name("2.0.0"))
    with pytest.raises(RuntimeError, match=r"holds version 2\.0\.0, which this TFDS does not read"):
        read("train")


def test_a_full_disk_leaves_nothing_behind_and_earlier_data_intact(home, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write", full)
    with pytest.raises(RuntimeError, match=r"cannot write dataset 'cifar10' to .*: No space left on device; free some"):
        store.prepare("cifar10", edition=TINY)
    assert not list(home.rglob(".writing-*"))
    assert len(read("train")) == TINY.train


def test_a_limit_of_a_files_size_names_its_remedy(empty):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(RuntimeError, match=r"'cifar10' to .*: File too large; raise .*\(ulimit -f\)$"):
            store.prepare("cifar10", edition=TINY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(empty.rglob(".writing-*"))


@pytest.mark.parametrize("kind", [RuntimeError, OSError])
def test_a_disk_that_fills_in_the_midst_of_writing_names_its_remedy(empty, kind):
    def fill(*_):
        raise kind("write() failed: No space left on device; writing a file; at byte 65536; Failed to close")

    with pytest.raises(RuntimeError, match=r"'mnist' to .*: No space left on device; free some space, or set SUITE_"):
        store.prepare("mnist", edition=TINY, progress=fill)


def test_an_unknown_home_folder_names_the_variable(monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "~nouser/x")
    with pytest.raises(RuntimeError, match=r"SUITE_DATA is '~nouser/x', .*; set SUITE_DATA to a folder you may write"):
        store.folder()


def test_an_unknown_split_is_answered_with_all_names(home):
    with pytest.raises(ValueError, match="no split 'validation'; there are: test, train"):
        read("validation")
