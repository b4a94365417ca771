"""From the parameters of a model in JAX to those of its control. NumPy only."""

import re
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


def in_order(leaves: Leaves, network: Any) -> Leaves:
    """Return each leaf under its name in the network and in torch's layout; layers pair up in the order of their names.

    Raises ValueError if the two sides have different numbers of layers or layers of different shapes.
    """
    layers = groupby(sorted(leaves, key=lambda path: (natural(owner(path)), path)), key=owner)
    mine = [(path, [leaf.rpartition("/")[2] for leaf in group]) for path, group in layers]
    theirs = sorted((name for name, m in network.named_modules() if list(m.parameters(recurse=False))), key=natural)
    if len(mine) != len(theirs):
        raise ValueError(
            f"the model has {len(mine)} layers with parameters, its control {len(theirs)}: {theirs}; "
            "give the control a `weights` of its own"
        )
    wanted = network.state_dict()
    found = {}
    for (path, names), module in zip(mine, theirs, strict=True):
        for name in names:
            value, key = leaves[joined(path, name)], f"{module}.{_NAMES[name]}".lstrip(".")
            value = torch_layout(value) if name == "kernel" else value
            if key not in wanted or tuple(wanted[key].shape) != value.shape:
                there = tuple(wanted[key].shape) if key in wanted else "missing"
                raise ValueError(f"'{joined(path, name)}' is {value.shape}, '{key}' of the control is {there}")
            found[key] = value
    return found


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
    """Return a path from its parts, of which empty ones are left out."""
    return "/".join(part for part in parts if part)


def natural(path: str) -> tuple[list[str | int], ...]:
    """Return a key that sorts conv2 before conv10."""
    parts = re.split(r"[/.]", path)
    return tuple([int(p) if p.isdigit() else p for p in re.split(r"(\d+)", part)] for part in parts)
