"""Write what keras.applications computes with seeded weights, to the references of the networks that serve.

`python -m parity.keras_applications [--check] [NAME...]`, with the tests on Python's path. Needs Keras on TensorFlow,
and of the suite nothing: weights come from NumPy by the paths and shapes of the leaves of the networks in JAX, so that
only numbers of a few bytes are stored. With --check nothing is written, and what is stored is compared.
"""

import argparse
import hashlib
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import reference

BOUND = 1e-10  # of the difference's norm, relative
PROJECTIONS = 4
NORMS = {"gamma": "scale", "beta": "bias", "moving_mean": "mean", "moving_variance": "var"}  # of Keras to those of JAX

Rename = Callable[[str], list[str]]  # a layer of Keras to the layers of JAX that share its channels out


def weight(path: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the float32 values of the leaf at a path; no two are alike, because zeros and ones would hide a swap."""
    rng = np.random.default_rng(zlib.crc32(path.encode()))
    name = path.rpartition("/")[2]
    if name == "kernel":
        limit = math.sqrt(3 / math.prod(shape[:-1]))  # the last axis is that of the outputs: the variance is kept
        return rng.uniform(-limit, limit, shape).astype(np.float32)
    low, high = (0.7, 1.3) if name in {"scale", "var"} else (-0.2, 0.2)
    return rng.uniform(low, high, shape).astype(np.float32)


def pictures(side: int) -> np.ndarray:
    """Return two pictures float32[2,side,side,3]."""
    return np.random.default_rng(0).uniform(-1, 1, (2, side, side, 3)).astype(np.float32)


def leaves_digest(shapes: dict[str, tuple[int, ...]]) -> str:
    """Return the sha256 of all paths with their shapes."""
    return hashlib.sha256(repr(sorted((path, tuple(shape)) for path, shape in shapes.items())).encode()).hexdigest()


def fingerprint(logits: np.ndarray) -> dict[str, Any]:
    """Return an array's norm and its products with a few random arrays of unit variance.

    The root mean square of the differences of the products estimates the norm of the arrays' difference.
    """
    flat, rng = np.asarray(logits, np.float64).ravel(), np.random.default_rng(0)
    products = [float(flat @ (math.sqrt(3) * (2 * rng.random(flat.size) - 1))) for _ in range(PROJECTIONS)]
    return {"norm": float(np.linalg.norm(flat)), "projections": products}


def error(mine: dict[str, Any], reference: dict[str, Any]) -> float:
    """Return the estimated norm of the difference of two arrays over that of the second."""
    differences = np.subtract(mine["projections"], reference["projections"])
    return max(abs(mine["norm"] - reference["norm"]), math.sqrt(np.mean(differences**2))) / reference["norm"]


def resnet(blocks: tuple[int, ...]) -> Rename:
    """Return the names of a ResNet's layers."""
    starts = {stage + 2: sum(blocks[:stage]) for stage in range(len(blocks))}
    units = {"0": "shortcut", "1": "reduce", "2": "middle", "3": "expand"}

    def rename(layer: str) -> list[str]:
        if layer == "predictions":
            return ["output"]
        *place, kind = layer.split("_")
        kind = {"conv": "conv", "bn": "norm"}[kind]
        if place == ["conv1"]:
            return [f"stem/{kind}"]
        stage, block, unit = place  # conv3 block2 1
        return [f"blocks/{starts[int(stage[4:])] + int(block[5:]) - 1}/{units[unit]}/{kind}"]

    return rename


def mobilenet_v2(layer: str) -> list[str]:
    """Return the name of a layer of MobileNetV2."""
    fixed = {
        "Conv1": "stem/conv",
        "bn_Conv1": "stem/norm",
        "Conv_1": "last/conv",
        "Conv_1_bn": "last/norm",
        "predictions": "output",
    }
    if layer in fixed:
        return [fixed[layer]]
    layer = layer.replace("expanded_conv_", "block_0_")
    _, block, unit, *norm = layer.split("_")
    return [f"blocks/{block}/{unit}/{'norm' if norm else 'conv'}"]


def nasnet(cells: int) -> Rename:
    """Return the names of a NASNet's layers; one norm of Keras over two halves is two here."""
    order = ["stem_1", "stem_2", *map(str, range(cells)), f"reduce_{cells}"]
    order += [*map(str, range(cells + 1, 2 * cells + 1)), f"reduce_{2 * cells}"]
    order += map(str, range(2 * cells + 1, 3 * cells + 1))
    halved = {"stem_2", "0", str(cells + 1), str(2 * cells + 1)}

    def rename(layer: str) -> list[str]:
        fixed = {"stem_conv1": "stem/conv", "stem_bn1": "stem/norm", "predictions": "output"}
        if layer in fixed:
            return [fixed[layer]]
        end = max((cell for cell in order if layer.endswith(f"_{cell}")), key=len)
        cell, layer = f"cells/{order.index(end)}", layer.removesuffix(f"_{end}")
        if layer.startswith("separable_conv_"):
            number, *norm, kind, unit = layer.removeprefix("separable_conv_").split("_")
            unit = "left5" if (kind, unit) == ("reduction", "left4") else unit  # Keras' name for it
            return [f"{cell}/{unit}/pointwise{number}/norm"] if norm else [f"{cell}/{unit}/{number}"]
        parts = ("even", "odd") if end in halved else ("project",)
        return {
            "adjust_conv_1": [f"{cell}/adjust/even/conv"],
            "adjust_conv_2": [f"{cell}/adjust/odd/conv"],
            "adjust_conv_projection": [f"{cell}/adjust/project/conv"],
            "adjust_bn": [f"{cell}/adjust/{part}/norm" for part in parts],
            "normal_conv_1": [f"{cell}/reduce/conv"],
            "normal_bn_1": [f"{cell}/reduce/norm"],
            "reduction_conv_1": [f"{cell}/reduce/conv"],
            "reduction_bn_1": [f"{cell}/reduce/norm"],
        }[layer]

    return rename


class Application(NamedTuple):
    """A network of keras.applications by its name there, what its layers are called in JAX, and its pictures' side."""

    keras: str
    rename: Rename
    side: int = 224


APPLICATIONS = {
    "serve_mobilenet_v2": Application("MobileNetV2", mobilenet_v2),
    "serve_nasnet_mobile": Application("NASNetMobile", nasnet(4)),
    "serve_resnet50": Application("ResNet50", resnet((3, 4, 6, 3))),
    "serve_resnet152": Application("ResNet152", resnet((3, 8, 36, 3))),
    "serve_nasnet_large": Application("NASNetLarge", nasnet(6), 331),
}


def places(variable: Any, rename: Rename) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield path and shape of each leaf in JAX that makes one variable of Keras, side by side in its last axis."""
    layer, name = variable.path.split("/")[-2:]
    shape = tuple(variable.shape)
    if name == "depthwise_kernel" or (name == "kernel" and "depthwise" in layer):
        shape = (*shape[:2], 1, shape[2])  # [H,W,C,1] in Keras
    owners = rename(layer)
    if name in {"depthwise_kernel", "pointwise_kernel"}:
        (owner,) = owners
        unit, _, number = owner.rpartition("/")
        owners = [f"{unit}/depthwise{number}" if name == "depthwise_kernel" else f"{unit}/pointwise{number}/conv"]
    for owner in owners:
        yield (
            f"{owner}/{NORMS.get(name, 'kernel' if name.endswith('kernel') else name)}",
            (
                *shape[:-1],
                shape[-1] // len(owners),
            ),
        )


def numbers(name: str) -> dict[str, Any]:
    """Return what Keras computes: its logits, with the paths and shapes of all leaves that went into them."""
    import keras

    keras.backend.clear_session()
    keras.config.set_floatx("float64")
    network = APPLICATIONS[name]
    model, shapes = getattr(keras.applications, network.keras)(weights=None, classifier_activation=None), {}
    for variable in model.variables:
        if variable.path.endswith("seed_generator_state"):
            continue
        parts = dict(places(variable, network.rename))
        shapes |= parts
        value = np.concatenate([weight(path, shape) for path, shape in parts.items()], -1)
        variable.assign(value.reshape(variable.shape).astype(np.float64))
    logits = model(pictures(network.side).astype(np.float64), training=False).numpy()
    total = sum(math.prod(shape) for shape in shapes.values())
    if total != model.count_params():
        raise ValueError(f"{name}: {model.count_params()} parameters in Keras, {total} were given")
    return {"leaves": leaves_digest(shapes), "logits": fingerprint(logits), "first": logits[:, 0].tolist()}


def main() -> int:
    """Return 0 if every reference was written, or with --check if all agree."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--check", action="store_true", help="write nothing, compare what is stored")
    asked.add_argument("names", nargs="*", metavar="NAME", help=f"all: {', '.join(APPLICATIONS)}")
    given, agrees = asked.parse_args(), True
    for name in given.names or APPLICATIONS:
        fresh, stored = numbers(name), reference.of(name).get("served")
        away = error(stored["logits"], fresh["logits"]) if stored else math.inf
        same = away <= BOUND and stored["leaves"] == fresh["leaves"]
        verdict = "agrees" if same else "DIFFERS" if given.check else "written"
        print(f"{name:26}{away:11.1e}  {verdict}", flush=True)
        agrees &= same
        if not given.check:
            reference.store(name, served=fresh)
    return 0 if agrees or not given.check else 1


if __name__ == "__main__":
    sys.exit(main())
