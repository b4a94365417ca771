"""catdog_cnn_base in PyTorch, with the code of its five relatives."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import adam
from suite.data.prepare.photographs import Photograph

HIDDEN = 128


class ConvRelu(nn.Module):
    """3x3 convolution with bias and ReLU, optionally after a 2x2 max pool, which commutes with the ReLU."""

    def __init__(self, inputs: int, features: int, pooled: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, features, 3, padding=0 if pooled else 1)
        self.pooled = pooled

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,features,(H-2)//2,(W-2)//2], or with H and W as they are."""
        x = self.conv(x)
        return functional.relu(functional.max_pool2d(x, 2) if self.pooled else x, inplace=True)


class CatDogCnn(nn.Module):
    """Pairs of convolution and pool, then extra convolutions, a hidden layer of 128, and one logit."""

    def __init__(self, side: int, features: Sequence[int], extra: Sequence[int] = (), dropout: float = 0.0) -> None:
        super().__init__()
        layers, inputs = [], 3
        for now, count in zip(features, extra or (0,) * len(features), strict=True):
            layers += [ConvRelu(inputs, now, pooled=True), *(ConvRelu(now, now, pooled=False) for _ in range(count))]
            inputs, side = now, (side - 2) // 2
        self.convolutions = nn.Sequential(*layers)
        self.hidden = nn.Linear(side * side * inputs, HIDDEN)
        self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()
        self.output = nn.Linear(HIDDEN, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map photographs float32[N,3,S,S] to logits float32[N]."""
        x = self.convolutions(x).permute(0, 2, 3, 1).flatten(1)  # as it lies in memory
        x = self.dropout(functional.relu(self.hidden(x), inplace=True))
        return self.output(x)[:, 0]


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.binary_cross_entropy_with_logits(model(batch["images"]), batch["labels"])


def control(
    side: int, features: Sequence[int], extra: Sequence[int] = (), dropout: float = 0.0, augmented: bool = True
) -> Control:
    """Return the control of one of the six networks."""
    return Control(
        model=partial(CatDogCnn, side, features, extra, dropout),
        loss=loss,
        optimizer=adam,
        preparation=Photograph(side=side, augmented=augmented),
    )


CONTROL = control(64, (32, 32))
