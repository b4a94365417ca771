"""Seeded batches of the documented form for any network, without a data set: what tests of speed-less things need."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.data.prepare import Preparation
from suite.data.prepare.photographs import Photograph
from suite.data.prepare.words import Subwords, Words

SIDES = {"mnist": (28, 28, 1), "cifar10": (32, 32, 3)}  # of the stored pictures

_CONTRAST = 40.0  # of the noise; between the classes it is twice that
MEDIAN_WORDS, SPREAD = 174, 0.7  # of the lengths' logarithms, near those of the IMDB reviews
PADDING, START, FIRST_WORD = 0, 1, 4  # 2 is a word out of the vocabulary, 3 is not in use


def drawn(side: Any, rng: np.random.Generator, examples: int) -> dict[str, np.ndarray] | None:
    """Return a batch of random content for a workload or control; None for one that takes stored small pictures."""
    if side.draw is not None:
        return side.draw(rng, examples)
    preparation = side.preparation
    if isinstance(preparation, Photograph):
        return photographs(rng, examples, preparation.side)
    if isinstance(preparation, Words):
        return words_padded_in_front(rng, examples, preparation.positions, preparation.vocabulary)
    if isinstance(preparation, Subwords):
        return subwords_padded_behind(rng, examples, preparation.positions, preparation.vocabulary)
    return None


def batches(side: Any, dataset: str, examples: int, count: int) -> list[dict[str, np.ndarray]]:
    """Return batches of random content for a workload or control of that data set."""
    rng = np.random.default_rng(0)
    if (first := drawn(side, rng, examples)) is not None:
        return [first, *(drawn(side, rng, examples) or {} for _ in range(count - 1))]
    shape = (examples, *SIDES[dataset])
    made = ((rng.integers(0, 256, shape, np.uint8), rng.integers(0, 10, examples)) for _ in range(count))
    return [pictured(side.preparation, *one) for one in made]


def pictured(preparation: Preparation, images: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return a batch made of pictures uint8[N,H,W,C] and labels int64[N]."""
    records = ({"image": image, "label": int(label)} for image, label in zip(images, labels, strict=True))
    return preparation.batch(records)


@dataclass(frozen=True, kw_only=True)
class Changed(Preparation):
    """A preparation whose examples are changed: `change` takes and gives batches."""

    right: Preparation
    change: Any

    def compact(self, record: Any, random: np.random.Generator | None) -> dict[str, np.ndarray]:
        """Return the changed arrays of one record."""
        batch = self.change(self.right.batch([record], random))
        return {name: array[0] for name, array in batch.items()}


def photographs(rng: np.random.Generator, examples: int, side: int) -> dict[str, np.ndarray]:
    """Return images float32[N,side,side,3] from 0 to 1 and labels float32[N], 0 for a cat and 1 for a dog.

    Cats have a bright upper half and dogs a bright lower half under noise, so that a network has something to learn.
    """
    labels = rng.integers(0, 2, examples)
    upper = np.arange(side) < side // 2
    bright = np.where(upper[None] == (labels[:, None] == 0), 127.5 + _CONTRAST, 127.5 - _CONTRAST)  # N side
    pixels = bright[:, :, None, None] + rng.normal(0, _CONTRAST, (examples, side, side, 3))
    images = pixels.clip(0, 255).astype(np.uint8).astype(np.float32) / np.float32(255)
    return {"images": images, "labels": labels.astype(np.float32)}


def words_padded_in_front(
    rng: np.random.Generator, examples: int, positions: int = 400, vocabulary: int = 5000
) -> dict[str, np.ndarray]:
    """Return tokens int32[N,T], padded and cut in front as Keras does, and labels float32[N], 1 for a good review."""
    labels, tokens = rng.integers(0, 2, examples), np.full((examples, positions), PADDING, np.int32)
    for row, label, length in zip(tokens, labels, lengths(rng, examples), strict=True):
        review = np.concatenate([[START], words(rng, label, length, FIRST_WORD, vocabulary)])[-positions:]
        row[-len(review) :] = review
    return {"tokens": tokens, "labels": labels.astype(np.float32)}


def subwords_padded_behind(
    rng: np.random.Generator, examples: int, positions: int = 256, vocabulary: int = 8185
) -> dict[str, np.ndarray]:
    """Return tokens int32[N,T], padded and cut behind as TFDS does, and labels float32[N], 1 for a good review."""
    labels, tokens = rng.integers(0, 2, examples), np.full((examples, positions), PADDING, np.int32)
    for row, label, length in zip(tokens, labels, lengths(rng, examples), strict=True):
        review = words(rng, label, length, 1, vocabulary)[:positions]
        row[: len(review)] = review
    return {"tokens": tokens, "labels": labels.astype(np.float32)}


def lengths(rng: np.random.Generator, examples: int) -> np.ndarray:
    """Return how many words each review has, int64[N]."""
    return np.exp(rng.normal(np.log(MEDIAN_WORDS), SPREAD, examples)).astype(np.int64) + 1


def words(rng: np.random.Generator, label: int, length: int, first: int, end: int) -> np.ndarray:
    """Return ids from `first` to below `end`, their chances after Zipf's law; two thirds have the label's parity."""
    pairs = (end - first) // 2
    rank = np.floor(np.exp(rng.uniform(0, np.log(pairs + 1), length))).astype(np.int64) - 1
    telling = np.where(rng.random(length) < 2 / 3, label, 1 - label)
    return first + 2 * rank + telling
