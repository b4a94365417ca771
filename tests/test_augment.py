"""Augmentation on the device: the pictures that the host makes, distributed alike, from a key that moves on."""

import itertools
from dataclasses import replace

import cv2
import factory
import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
import synthetic

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.data.batches import digest
from suite.data.prepare.crops import Crop
from suite.data.prepare.photographs import Photograph
from suite.data.prepare.pictures import Shifted
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.driver.validation import check
from suite.nn.augment import CropFlipLight, RotateShiftFlip, ShearZoomFlip, advanced, first_key
from suite.programs.jax.program import JaxProgram
from suite.results.single.validity import invalid
from suite.variants import require
from suite.worker.checks import audit

AUGMENTING = tuple(name for name in models.names() if models.load(name).augment is not None)
EXAMPLES = 24
TIE = 4 / 1024  # of a pixel: OpenCV counts places in 1024ths, twice rounded, and from a matrix that is rounded too
PHOTOGRAPH, SHIFTED, CROP = Photograph(side=64), Shifted(), Crop()
ON_DEVICE = {
    "photograph": ShearZoomFlip(shear=0.2, zoom=0.2),
    "shifted": RotateShiftFlip(degrees=15.0, pixels=6.0),
    "crop": CropFlipLight(side=24, brightness=63.0, contrast=(0.2, 1.8), whole=32),
}


class Given:
    """A generator whose numbers are given."""

    def __init__(self, *numbers):
        self.numbers = iter(numbers)

    def uniform(self, low, high, count=None):
        return next(self.numbers) if count is None else np.array([next(self.numbers) for _ in range(count)])

    def random(self):
        return next(self.numbers)

    def integers(self, _):
        return next(self.numbers)


def pictures(side, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (EXAMPLES, side, side, 3), np.uint8)


def drawn(kind, count=EXAMPLES, seed=0):
    return {name: np.asarray(values) for name, values in ON_DEVICE[kind].draw(jax.random.key(seed), count).items()}


def each(numbers):
    return [dict(zip(numbers, row, strict=True)) for row in zip(*numbers.values(), strict=True)]


def coin(mirrored):
    return 0.0 if mirrored else 0.9


def applied(kind, images, numbers):
    return np.asarray(ON_DEVICE[kind].apply(jnp.asarray(images, jnp.float32), jax.tree.map(jnp.asarray, numbers)))


def places(kind, one, side):
    """Return from which rows and columns a picture's pixels come, in float64, mirroring left out."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    if kind == "photograph":
        x = -x if one["mirrored"] else x
        rows = float(one["down"]) * y - np.sin(float(one["angle"])) * float(one["right"]) * x
        return rows + (side - 1) / 2, np.cos(float(one["angle"])) * float(one["right"]) * x + (side - 1) / 2
    sine, cosine = np.sin(np.deg2rad(float(one["angle"]))), np.cos(np.deg2rad(float(one["angle"])))
    y, x = y - float(one["down"]), x - float(one["right"])
    return sine * x + cosine * y + (side - 1) / 2, cosine * x - sine * y + (side - 1) / 2


def on_host(kind, image, one):
    if kind == "photograph":
        return PHOTOGRAPH._moved(image, Given(one["angle"], one["down"], one["right"], coin(one["mirrored"])))
    scaled = one["angle"] / SHIFTED.degrees, one["right"] / SHIFTED.pixels, one["down"] / SHIFTED.pixels
    return SHIFTED._moved(image, Given(*scaled, coin(one["mirrored"])))


@pytest.mark.parametrize(("kind", "side"), [("photograph", 64), ("shifted", 32)])
def test_with_the_same_numbers_the_device_takes_the_hosts_pixels_but_where_two_are_equally_near(kind, side):
    images, numbers = pictures(side), drawn(kind)
    found = applied(kind, images, numbers)
    differing = 0
    for image, one, here in zip(images, each(numbers), found, strict=True):
        other = np.any(on_host(kind, image, one) != here, axis=-1)
        tied = [np.abs(np.mod(place, 1) - 0.5) < TIE for place in places(kind, one, side)]
        assert not np.any(other & ~(tied[0] | tied[1]))
        differing += other.sum()
    assert differing < 0.02 * EXAMPLES * side * side


def test_with_the_same_numbers_the_device_makes_the_hosts_crops_to_a_hundred_thousandth():
    images, numbers = pictures(32), drawn("crop")
    found = applied("crop", images, numbers)
    for image, one, here in zip(images, each(numbers), found, strict=True):
        light = one["brightness"], one["contrast"]
        random = Given(int(one["top"]), int(one["left"]), coin(one["mirrored"]), *light)
        host = CROP.example({"image": image, "label": 0}, random)["images"]
        assert np.abs(host - here).max() < 1e-5


def test_a_flat_crop_stays_small():
    found = applied("crop", np.full((1, 32, 32, 3), 7), drawn("crop", 1))
    assert np.abs(found).max() < 1e-3


RANGES = {
    "photograph": {"angle": (-0.2, 0.2), "down": (0.8, 1.2), "right": (0.8, 1.2)},
    "shifted": {"angle": (-15, 15), "right": (-6, 6), "down": (-6, 6)},
    "crop": {"top": (-0.5, 8.5), "left": (-0.5, 8.5), "brightness": (-63, 63), "contrast": (0.2, 1.8)},
}


@pytest.mark.parametrize("kind", ON_DEVICE)
def test_numbers_are_spread_evenly_over_the_documented_ranges_each_on_its_own(kind):
    numbers = drawn(kind, 20_000)
    assert set(numbers) == {*RANGES[kind], "mirrored"}
    assert numbers["mirrored"].mean() == pytest.approx(0.5, abs=0.02)
    for name, (low, high) in RANGES[kind].items():
        found = numbers[name].astype(float)
        assert low <= found.min() < low + 0.06 * (high - low)
        assert high - 0.06 * (high - low) < found.max() <= high
        tenths, _ = np.histogram(found, bins=9, range=(low, high))
        assert np.abs(tenths / len(found) * 9 - 1).max() < 0.1, name
    for first, second in itertools.combinations(numbers, 2):
        assert abs(np.corrcoef(numbers[first], numbers[second])[0, 1]) < 0.03


def test_the_ranges_are_those_of_the_host():
    device = {name: models.load(name).augment for name in AUGMENTING}
    assert device["catdog_cnn_base"] == ON_DEVICE["photograph"]
    assert device["cifar10_resnet87"] == ON_DEVICE["shifted"]
    assert device["cifar10_tf_cnn"] == ON_DEVICE["crop"]


@pytest.mark.parametrize("kind", ON_DEVICE)
def test_the_same_key_gives_the_same_pictures_and_the_next_ones_differ(kind):
    batch = {"images": jnp.asarray(pictures(32 if kind != "photograph" else 64), jnp.float32), "labels": jnp.zeros(3)}
    data, seen = first_key(7), []
    for _ in range(3):
        data, key = advanced(jnp.asarray(data))
        first, again = (ON_DEVICE[kind](key, batch) for _ in range(2))
        assert np.array_equal(first["images"], again["images"])
        assert np.array_equal(first["labels"], batch["labels"])
        seen.append(np.asarray(first["images"]))
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[1], seen[2])


def test_keys_of_different_seeds_differ():
    assert len({tuple(first_key(seed).tolist()) for seed in (0, 1, 2**32, 2**32 + 1)}) == 4


@pytest.mark.parametrize("name", models.names())
def test_a_workload_says_that_it_augments_if_it_can(name):
    workload = models.load(name)
    assert workload.description.augmented == (workload.augment is not None)


@pytest.mark.parametrize("name", AUGMENTING)
def test_pictures_left_to_the_device_become_what_the_network_takes(name):
    workload = models.load(name)
    image = pictures(40 if workload.description.dataset == "cats_vs_dogs" else 32)[0]
    file = cv2.imencode(".png", image[..., ::-1])[1].tobytes()
    record = {"image": file, "label": 1}
    left = workload.preparation.undistorted().example(record)
    found = workload.augment(jax.random.key(0), {key: jnp.asarray(value)[None] for key, value in left.items()})
    wanted = workload.preparation.example(record, np.random.default_rng(0))
    assert {key: (value[0].shape, value.dtype) for key, value in found.items()} == {
        key: (value.shape, value.dtype) for key, value in wanted.items()
    }
    low, high = float(wanted["images"].min()), float(wanted["images"].max())
    assert low - 1 < float(found["images"].min()) < float(found["images"].max()) < high + 1


def program(name, batch=4, **axes):
    workload = models.load(name)
    case = Case(workload=name, backend="cpu", scope="epoch", batch=batch, **axes)
    return workload, JaxProgram(workload, case)


def batches(workload, side, count=4, batch=4, left=True):
    preparation = workload.preparation.undistorted() if left else workload.preparation
    return [
        synthetic.pictured(preparation, pictures(side, seed)[:batch], np.arange(batch) % 2) for seed in range(count)
    ]


@pytest.mark.parametrize(("name", "side"), [("catdog_cnn_base", 64), ("cifar10_tf_cnn", 32)])
@pytest.mark.parametrize("variant", ["plain", pytest.param("scan", marks=pytest.mark.slow)])
def test_no_check_of_the_audit_calls_a_step_that_augments_a_lie(name, side, variant):
    workload, target = program(name, augmentation="device", variant=variant)
    inputs = batches(workload, side)
    target.initialise(3)
    target.put(inputs)
    target.lower()
    target.compile()
    target.chain(target.steps_per_call)
    target.block()
    seen = audit(target, inputs, digest(inputs), 3, 0.0, True)
    _, without = program(name, variant=variant)
    without.initialise(3)
    without.put(batches(workload, side, left=False))
    without.lower()
    assert seen.program == without.jaxpr_cost()
    first = seen.replay.first
    host = msgspec.structs.replace(factory.PLAIN, cores=seen.cores)
    made = factory.record(name, "cpu", about=workload.description, batch=4, machine=host)
    run = msgspec.structs.replace(made.runs[0], audit=seen, first_loss=first)
    assert list(invalid(msgspec.structs.replace(made, runs=(run,)))) == []


def test_the_key_moves_on_with_every_step():
    workload, target = program("catdog_cnn_base", augmentation="device")
    target.initialise(3)
    target.put(batches(workload, 64))
    target.lower()
    target.compile()
    keys = [np.asarray(target._state[-1]).tolist()]
    for _ in range(3):
        target.chain(1)
        target.block()
        keys.append(np.asarray(target._state[-1]).tolist())
    assert len(set(map(tuple, keys))) == 4


def test_a_workload_that_augments_nothing_is_refused_in_one_line():
    about = [models.load(name).description for name in ("catdog_cnn_base", "catdog_cnn_noaug", "mnist_mlp")]
    asked = Request(scopes=("epoch",))
    check(replace(asked, augmentations=("host", "none")), about, ("cpu",))
    check(replace(asked, augmentations=("device",)), about[:1], ("cpu",))
    with pytest.raises(ValueError, match="these are not augmented: catdog_cnn_noaug, mnist_mlp; leave it or them"):
        check(replace(asked, augmentations=("host", "device")), about, ("cpu",))
    _, target = program("mnist_mlp", augmentation="device")
    with pytest.raises(ValueError, match="augmentation 'device' asked for, workload 'mnist_mlp' augments nothing"):
        target.initialise(0)


@pytest.mark.parametrize("axes", [{"variant": "nnx-jit"}, {"implementation": "torch"}, {"scope": "run"}])
def test_what_takes_its_steps_otherwise_says_that_it_cannot_augment(axes):
    case = Case(workload="catdog_cnn_base", backend="cpu", batch=4, augmentation="device", **{"scope": "epoch"} | axes)
    with pytest.raises(LookupError, match="steps of JAX support it: plain, scan"):
        require(case)


def test_the_three_places_of_augmentation_are_planned_and_pytorch_has_two():
    about = models.load("catdog_cnn_base").description
    here = MachineCapabilities(backends=("cpu",), cores=4)
    wanted = {"scopes": ("input",), "augmentations": ("host", "device", "none"), "implementations": ("jax", "torch")}
    found = {(case.implementation, case.augmentation) for case in default_cases(Request(**wanted), [about], here)}
    assert found == {("jax", "host"), ("jax", "device"), ("jax", "none"), ("torch", "host"), ("torch", "none")}
