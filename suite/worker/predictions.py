"""Predictions of a cats-and-dogs network for photographs, with rescaled pixels and with raw ones."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from suite.results.records.run import Predictions
from suite.worker_api.program import Batch

_SCALES: tuple[tuple[Literal["0 to 1", "0 to 255"], int], ...] = (("0 to 1", 1), ("0 to 255", 255))


def predictions(answers: Callable[[Batch], np.ndarray], examples: Batch) -> tuple[Predictions, ...]:
    """Return the predictions for as many cats as dogs: pixels from 0 to 1, and the same from 0 to 255.

    Examples: images float32[N,H,W,3] from 0 to 1 and labels float32[N], 1 for a dog; `answers` gives logits float32[N].
    """
    chosen = balanced(examples)
    by_scale = []
    for pixels, factor in _SCALES:
        outputs = sigmoid(answers({**chosen, "images": chosen["images"] * np.float32(factor)}))
        dogs, half, one = chosen["labels"] > 0.5, outputs > 0.5, outputs == 1
        by_scale.append(
            Predictions(
                pixels=pixels,
                examples=len(outputs),
                mean_output=float(outputs.mean(dtype=np.float64)),
                above_half=float(half.mean()),
                exactly_one=float(one.mean()),
                accuracy_above_half=float((half == dogs).mean()),
                accuracy_exactly_one=float((one == dogs).mean()),
            )
        )
    return tuple(by_scale)


def balanced(examples: Batch) -> Batch:
    """Return as many examples of label 0 as of label 1, the first of each."""
    sides = [np.flatnonzero(examples["labels"] == label) for label in (0, 1)]
    rows = np.sort(np.concatenate([side[: min(map(len, sides))] for side in sides]))
    return {name: array[rows] for name, array in examples.items()}


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) in float32, as the source's last layer has it: exactly 1 from about 17 up."""
    with np.errstate(over="ignore"):  # far negative logits overflow to an output of 0
        return np.float32(1) / (np.float32(1) + np.exp(-logits.astype(np.float32)))
