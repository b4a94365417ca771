"""The embedded sets: the published form on disk, the same bytes for a seed, and something to learn."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from suite.data import embedded, store
from suite.data.drawn import pictures
from suite.data.edition import Edition

SMALL = Edition(train=320, test=64)
LEARNABLE = Edition(train=1280, test=640)
# sha256 over labels and pixels; when a drawing changes, change these and raise DRAWING in edition.py.
PIXELS = {
    "cifar10": "41104f546d46691c0070fd1a0d78eec8aba59f0c586a09593702d7929a14ad75",
    "mnist": "ce28aae287e2d72d5327784ca7ce8c40a56636c925922c381902156052a5df51",
}
# Shares of unseen pictures that a single layer gets right at least; guessing gets 0.1.
LEAST = {"cifar10": 0.60, "mnist": 0.90}


@pytest.fixture(scope="module", params=embedded.names())
def name(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(tmp_path_factory.mktemp("data")))
        yield


def fingerprint(dataset, edition):
    images, labels = store.read(dataset, "train", edition=edition)
    return hashlib.sha256(labels.astype("<i8").tobytes() + images.tobytes()).hexdigest()


def test_features_are_those_of_the_stock_builder(name, tmp_path):
    import tensorflow_datasets as tfds

    stock = tfds.builder(name, data_dir=tmp_path)
    ours = tfds.builder(name, data_dir=store.prepare(name, edition=SMALL))
    assert repr(ours.info.features) == repr(stock.info.features)
    assert ours.version == stock.version
    assert ours.info.file_format == tfds.core.FileFormat.ARRAY_RECORD


def test_class_names_are_the_published_ones():
    import tensorflow_datasets as tfds

    labels = tfds.builder("cifar10", data_dir=store.prepare("cifar10", edition=SMALL)).info.features["label"]
    assert labels.names == ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def test_plain_tfds_reads_what_was_written(name):
    import tensorflow_datasets as tfds

    home = store.prepare(name, edition=SMALL)
    source = tfds.data_source(name, split="test", data_dir=home, download=False)
    images, labels = store.read(name, "test", edition=SMALL)
    assert len(source) == SMALL.test
    assert np.array_equal(images, [example["image"] for example in source])
    assert np.array_equal(labels, [example["label"] for example in source])


def test_pixels_are_the_same_everywhere(name):
    store.prepare(name, edition=SMALL)
    assert fingerprint(name, SMALL) == PIXELS[name]


def test_pictures_do_not_depend_on_the_number_of_threads(name):
    draw = embedded.load(name).draw
    one, four = (list(pictures.pictures(draw, 10, "train", 700, 0, threads)) for threads in (1, 4))
    assert one == four


def test_another_seed_gives_other_pictures(name):
    def images(seed):
        return {example["image"] for example in embedded.load(name).examples("train", 64, seed)}

    assert not images(0) & images(1)


def test_splits_share_no_picture(name):
    store.prepare(name, edition=SMALL)
    train, test = ({i.tobytes() for i in store.read(name, split, edition=SMALL)[0]} for split in ("train", "test"))
    assert len(train) == SMALL.train
    assert len(test) == SMALL.test
    assert not train & test


def test_a_single_layer_learns_well_above_chance(name):
    store.prepare(name, edition=LEARNABLE)
    share = accuracy(*(store.read(name, split, edition=LEARNABLE) for split in ("train", "test")))
    assert share > LEAST[name], f"{share:.3f}"


def accuracy(train, test, steps=300, batch=128):
    """Return the share of the test set that softmax regression, trained by Adam, gets right."""
    random = np.random.default_rng(0)
    inputs = [features(images) for images, _ in (train, test)]
    weights = np.zeros((inputs[0].shape[1], 10), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        rows = random.integers(len(inputs[0]), size=batch)
        scores = np.exp(inputs[0][rows] @ weights)
        error = scores / scores.sum(1, keepdims=True) - np.eye(10, dtype=np.float32)[train[1][rows]]
        slope = inputs[0][rows].T @ error / batch
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= 0.003 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-6)
    return np.mean((inputs[1] @ weights).argmax(1) == test[1])


def features(images):
    flat = images.reshape(len(images), -1).astype(np.float32) / 255
    return np.c_[flat - flat.mean(1, keepdims=True), np.ones(len(flat), np.float32)]


def test_importing_the_data_package_imports_neither_jax_nor_tfds_nor_grain():
    code = (
        "import sys, suite.data.batches, suite.data.embedded.cifar10, suite.data.embedded.mnist;"
        "print({'jax', 'tensorflow', 'tensorflow_datasets', 'grain'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
