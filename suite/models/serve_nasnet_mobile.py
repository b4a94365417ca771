"""NASNet-A (4 @ 1056) answering one photograph at a time.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020, after Microsoft's "GPUs vs
    CPUs for deployment of deep learning models", 2018; network of Zoph et al., "Learning Transferable Architectures
    for Scalable Image Recognition" (2018), figure 4, as keras.applications has it.
Reported: 804 %, 3 GPU nodes against 5 CPU nodes, for one network of five that is not named.
Differs: one machine, no web service; random weights; batch norms folded before the step.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from suite.models import _serving
from suite.nn import flop
from suite.nn.frozen import Conv, ConvNorm, Depthwise
from suite.nn.window import same_mean, same_padding, zero_padded_max, zero_padded_mean

EPSILON = 1e-3
STEM, FILTERS, CELLS = 32, 44, 4


def unit(inputs: int, features: int) -> ConvNorm:
    """Return a 1x1 convolution and its norm."""
    return ConvNorm(Conv(inputs, features, 1), EPSILON)


class Separable(nnx.Module):
    """ReLU, depthwise convolution, pointwise convolution, norm; twice, the first with an optional stride."""

    def __init__(self, inputs: int, filters: int, kernel: int, stride: int = 1) -> None:
        self.depthwise1 = Depthwise(inputs, kernel, stride)
        self.pointwise1 = unit(inputs, filters)
        self.depthwise2 = Depthwise(filters, kernel)
        self.pointwise2 = unit(filters, filters)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,filters]."""
        x = self.pointwise1(self.depthwise1(nnx.relu(x)))
        return self.pointwise2(self.depthwise2(nnx.relu(x)))


class Adjust(nnx.Module):
    """Adapts the previous cell's input to this cell's number of channels, and halves it if needed.

    Keras normalises both halves of the channels together, which equals each by itself.
    """

    def __init__(self, place: "Place") -> None:
        inputs, filters = place.before, place.filters
        self.even = unit(inputs, filters // 2) if place.halves else None
        self.odd = unit(inputs, filters // 2) if place.halves else None
        self.project = unit(inputs, filters) if inputs != place.adjusted and not place.halves else None

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H,W,filters], or half of H and W."""
        if self.even is not None and self.odd is not None:
            x = nnx.relu(x)
            moved = jnp.pad(x[:, 1:, 1:], ((0, 0), (0, 1), (0, 1), (0, 0)))
            # XLA of jaxlib 0.11 crashes when it fuses these pads and slices with a product on a GPU.
            even, odd = lax.optimization_barrier((x[:, ::2, ::2], moved[:, ::2, ::2]))
            return jnp.concatenate([self.even(even), self.odd(odd)], -1)
        return x if self.project is None else self.project(nnx.relu(x))


class Normal(nnx.Module):
    """The cell that keeps the size."""

    def __init__(self, place: "Place") -> None:
        p, filters = place.adjusted, place.filters
        self.adjust = Adjust(place)
        self.reduce = unit(place.inputs, filters)
        self.left1, self.right1 = Separable(filters, filters, 5), Separable(p, filters, 3)
        self.left2, self.right2 = Separable(p, filters, 5), Separable(p, filters, 3)
        self.left5 = Separable(filters, filters, 3)

    def __call__(self, x: jax.Array, before: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] and the previous cell's input to [N,H,W,6*filters]."""
        p, h = self.adjust(before), self.reduce(nnx.relu(x))
        first = self.left1(h) + self.right1(p)
        second = self.left2(p) + self.right2(p)
        third = same_mean(h) + p
        fourth = 2 * same_mean(p)  # the source adds two equal means
        fifth = self.left5(h) + h
        return jnp.concatenate([p, first, second, third, fourth, fifth], -1)


class Reduction(nnx.Module):
    """The cell that halves the size."""

    def __init__(self, place: "Place") -> None:
        p, filters = place.adjusted, place.filters
        self.adjust = Adjust(place)
        self.reduce = unit(place.inputs, filters)
        self.left1, self.right1 = Separable(filters, filters, 5, 2), Separable(p, filters, 7, 2)
        self.right2, self.right3 = Separable(p, filters, 7, 2), Separable(p, filters, 5, 2)
        self.left5 = Separable(filters, filters, 3)

    def __call__(self, x: jax.Array, before: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] and the previous cell's input to [N,H/2,W/2,4*filters]."""
        p, h = self.adjust(before), self.reduce(nnx.relu(x))
        padding = same_padding(h.shape[1], 3, 2)
        largest = zero_padded_max(h, padding)
        first = self.left1(h) + self.right1(p)
        second = largest + self.right2(p)
        third = zero_padded_mean(h, padding) + self.right3(p)
        fourth = second + same_mean(first)
        fifth = self.left5(first) + largest
        return jnp.concatenate([second, third, fourth, fifth], -1)


class Place(NamedTuple):
    """A cell's kind and position."""

    kind: type[Normal] | type[Reduction]
    inputs: int
    before: int  # channels of the previous cell's input
    adjusted: int  # its channels after adjustment; the first cell keeps them
    filters: int
    halves: bool  # whether it has twice the size
    skipped: bool  # whether the next cell gets it again


def places(stem: int, filters: int, cells: int, skips: bool) -> list[Place]:
    """Return all cells in order: two small reductions, then normal cells at three sizes with reductions between."""
    ordered, inputs, before = [], stem, stem

    def add(kind: type[Normal] | type[Reduction], width: int, skipped: bool = False) -> None:
        nonlocal inputs, before
        halves = bool(ordered) and ordered[-1].kind is Reduction
        ordered.append(Place(kind, inputs, before, width if ordered else before, width, halves, skipped))
        before = before if skipped else inputs
        inputs = (6 if kind is Normal else 4) * width

    add(Reduction, filters // 4)
    add(Reduction, filters // 2)
    for width in (filters, 2 * filters, 4 * filters):
        if width > filters:
            add(Reduction, width, skips)
        for _ in range(cells):
            add(Normal, width)
    return ordered


class NasNet(nnx.Module):
    """Stem, cells, global average, dense layer; `skips`: a cell after a reduction gets its second input."""

    def __init__(
        self, rngs: nnx.Rngs, stem: int = STEM, filters: int = FILTERS, cells: int = CELLS, skips: bool = False
    ) -> None:
        plan = places(stem, filters, cells, skips)
        self.stem = ConvNorm(Conv(3, stem, 3, 2, "VALID"), EPSILON)
        self.cells = nnx.List(place.kind(place) for place in plan)
        self.skipped = tuple(place.skipped for place in plan)
        self.output = nnx.Linear(6 * plan[-1].filters, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,S,S,3], S = 224 (331 if large), to logits float32[N,1000]."""
        x = before = self.stem(x)  # N 111 111 32, or N 165 165 96
        for cell, skipped in zip(self.cells, self.skipped, strict=True):
            x, before = cell(x, before), before if skipped else x  # down to N 7 7 1056, or N 11 11 4032
        return self.output(nnx.relu(x).mean((1, 2)))  # N 1000


def forward_flop(side: int, stem: int, filters: int, cells: int, skips: bool) -> int:
    """Return the forward FLOP of one example."""
    plan = places(stem, filters, cells, skips)
    side = (side - 1) // 2
    total = flop.conv(side, side, 3, stem, 3) + flop.dense(6 * plan[-1].filters, 1000)
    for place in plan:
        filters = place.filters
        total += flop.conv(side, side, place.inputs, filters, 1)
        if place.halves or place.before != place.adjusted:
            total += flop.conv(side, side, place.before, filters, 1)
        side = side if place.kind is Normal else (side + 1) // 2
        behind = (3, 5, 3) if place.kind is Normal else (7, 7, 5)  # kernels of the layers on the previous cell's input
        for inputs, kernels in ((filters, (5, 3)), (place.adjusted, behind)):
            for kernel in kernels:
                total += flop.separable(side, side, inputs, filters, kernel)
                total += flop.separable(side, side, filters, filters, kernel)
    return total


WORKLOAD = _serving.workload(
    name="serve_nasnet_mobile",
    title="NASNet-A mobile, inference",
    model=NasNet,
    forward=forward_flop(224, STEM, FILTERS, CELLS, skips=False),
    parameters=5_326_716,
    trainable=5_289_978,
    cpu_kernels="onednn",  # with YNN's products: a call of oneDNN's costs more than most of its layers
)
