"""The embedded sets: the published form on disk, the same bytes for a seed, something to learn, and sets of a step."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from suite.data import datasets, store, streams
from suite.data.batches import batches, digest
from suite.data.builder import stock_class
from suite.data.datasets.imdb_reviews import PRAISE
from suite.data.edition import Edition
from suite.data.prepare.pictures import Pixels, decoded

SMALL = Edition(train=320, test=64)
LEARNABLE = Edition(train=1280, test=640)
# sha256 over labels and pixels; when a drawing changes, change these and raise DRAWING in edition.py.
PIXELS = {
    "cifar10": "41104f546d46691c0070fd1a0d78eec8aba59f0c586a09593702d7929a14ad75",
    "mnist": "ce28aae287e2d72d5327784ca7ce8c40a56636c925922c381902156052a5df51",
}
# The same over all there is in the first 40 records.
RECORDS = {
    "cats_vs_dogs": "ff012038c23d77b6",
    "cifar10": "b545f8ab6debb6d2",
    "higgs_1m": "b726c787613c5a51",
    "imdb_reviews": "a6828eac7b3e52a3",
    "mnist": "d8ce8aa99b47be7b",
    "mortgage": "ff2d1604cc3c9ddd",
}
# Shares of unseen pictures that a single layer gets right at least; guessing gets 0.1.
LEAST = {"cifar10": 0.60, "mnist": 0.90}


PICTURES = ("cifar10", "mnist")


@pytest.fixture(scope="module", params=datasets.names())
def any_name(request):
    return request.param


@pytest.fixture(scope="module", params=PICTURES)
def name(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(tmp_path_factory.mktemp("data")))
        yield


def read(dataset, split, edition):
    """Return pictures uint8[N,H,W,C] and labels int64[N]."""
    there = store.split(dataset, split, edition=edition)
    records = there.take(range(len(there)))
    return np.stack([decoded(r["image"]) for r in records]), np.array([r["label"] for r in records])


def fingerprint(dataset, edition):
    images, labels = read(dataset, "train", edition)
    return hashlib.sha256(labels.astype("<i8").tobytes() + images.tobytes()).hexdigest()


def tiny(dataset):
    return Edition(train=64, test=32 if datasets.edition(dataset, "small").test else 0)


def test_features_are_those_of_the_stock_builder(any_name, tmp_path):
    import tensorflow_datasets as tfds

    if any_name not in datasets.published_names():
        pytest.skip("nobody publishes it in TFDS")
    stock = stock_class(datasets.published(any_name).STOCK)(data_dir=tmp_path)
    store.prepare(any_name, edition=tiny(any_name))
    ours = tfds.builder_from_directory(store.path(any_name, edition=tiny(any_name)))
    assert repr(ours.info.features) == repr(stock.info.features)
    assert ours.version == stock.version
    assert ours.info.file_format == tfds.core.FileFormat.ARRAY_RECORD


def test_a_set_of_one_split_has_one(any_name):
    import tensorflow_datasets as tfds

    edition = tiny(any_name)
    store.prepare(any_name, edition=edition)
    counts = {"train": edition.train} | ({"test": edition.test} if edition.test else {})
    splits = tfds.builder_from_directory(store.path(any_name, edition=edition)).info.splits
    assert {split: info.num_examples for split, info in splits.items()} == counts


def test_class_names_are_the_published_ones():
    store.prepare("cifar10", edition=SMALL)
    import tensorflow_datasets as tfds

    labels = tfds.builder_from_directory(store.path("cifar10", edition=SMALL)).info.features["label"]
    assert labels.names == ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def test_plain_tfds_reads_what_was_written(name):
    import tensorflow_datasets as tfds

    home = store.prepare(name, edition=SMALL)
    source = tfds.data_source(name, split="test", data_dir=home, download=False)
    images, labels = read(name, "test", SMALL)
    assert len(source) == SMALL.test
    assert np.array_equal(images, [example["image"] for example in source])
    assert np.array_equal(labels, [example["label"] for example in source])


def test_pixels_are_the_same_everywhere(name):
    store.prepare(name, edition=SMALL)
    assert fingerprint(name, SMALL) == PIXELS[name]


def test_records_are_the_same_everywhere(any_name):
    records = list(datasets.load(any_name).examples("train", 40, 0))
    said = [
        (key, bytes(value) if isinstance(value, np.ndarray) else value) for r in records for key, value in r.items()
    ]
    assert hashlib.sha256(repr(said).encode()).hexdigest()[:16] == RECORDS[any_name]


def test_pictures_do_not_depend_on_the_number_of_threads(name):
    draw = datasets.load(name).draw
    one, four = (list(streams.pictures(draw, 10, "train", 700, 0, threads)) for threads in (1, 4))
    assert one == four


def test_more_records_begin_with_the_same(any_name):
    recipe = datasets.load(any_name)
    few, more = (list(recipe.examples("train", count, 0)) for count in (20, 50))
    assert repr(few) == repr(more[:20])


def test_another_seed_gives_other_records(any_name):
    def records(seed):
        return [repr(record) for record in datasets.load(any_name).examples("train", 64, seed)]

    assert not set(records(0)) & set(records(1))


def test_splits_share_no_picture(name):
    store.prepare(name, edition=SMALL)
    train, test = ({i.tobytes() for i in read(name, split, SMALL)[0]} for split in ("train", "test"))
    assert len(train) == SMALL.train
    assert len(test) == SMALL.test
    assert not train & test


def test_a_single_layer_learns_well_above_chance(name):
    store.prepare(name, edition=LEARNABLE)
    share = accuracy(*(read(name, split, LEARNABLE) for split in ("train", "test")))
    assert share > LEAST[name], f"{share:.3f}"


def test_photographs_vary_in_size_and_weigh_what_photographs_do():
    files = [record["image"] for record in datasets.load("cats_vs_dogs").examples("train", 64, 0)]
    shapes = {decoded(file).shape for file in files}
    assert len(shapes) > 60
    assert all(280 <= height <= 440 and 300 <= width <= 500 for height, width, _ in shapes)
    assert 25_000 < np.mean([len(file) for file in files]) < 50_000  # the published ones: 33 KB


def test_reviews_are_as_long_as_published_ones_and_tell_what_they_think():
    records = list(datasets.load("imdb_reviews").examples("train", 400, 0))
    lengths = [len(record["text"].split()) for record in records]
    assert 150 < np.median(lengths) < 200
    praise = [sum(word in record["text"] for word in PRAISE) for record in records]
    good, bad = ([p for p, record in zip(praise, records, strict=True) if record["label"] == label] for label in (1, 0))
    assert np.mean(good) > 1.3 * np.mean(bad)
    assert min(good) < max(bad)


@pytest.mark.parametrize(("dataset", "share"), [("mortgage", 0.12), ("higgs_1m", 0.53)])
def test_labels_of_tables_are_as_frequent_as_they_should_be(dataset, share):
    records = datasets.load(dataset).examples("train", 8192, 0)
    labels = [record.get("label", record.get("class_label")) for record in records]
    assert np.mean(labels) == pytest.approx(share, abs=0.02)


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
        "import sys, suite.data.batches, suite.data.datasets.cifar10, suite.data.datasets.mnist;"
        "print({'jax', 'tensorflow', 'tensorflow_datasets', 'grain'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


TINY = Edition(train=40, test=20)


def sets(batch=8, count=4, seed=0):
    return batches("mnist", Pixels(), batch, count, seed, edition=TINY)


def test_there_are_as_many_sets_of_as_many_examples_as_asked_for():
    assert [(b["images"].shape, b["labels"].shape) for b in sets()] == [((8, 28, 28, 1), (8, 10))] * 4


def test_arrays_are_contiguous():
    assert all(array.flags.c_contiguous for batch in sets() for array in batch.values())


def test_the_same_seed_draws_the_same_and_another_draws_other():
    assert digest(sets()) == digest(sets())
    assert digest(sets()) != digest(sets(seed=1))


def test_no_example_comes_twice_while_there_are_enough():
    assert len({image.tobytes() for batch in sets(10, 4) for image in batch["images"]}) == TINY.train


def test_a_small_set_is_drawn_with_replacement():
    assert sum(len(batch["labels"]) for batch in sets(64, 2)) == 128


def test_the_digest_sees_names_types_shapes_and_bytes():
    array = np.arange(4, dtype=np.int32)
    variants = ({"a": array}, {"b": array}, {"a": array.view(np.uint32)}, {"a": array.reshape(2, 2)}, {"a": array + 1})
    assert len({digest([batch]) for batch in variants}) == len(variants)


def test_the_digest_sees_the_order_of_sets_but_not_of_names():
    a, b = np.zeros(2), np.ones(2)
    assert digest([{"x": a, "y": b}]) == digest([{"y": b, "x": a}])
    assert digest([{"x": a}, {"x": b}]) != digest([{"x": b}, {"x": a}])
