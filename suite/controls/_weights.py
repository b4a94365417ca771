"""Map the parameters of a model in JAX to its control's. NumPy only."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

Leaves = dict[str, np.ndarray]  # by their path in the model: "blocks/0/unit1/conv/kernel"

_NAMES = {
    "kernel": "weight",
    "embedding": "weight",
    "scale": "weight",
    "bias": "bias",
    "mean": "running_mean",
    "var": "running_var",
}
_LSTM_NAMES = {"kernel": "weight_ih_l0", "recurrent_kernel": "weight_hh_l0", "bias": "bias_ih_l0"}
_KERNELS = ("kernel", "recurrent_kernel")


def in_order(leaves: Leaves, network: Any) -> Leaves:
    """Return each leaf under its name in the network and in torch's layout; layers pair up in the order of their names.

    Raises ValueError if the two sides differ in the number or the shapes of layers.
    """
    grouped = groupby(sorted(leaves, key=lambda path: (natural(owner(path)), path)), key=owner)
    model_layers = [(path, [leaf.rpartition("/")[2] for leaf in group]) for path, group in grouped]
    theirs = list(layers(network))
    if len(model_layers) != len(theirs):
        raise ValueError(
            f"the model has {len(model_layers)} layers with parameters, its control {len(theirs)}: "
            f"{[names['kernel'] for names in theirs]}; give the control a `weights` of its own"
        )
    wanted = network.state_dict()
    values = {key: np.zeros(tuple(value.shape)) for key, value in wanted.items() if "bias_hh" in key}  # not in Keras
    for (path, names), keys in zip(model_layers, theirs, strict=True):
        for name in names:
            value, key = leaves[joined(path, name)], keys[name]
            value = torch_layout(value) if name in _KERNELS else value
            if key not in wanted or tuple(wanted[key].shape) != value.shape:
                there = tuple(wanted[key].shape) if key in wanted else "missing"
                raise ValueError(f"'{joined(path, name)}' is {value.shape}, '{key}' of the control is {there}")
            values[key] = value
    return values


def layers(network: Any) -> Iterator[dict[str, str]]:
    """Yield the names of each layer's parameters by those in JAX, layers in the order of their names.

    A bidirectional LSTM is two layers; "backward" comes before "forward".
    """
    for path, module in sorted(network.named_modules(), key=lambda item: natural(item[0])):
        if not list(module.parameters(recurse=False)):
            continue
        prefix = f"{path}." if path else ""
        if type(module).__name__ == "LSTM":
            for ending in ("_reverse", "") if module.bidirectional else ("",):
                yield {name: f"{prefix}{key}{ending}" for name, key in _LSTM_NAMES.items()}
        else:
            yield {name: f"{prefix}{key}" for name, key in _NAMES.items()}


def torch_layout(kernel: np.ndarray) -> np.ndarray:
    """Return a kernel [...,I,O] as torch has it: [O,I,...]."""
    return np.moveaxis(kernel, (-1, -2), (0, 1))


def channels_first(kernel: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """Return a dense kernel [HWC,D] for pictures that are flattened as [C,H,W]; shape is that of [H,W,C]."""
    return kernel.reshape(*shape, -1).transpose(2, 0, 1, 3).reshape(kernel.shape)


def owner(path: str) -> str:
    """Return the path of the layer that a leaf belongs to."""
    return path.rpartition("/")[0]


def joined(*parts: str) -> str:
    """Return a path from its parts, without empty ones."""
    return "/".join(part for part in parts if part)


def natural(path: str) -> tuple[list[str | int], ...]:
    """Return a key that sorts conv2 before conv10."""
    parts = re.split(r"[/.]", path)
    return tuple([int(p) if p.isdigit() else p for p in re.split(r"(\d+)", part)] for part in parts)
