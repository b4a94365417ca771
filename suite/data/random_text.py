"""Reviews made of random token ids, until the data set is there: long and short, a few words common, most rare.

An odd word is twice as frequent in a good review as in a bad one, an even word in a bad one: there is something to
learn.
"""

import numpy as np

MEDIAN_WORDS, SPREAD = 174, 0.7  # of the lengths' logarithms, near those of the IMDB reviews
PADDING, START, FIRST_WORD = 0, 1, 4  # 2 is a word out of the vocabulary, 3 is not in use


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
