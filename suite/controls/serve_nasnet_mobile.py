"""serve_nasnet_mobile in PyTorch, batch norms folded by torch's fusion tool."""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

from suite.controls._serving import ConvNorm, Depthwise, control, conv, same_pad

EPSILON = 1e-3
STEM, FILTERS, CELLS = 32, 44, 4


def unit(inputs: int, features: int) -> ConvNorm:
    """Return a 1x1 convolution and its norm."""
    return ConvNorm(conv(inputs, features, 1), EPSILON)


def same_mean(x: torch.Tensor) -> torch.Tensor:
    """Return the mean of each pixel and its neighbours."""
    return functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)


class Separable(nn.Module):
    """ReLU, depthwise convolution, pointwise convolution, norm; twice, the first with an optional stride."""

    def __init__(self, inputs: int, filters: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.depthwise1 = Depthwise(inputs, kernel, stride)
        self.pointwise1 = unit(inputs, filters)
        self.depthwise2 = Depthwise(filters, kernel)
        self.pointwise2 = unit(filters, filters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,filters,H/stride,W/stride]."""
        x = self.pointwise1(self.depthwise1(functional.relu(x)))
        return self.pointwise2(self.depthwise2(functional.relu(x, inplace=True)))


class Adjust(nn.Module):
    """Adapts the previous cell's input to this cell's number of channels, and halves it if needed."""

    def __init__(self, place: "Place") -> None:
        super().__init__()
        inputs, filters = place.before, place.filters
        self.even = unit(inputs, filters // 2) if place.halves else None
        self.odd = unit(inputs, filters // 2) if place.halves else None
        self.project = unit(inputs, filters) if inputs != place.adjusted and not place.halves else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,filters,H,W], or half of H and W."""
        if self.even is not None:
            x = functional.relu(x)
            moved = functional.pad(x[:, :, 1:, 1:], (0, 1, 0, 1))
            return torch.cat([self.even(x[:, :, ::2, ::2]), self.odd(moved[:, :, ::2, ::2])], 1)
        return x if self.project is None else self.project(functional.relu(x))


class Normal(nn.Module):
    """The cell that keeps the size."""

    def __init__(self, place: "Place") -> None:
        super().__init__()
        p, filters = place.adjusted, place.filters
        self.adjust = Adjust(place)
        self.reduce = unit(place.inputs, filters)
        self.left1, self.right1 = Separable(filters, filters, 5), Separable(p, filters, 3)
        self.left2, self.right2 = Separable(p, filters, 5), Separable(p, filters, 3)
        self.left5 = Separable(filters, filters, 3)

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] and the previous cell's input to [N,6*filters,H,W]."""
        p, h = self.adjust(before), self.reduce(functional.relu(x))
        first = self.left1(h).add_(self.right1(p))
        second = self.left2(p).add_(self.right2(p))
        third = same_mean(h).add_(p)
        fourth = same_mean(p).mul_(2)  # the source adds two equal means
        fifth = self.left5(h).add_(h)
        return torch.cat([p, first, second, third, fourth, fifth], 1)


class Reduction(nn.Module):
    """The cell that halves the size."""

    def __init__(self, place: "Place") -> None:
        super().__init__()
        p, filters = place.adjusted, place.filters
        self.adjust = Adjust(place)
        self.reduce = unit(place.inputs, filters)
        self.left1, self.right1 = Separable(filters, filters, 5, 2), Separable(p, filters, 7, 2)
        self.right2, self.right3 = Separable(p, filters, 7, 2), Separable(p, filters, 5, 2)
        self.left5 = Separable(filters, filters, 3)

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] and the previous cell's input to [N,4*filters,H/2,W/2]."""
        p, h = self.adjust(before), self.reduce(functional.relu(x))
        padded = same_pad(h, 3)  # zero padding, also for the maximum
        largest = functional.max_pool2d(padded, 3, 2)
        first = self.left1(h).add_(self.right1(p))
        second = self.right2(p).add_(largest)
        third = functional.avg_pool2d(padded, 3, 2).add_(self.right3(p))
        fourth = same_mean(first).add_(second)
        fifth = self.left5(first).add_(largest)
        return torch.cat([second, third, fourth, fifth], 1)


class Place(NamedTuple):
    """A cell's kind and position."""

    kind: type[nn.Module]
    inputs: int
    before: int  # channels of the previous cell's input
    adjusted: int  # its channels after adjustment; the first cell keeps them
    filters: int
    halves: bool  # whether it has twice the size
    skipped: bool  # whether the next cell gets it again


def places(stem: int, filters: int, cells: int, skips: bool) -> list[Place]:
    """Return all cells in order: two small reductions, then normal cells at three sizes with reductions between."""
    kinds = [(Reduction, filters // 4, False), (Reduction, filters // 2, False)]
    for stage in range(3):
        kinds += [(Reduction, filters << stage, skips)] if stage else []
        kinds += [(Normal, filters << stage, False)] * cells
    found, inputs, before = [], stem, stem
    for kind, width, skipped in kinds:
        halves = bool(found) and found[-1].kind is Reduction
        found.append(Place(kind, inputs, before, width if found else before, width, halves, skipped))
        before = before if skipped else inputs
        inputs = (6 if kind is Normal else 4) * width
    return found


class NasNet(nn.Module):
    """Stem, cells, global average, dense layer; `skips`: a cell after a reduction gets its second input."""

    def __init__(self, stem: int = STEM, filters: int = FILTERS, cells: int = CELLS, skips: bool = False) -> None:
        super().__init__()
        plan = places(stem, filters, cells, skips)
        self.stem = ConvNorm(conv(3, stem, 3, 2), EPSILON)
        self.cells = nn.ModuleList(place.kind(place) for place in plan)
        self.skipped = tuple(place.skipped for place in plan)
        self.output = nn.Linear(6 * plan[-1].filters, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map photographs float32[N,3,S,S], S = 224 (331 if large), to logits float32[N,1000]."""
        x = before = self.stem(x)
        for cell, skipped in zip(self.cells, self.skipped, strict=True):
            x, before = cell(x, before), before if skipped else x
        return self.output(functional.relu(x).mean((2, 3)))


CONTROL = control(NasNet)
