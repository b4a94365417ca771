"""The published data sets, read by the project from small archives in the original layout, served on loopback."""

import gzip
import hashlib
import http.server
import io
import re
import tarfile
import threading
import zipfile

import cv2
import numpy as np
import pytest

from suite.data import datasets, download, store
from suite.data.datasets import cats_vs_dogs, higgs_1m
from suite.data.download import Archive, fetched
from suite.data.prepare.pictures import decoded

RANDOM = np.random.default_rng(0)


def idx(array, magic):
    head = b"".join(int(n).to_bytes(4, "big") for n in (magic, *array.shape))
    return gzip.compress(head + array.tobytes())


def packed(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def jpeg(side):
    ramp = np.linspace(0, 255, side, dtype=np.uint8)
    return cv2.imencode(".jpg", np.dstack([np.tile(ramp, (side, 1))] * 3))[1].tobytes()


DIGITS = {
    "train": RANDOM.integers(0, 256, (12, 28, 28), np.uint8),
    "t10k": RANDOM.integers(0, 256, (5, 28, 28), np.uint8),
}
OBJECTS = RANDOM.integers(0, 256, (6, 3073), np.uint8)
OBJECTS[:, 0] = np.arange(6)
BINARIES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
REVIEWS = {
    "aclImdb/README": b"read me",
    "aclImdb/train/neg/0_1.txt": b" A bad film. ",
    "aclImdb/train/pos/0_9.txt": "Un très bon film.".encode(),
    "aclImdb/train/unsup/0_0.txt": b"A film.",
    "aclImdb/test/neg/0_2.txt": b"Boring.",
    "aclImdb/test/pos/0_8.txt": b"Fun.",
}
ROWS = "".join(",".join(f"{float(value):.18e}" for value in (row % 2, *range(28))) + "\n" for row in range(9))
FILES = {
    "train-images-idx3-ubyte.gz": idx(DIGITS["train"], 2051),
    "train-labels-idx1-ubyte.gz": idx(np.arange(12, dtype=np.uint8) % 10, 2049),
    "t10k-images-idx3-ubyte.gz": idx(DIGITS["t10k"], 2051),
    "t10k-labels-idx1-ubyte.gz": idx(np.arange(5, dtype=np.uint8), 2049),
    "cifar-10-binary.tar.gz": packed({f"cifar-10-batches-bin/{name}.bin": OBJECTS.tobytes() for name in BINARIES}),
    "aclImdb_v1.tar.gz": packed(REVIEWS),
    "kagglecatsanddogs_5340.zip": zipped(
        {
            "PetImages/Cat/0.jpg": jpeg(90),
            "PetImages/Cat/666.jpg": b"\x89PNG no photograph",
            "PetImages/Dog/0.jpg": jpeg(120),
            "PetImages/Dog/Thumbs.db": b"",
            "readme[1].txt": b"",
        }
    ),
    "HIGGS.csv.gz": gzip.compress(ROWS.encode()),
}  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves FILES; `asked` notes what for, `cut` ends an answer early, as a lost connection does."""

    protocol_version = "HTTP/1.0"
    asked: list[tuple[str, str | None]]
    cut: int | None = None

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        self.asked.append((name, self.headers["Range"]))
        if name not in FILES:
            self.send_error(404)
            return
        begin = int(found[1]) if (found := re.match(r"bytes=(\d+)-", self.headers["Range"] or "")) else 0
        content = FILES[name][begin:]
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: type(self).cut])

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serve the archives in the publishers' place; return the handler."""
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(download, "_RESERVE_BYTES", 0)
    mine = type("Mine", (Handler,), {"asked": [], "cut": None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), mine) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        mine.address = f"http://127.0.0.1:{served.server_port}"
        real = datasets.archives

        def archives(name):
            return tuple(archive(mine, there.name) for there in real(name))

        monkeypatch.setattr(datasets, "archives", archives)
        monkeypatch.setattr(cats_vs_dogs, "DAMAGED", 1)
        monkeypatch.setattr(higgs_1m, "ADDRESS", f"{mine.address}/HIGGS.csv.gz")
        monkeypatch.setattr(higgs_1m, "ROWS", 9)
        yield mine
        served.shutdown()


def archive(server, name):
    content = FILES[name]
    return Archive(
        address=f"{server.address}/{name}", name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )


def records(name, split):
    store.prepare(name, "tfds")
    there = store.split(name, split, "tfds")
    return there.take(range(len(there)))


def stock(name):
    """Read it as everybody does, with TFDS alone."""
    import tensorflow_datasets as tfds

    return tfds.data_source(name, data_dir=store.place(name, "tfds"), download=False)


def test_mnist_keeps_every_pixel_and_label(server):
    found = sorted(records("mnist", "train"), key=lambda r: decoded(r["image"]).tobytes())
    there = sorted(range(12), key=lambda i: DIGITS["train"][i].tobytes())
    assert [decoded(r["image"])[..., 0].tobytes() for r in found] == [DIGITS["train"][i].tobytes() for i in there]
    assert [r["label"] for r in found] == [i % 10 for i in there]
    assert {split: len(source) for split, source in stock("mnist").items()} == {"train": 12, "test": 5}


def test_cifar10_keeps_every_pixel_and_its_labels_have_names(server):
    pixels = {bytes(decoded(r["image"]).transpose(2, 0, 1).tobytes()) for r in records("cifar10", "test")}
    assert pixels == {row[1:].tobytes() for row in OBJECTS}
    assert len(records("cifar10", "train")) == 30
    assert sorted(example["label"] for example in stock("cifar10")["test"]) == [0, 1, 2, 3, 4, 5]


def test_imdb_reviews_have_three_splits_and_their_sentiment(server):
    assert {(r["text"], r["label"]) for r in records("imdb_reviews", "train")} == {
        (b"A bad film.", 0), ("Un très bon film.".encode(), 1),
    }  # fmt: skip
    assert {(r["text"], r["label"]) for r in records("imdb_reviews", "test")} == {(b"Boring.", 0), (b"Fun.", 1)}
    assert [r["label"] for r in records("imdb_reviews", "unsupervised")] == [-1]


def test_cats_vs_dogs_leaves_damaged_pictures_out(server):
    found = {(r["image/filename"], r["label"]): decoded(r["image"]).shape for r in records("cats_vs_dogs", "train")}
    assert found == {
        (b"PetImages/Cat/0.jpg", 0): (90, 90, 3),
        (b"PetImages/Dog/0.jpg", 1): (120, 120, 3),
    }
    assert len(stock("cats_vs_dogs")["train"]) == 2


def test_another_number_of_damaged_pictures_is_another_archive(server, monkeypatch):
    monkeypatch.setattr(cats_vs_dogs, "DAMAGED", 2)
    with pytest.raises(RuntimeError, match=r"has 1 pictures without a JFIF head, known are 2.*remove it"):
        store.prepare("cats_vs_dogs", "tfds")
    assert not store.path("cats_vs_dogs", "tfds").exists()


def test_the_first_rows_of_higgs_are_read_as_they_come(server):
    found = records("higgs_1m", "train")
    assert sorted(r["class_label"] for r in found) == [0.0] * 5 + [1.0] * 4
    assert found[0]["m_wwbb"] == 27.0


def test_a_file_of_fewer_rows_is_refused(server, monkeypatch):
    monkeypatch.setattr(higgs_1m, "ROWS", 10)
    with pytest.raises(RuntimeError, match="ended after 9 rows of 10"):
        store.prepare("higgs_1m", "tfds")
    assert not store.path("higgs_1m", "tfds").exists()


@pytest.mark.parametrize("name", datasets.published_names())
def test_preparing_again_asks_nobody(server, name):
    store.prepare(name, "tfds")
    asked = len(server.asked)
    store.prepare(name, "tfds")
    assert asked
    assert len(server.asked) == asked


def test_features_and_version_are_those_of_the_stock_builder(server):
    import tensorflow_datasets as tfds

    store.prepare("mnist", "tfds")
    ours, theirs = tfds.builder_from_directory(store.path("mnist", "tfds")), tfds.builder_cls("mnist")
    assert repr(ours.info.features) == repr(theirs(data_dir="/nowhere").info.features)
    assert str(ours.version) == str(theirs.VERSION)


def test_addresses_sizes_and_checksums_are_those_that_tfds_knows():
    (cats,) = datasets.archives("cats_vs_dogs")
    assert (cats.size, cats.sha256[:8]) == (824_887_076, "b7974bd0")
    assert {archive.name for archive in datasets.archives("mnist")} == {name for name in FILES if "ubyte" in name}


def test_a_flipped_byte_is_refused_and_removed(server, monkeypatch, tmp_path):
    name = "train-labels-idx1-ubyte.gz"
    wanted, content = archive(server, name), bytearray(FILES[name])
    content[20] ^= 1
    monkeypatch.setitem(FILES, name, bytes(content))
    with pytest.raises(
        RuntimeError, match=r"gave a file with sha256 \w+…, published is \w+…; it was removed; run again"
    ):
        fetched(wanted, tmp_path, print)
    assert not list(tmp_path.glob("train*"))


def test_a_lost_connection_is_gone_on_with(server, monkeypatch, tmp_path):
    name = "large.gz"
    monkeypatch.setitem(FILES, name, RANDOM.bytes(300_000))
    wanted, server.cut = archive(server, name), 200_000
    with pytest.raises(RuntimeError, match="run again"):
        fetched(wanted, tmp_path, lambda *_: None)
    assert not (tmp_path / name).exists()
    server.cut = None
    assert fetched(wanted, tmp_path, lambda *_: None).read_bytes() == FILES[name]
    assert server.asked == [(name, None), (name, "bytes=196608-")]


def test_the_size_is_announced_and_progress_told(server, tmp_path):
    name, told = "cifar-10-binary.tar.gz", []
    fetched(archive(server, name), tmp_path, lambda *what: told.append(what))
    assert told[0] == (f"downloading {name}, {len(FILES[name]) / 1000:.1f} kB", 0, len(FILES[name]))
    assert told[-1][1:] == (len(FILES[name]), len(FILES[name]))


def test_nobody_answering_is_said_at_once_with_what_to_do(tmp_path):
    nobody = Archive(address="http://127.0.0.1:9/x.gz", name="x.gz", size=10, sha256="0")
    with pytest.raises(RuntimeError, match=r"cannot be reached.*connect to the network and run again.*--data embedded"):
        fetched(nobody, tmp_path, print)
    assert not list(tmp_path.iterdir())


def test_a_refusal_is_named(server, tmp_path):
    gone = Archive(address=f"{server.address}/gone.gz", name="gone.gz", size=10, sha256="0")
    with pytest.raises(RuntimeError, match="was refused: 404 Not Found"):
        fetched(gone, tmp_path, print)


def test_a_disk_that_is_too_small_is_said_before_the_download(server, monkeypatch, tmp_path):
    monkeypatch.setattr(download, "_RESERVE_BYTES", 2**62)
    with pytest.raises(RuntimeError, match=r"are free at .*; free some, or set SUITE_DATA"):
        fetched(archive(server, "aclImdb_v1.tar.gz"), tmp_path, print)
    assert server.asked == []


def test_a_picture_that_cannot_be_read_is_named(server, monkeypatch):
    broken = zipped({"PetImages/Cat/7.jpg": b"\xff\xd8\xff\xe0..JFIF no more"})
    monkeypatch.setitem(FILES, "kagglecatsanddogs_5340.zip", broken)
    with pytest.raises(RuntimeError, match=r"'PetImages/Cat/7\.jpg' cannot be read"):
        store.prepare("cats_vs_dogs", "tfds")
    assert not store.path("cats_vs_dogs", "tfds").exists()
