"""Tables for boosted trees: columns of several kinds, and a label that trees can learn and a linear model cannot."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from suite.data.streams import SPLITS

CHUNK = 4096  # rows that share a random stream
_RULES = 24  # of the label: products of steps in two columns
_NOISE = 1.5  # standard deviation, for a score whose rules have one of about 3
_LAW = 20_260_101  # seed of the rules, the same for every data seed


def rows(columns: int, share: float, split: str, count: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield each row's features float32[columns] and label; about a `share` of the labels is 1.

    A chunk depends only on seed, split and its own number.
    """
    for number in range(-(-count // CHUNK)):
        random = np.random.default_rng((seed, SPLITS.index(split), number, columns))
        features = drawn(random, columns)
        labels = scores(features, random) > threshold(columns, share)
        here = min(CHUNK, count - number * CHUNK)
        yield from zip(features[:here], labels[:here].astype(int).tolist(), strict=True)


def drawn(random: np.random.Generator, columns: int) -> np.ndarray:
    """Return float32[CHUNK,columns], by turns normal, long-tailed, a few levels, and a cyclic angle."""
    features = random.standard_normal((CHUNK, columns), np.float32)
    tail, levels, angle = (features[:, kind::4] for kind in (1, 2, 3))
    tail[...] = np.exp(tail)
    levels[...] = np.rint(2 * levels)
    angle[...] = np.mod(angle, np.float32(1))
    return features


@cache
def threshold(columns: int, share: float) -> float:
    """Return the score above which a label is 1, so that about a `share` of them is."""
    random = np.random.default_rng(_LAW)
    return float(np.quantile(scores(drawn(random, columns), random), 1 - share))


def scores(features: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return each row's score for label 1, float64[N]: rules over two columns each, plus noise."""
    law = np.random.default_rng(_LAW)
    total = random.normal(0, _NOISE, len(features))
    for _ in range(_RULES):
        first, second = law.integers(features.shape[1], size=2)
        steps = [np.sign(features[:, column] - np.float32(law.normal(0.3, 0.4))) for column in (first, second)]
        total += law.normal(0, 0.6) * steps[0] * steps[1] + law.normal(0, 0.15) * steps[0]
    return total
