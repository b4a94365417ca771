"""Published files that the user has: taken in any layout, refused if anything differs, and never touched."""

import errno
import gzip
import hashlib
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from test_published import FILES, ROWS, zipped

from suite import cli
from suite.data import datasets, download, store
from suite.data.datasets import higgs_1m
from suite.data.download import Archive, Content, fetched
from suite.data.prepare.pictures import decoded

NAMES = tuple(name for name in FILES if "ubyte" in name)
PLAIN = {name: gzip.decompress(FILES[name]) for name in NAMES}
ARRAYS = {
    "x_train": ("train-images-idx3-ubyte.gz", (12, 28, 28)),
    "y_train": ("train-labels-idx1-ubyte.gz", (12,)),
    "x_test": ("t10k-images-idx3-ubyte.gz", (5, 28, 28)),
    "y_test": ("t10k-labels-idx1-ubyte.gz", (5,)),
}


def content(held):
    return {"size": len(held), "sha256": hashlib.sha256(held).hexdigest()}


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Let the published files be the small ones of the tests, and nobody answer."""
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(higgs_1m, "ROWS", ROWS.count("\n"))
    real = datasets.archives

    def archives(name):
        return tuple(
            Archive(
                address="http://127.0.0.1:9/none",
                name=each.name,
                unpacked=Content(**content(PLAIN[each.name])) if each.name in PLAIN else None,
                **content(FILES[each.name]),
            )
            for each in real(name)
        )

    monkeypatch.setattr(datasets, "archives", archives)


@pytest.fixture
def own(tmp_path):
    """Return the user's folder, empty."""
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def fill(folder, files):
    for name, held in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(held)


def state(folder):
    """Return all that the user has there: kinds, bytes and times."""
    return {
        path: (path.is_symlink(), path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def records():
    found = {}
    for name in ("train", "test"):
        split = store.split("mnist", name, "tfds")
        taken = split.take(range(len(split)))
        found[name] = sorted((decoded(each["image"]).tobytes(), each["label"]) for each in taken)
    return found


def expected():
    found = {}
    for split, prefix in (("train", "train"), ("test", "t10k")):
        pictures, labels = PLAIN[f"{prefix}-images-idx3-ubyte.gz"][16:], PLAIN[f"{prefix}-labels-idx1-ubyte.gz"][8:]
        found[split] = sorted((pictures[784 * n : 784 * (n + 1)], label) for n, label in enumerate(labels))
    return found


def dotted(name):
    return name.removesuffix(".gz").replace("-idx", ".idx")


LAYOUTS = {
    "plain": {name: FILES[name] for name in NAMES},
    "torchvision": {f"MNIST/raw/{name.removesuffix('.gz')}": PLAIN[name] for name in NAMES},
    "torchvision with archives": {
        f"MNIST/raw/{file}": held
        for name in NAMES
        for file, held in ((name, FILES[name]), (name.removesuffix(".gz"), PLAIN[name]))
    },
    "Kaggle": {f"{dotted(name)}/{dotted(name)}": PLAIN[name] for name in NAMES},
    "TFDS": {f"downloads/cvdf-datasets_mnist_{name[:-3]}Xy0{n}.gz": FILES[name] for n, name in enumerate(NAMES)},
    "half packed": {name: FILES[name] if "train" in name else PLAIN[name] for name in NAMES},
    "packed anew": {f"{name[:-3]}.gz": gzip.compress(PLAIN[name], 1, mtime=1) for name in NAMES},
    "packed anew, other names": {f"{n}": gzip.compress(PLAIN[name], 1, mtime=1) for n, name in enumerate(NAMES)},
    "other names": {f"a/b/c/{n}": FILES[name] for n, name in enumerate(NAMES)},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_set_and_is_left_as_it_was(own, layout):
    fill(own, LAYOUTS[layout])
    before = state(own)
    store.prepare("mnist", "tfds", source=own)
    assert records() == expected()
    assert state(own) == before


def test_the_arrays_of_keras_give_the_same_set(own, tmp_path):
    (own / "mnist.npz").write_bytes(keras())
    before = state(own)
    store.prepare("mnist", "tfds", source=own / "mnist.npz")
    assert records() == expected()
    assert state(own) == before
    assert not list((tmp_path / "data").rglob("*ubyte"))


def keras():
    """Return the bytes of Keras' file, small; each array is deflated."""
    buffer = io.BytesIO()
    arrays = {
        key: np.frombuffer(PLAIN[name][-int(np.prod(shape)) :], np.uint8).reshape(shape)
        for key, (name, shape) in ARRAYS.items()
    }
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def changed(held, marks, offset, value):
    """Return the bytes with this one at an offset behind each mark."""
    held = bytearray(held)
    for mark in marks:
        for found in re.finditer(re.escape(mark), held):
            held[found.start() + offset] = value
    return bytes(held)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
DAMAGED = {
    "a part": lambda held: held[: len(held) // 2],
    "no archive": lambda held: b"PK no archive",
    "compressed bytes": lambda held: changed(held, [b"x_train.npy"], 40, 0xFF),
    "an unknown method": lambda held: changed(changed(held, [LOCAL], 8, 99), [CENTRAL], 10, 99),
    "encrypted": lambda held: changed(changed(held, [LOCAL], 6, 1), [CENTRAL], 8, 1),
    "sizes": lambda held: changed(held, [CENTRAL], 26, 0xFF),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_of_keras_is_named_in_one_line_to_be_downloaded_again(own, what):
    (own / "mnist.npz").write_bytes(DAMAGED[what](keras()))
    with pytest.raises(RuntimeError, match=r"own/mnist\.npz' is damaged, .*; download it again, or .*") as caught:
        store.prepare("mnist", "tfds", source=own)
    assert "\n" not in str(caught.value)


def test_other_arrays_are_refused(own):
    np.savez(own / "mnist.npz", x_train=np.zeros((12, 28, 28), np.uint8))
    with pytest.raises(RuntimeError, match=r"mnist\.npz' .*does not hold the published arrays") as caught:
        store.prepare("mnist", "tfds", source=own)
    assert all(name in str(caught.value) for name in NAMES)


def test_links_are_followed_and_nothing_is_written_through_them(own, tmp_path):
    fill(tmp_path / "elsewhere", LAYOUTS["plain"])
    (own / "pictures").symlink_to(tmp_path / "elsewhere")
    (own / "again").symlink_to(own)
    (own / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(own / "pipe")
    before = state(tmp_path / "elsewhere")
    store.prepare("mnist", "tfds", source=own)
    assert records() == expected()
    assert state(tmp_path / "elsewhere") == before


def flipped(held):
    return bytes((*held[:30], held[30] ^ 1, *held[31:]))


def of_six(held):
    """Return an IDX file's first six examples, with a head that says so."""
    return held[:4] + (6).to_bytes(4, "big") + held[8 : 16 + 6 * 784]


IMAGES = "train-images-idx3-ubyte.gz"
WRONG = {
    "a flipped byte": (IMAGES, flipped(FILES[IMAGES]), r"ubyte\.gz' is damaged, .*\(its sha256 is \w+…, not \w+…\)"),
    "a flipped byte in what it unpacks to": (IMAGES[:-3], flipped(PLAIN[IMAGES]), r"ubyte' is damaged, .*\(its sha"),
    "half a file": (IMAGES, FILES[IMAGES][:200], r"ubyte\.gz' is damaged, .*\(it has 200 bytes, not [\d,]+ or 9,424\)"),
    "a subset": (IMAGES[:-3], of_six(PLAIN[IMAGES]), r"ubyte' is damaged, .*\(it has 4,720 bytes, not"),
    "a subset packed anew": (IMAGES, gzip.compress(of_six(PLAIN[IMAGES])), r"gz' is damaged, or is not"),
    "a flipped byte packed anew": (IMAGES, gzip.compress(flipped(PLAIN[IMAGES])), r"gz' is damaged, or is not"),
    "a flipped byte under another name": ("seven", flipped(FILES[IMAGES]), r"own/seven' is damaged, .*\(its sha256 is"),
    "nothing": (IMAGES, None, rf"own' has no file with the content of {re.escape(IMAGES)} \([\d,]+ bytes, sha256 "),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_the_published_file_is_named_and_left_alone(own, what):
    name, held, words = WRONG[what]
    fill(own, {each: FILES[each] for each in NAMES if each != IMAGES})
    if held is not None:
        fill(own, {name: held})
    before = state(own)
    with pytest.raises(RuntimeError, match=words) as caught:
        store.prepare("mnist", "tfds", source=own)
    remedy = r"; download it (again )?from http://127\.0\.0\.1:9/none\. Your files were not changed\.$"
    assert re.search(remedy, str(caught.value))
    assert "\n" not in str(caught.value)
    assert state(own) == before
    assert not store.path("mnist", "tfds").exists()


@pytest.mark.parametrize("name", [name for name in datasets.published_names() if name != "mnist"])
def test_an_archive_that_has_no_known_content_must_be_the_archive(own, name):
    (archive,) = datasets.archives(name)
    fill(own, {archive.name: flipped(FILES[archive.name])})
    with pytest.raises(RuntimeError, match=rf"{re.escape(archive.name)}' is damaged, .*; download it again"):
        store.prepare(name, "tfds", source=own)
    assert not store.path(name, "tfds").exists()


@pytest.mark.parametrize("name", ["cifar10", "imdb_reviews", "higgs_1m"])
def test_archives_are_read_where_they_lie(own, name):
    (archive,) = datasets.archives(name)
    fill(own, {f"a name/{archive.name}": FILES[archive.name]})
    before = state(own)
    store.prepare(name, "tfds", source=own)
    assert len(store.split(name, "train", "tfds"))
    assert state(own) == before
    assert not (store.folder() / "downloads").exists()


def test_photographs_are_read_where_they_lie(own, monkeypatch):
    monkeypatch.setattr("suite.data.datasets.cats_vs_dogs.DAMAGED", 1)
    fill(own, {"PetImages.zip": FILES["kagglecatsanddogs_5340.zip"], "other.zip": zipped({"a": b"b"})})
    store.prepare("cats_vs_dogs", "tfds", source=own)
    assert len(store.split("cats_vs_dogs", "train", "tfds")) == 2


def test_a_full_disk_is_one_line_and_the_files_are_left(own, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fill(own, LAYOUTS["plain"])
    before = state(own)
    monkeypatch.setattr(store, "write", full)
    with pytest.raises(RuntimeError, match=r"cannot write dataset 'mnist' to .*No space left on device; free some"):
        store.prepare("mnist", "tfds", source=own)
    assert state(own) == before
    assert not any(store.place("mnist", "tfds").iterdir())


def test_a_file_that_cannot_be_read_is_named(own, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    fill(own, LAYOUTS["plain"])
    monkeypatch.setattr("suite.data.local_files.sha256_of", refused)
    with pytest.raises(RuntimeError, match=r"own/t10k-images-idx3-ubyte.gz' cannot be read: Permission denied"):
        store.prepare("mnist", "tfds", source=own)


@pytest.mark.parametrize("held", [b"the user's own", None])
def test_a_wrong_file_in_the_folder_of_downloads_may_be_the_users_and_stays(tmp_path, monkeypatch, held):
    monkeypatch.setattr(download, "_RESERVE_BYTES", 0)
    (wanted,) = datasets.archives("cifar10")
    path = tmp_path / wanted.name
    path.symlink_to(tmp_path / "its place")
    if held is not None:
        (tmp_path / "its place").write_bytes(held)
    before = state(tmp_path)
    with pytest.raises(RuntimeError, match=r"(was left there|cannot be read.*); move it away and run again"):
        fetched(wanted, tmp_path, print)
    assert state(tmp_path) == before


def asked(*words):
    return CliRunner().invoke(cli.main, ["data", *words])


def test_the_command_takes_a_folder_for_published_sets_alone(own):
    fill(own, LAYOUTS["plain"])
    answer = asked("prepare", "mnist", "--from", str(own))
    assert (answer.exit_code, "--from takes published files; add --data tfds" in answer.output) == (2, True)
    assert asked("prepare", "mnist", "--data", "tfds", "--from", str(own / "none")).exit_code == 2
    answer = asked("prepare", "mnist", "--data", "tfds", "--from", str(own))
    assert answer.exit_code == 0, answer.output
    assert records() == expected()


def test_all_missing_files_are_named_each_with_its_address(own):
    fill(own, {NAMES[0]: FILES[NAMES[0]]})
    with pytest.raises(RuntimeError) as caught:
        store.prepare("mnist", "tfds", source=own)
    said = str(caught.value)
    assert [f"content of {name} (" in said for name in NAMES] == [False, True, True, True]
    assert said.count("; download it from http://127.0.0.1:9/none") == 3


@pytest.mark.parametrize("name", ["mnist.tgz", "mnist.tar", "mnist.zip"])
def test_a_package_is_to_be_unpacked(own, name):
    fill(own, {name: b"four files"})
    with pytest.raises(RuntimeError, match=rf"own/{name}' was not looked into; if it holds what is missing, unpack it"):
        store.prepare("mnist", "tfds", source=own / name)


def test_a_file_of_others_that_cannot_be_read_does_not_matter(own, monkeypatch):
    fill(own, LAYOUTS["packed anew"] | {"a private file": gzip.compress(b"mine")})
    may, opened = os.access, Path.open
    monkeypatch.setattr(os, "access", lambda path, mode: "private" not in str(path) and may(path, mode))

    def refuse(path, *args, **more):
        if "private" in path.name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *args, **more)

    monkeypatch.setattr(Path, "open", refuse)
    store.prepare("mnist", "tfds", source=own)
    assert records() == expected()


def test_a_folder_that_is_not_read_is_noted(own):
    fill(own, LAYOUTS["plain"])
    command = ("prepare", "mnist", "--data", "tfds", "--from", str(own))
    assert "already prepared" not in asked(*command).output
    assert f"note: 'mnist' is already prepared; '{own}' was not read" in asked(*command).output


def test_without_a_network_the_folder_is_named():
    with pytest.raises(RuntimeError, match=r"suite data prepare NAME --data tfds --from FOLDER"):
        store.prepare("cifar10", "tfds")


def test_the_list_says_how_to_bring_each_set():
    listed = asked("list").output
    assert "put all its files into a folder and run: suite data prepare NAME --data tfds --from FOLDER" in listed
    assert "mnist needs all 4 files at once" in listed
    for name in datasets.published_names():
        assert all(f"{name}: {archive.name}" in listed for archive in datasets.archives(name))
