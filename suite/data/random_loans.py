"""Tables for boosted trees: columns of several kinds, and a label that trees can learn and a linear model cannot.

Loans are drawn like the stand-in for the mortgage table, each column in up to 256 bins of equal count.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from suite.data.streams import SPLITS

COLUMNS = 45
DELINQUENT = 0.12  # share of the rows
BINS = 256
CHUNK = 4096  # rows that share a random stream
_LOOKED_AT = 2**16  # rows whose quantiles are the edges
_RULES = 24  # of the label: products of steps in two columns
_NOISE = 1.5  # standard deviation, for a score whose rules have one of about 3
_LAW = 20_260_101  # seed of the rules, the same for every data seed


def loans(rng: np.random.Generator, examples: int, columns: int = COLUMNS) -> dict[str, np.ndarray]:
    """Return bins uint8[N,C] and labels float32[N], 1 for a delinquent loan."""
    features, labels = table(rng, examples, columns, DELINQUENT)
    return {"bins": binned(features, edges(features)), "labels": labels}


def rows(columns: int, share: float, split: str, count: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield each row's features float32[columns] and label; about a `share` of the labels is 1.

    A chunk depends only on seed, split and its own number.
    """
    for number in range(-(-count // CHUNK)):
        random = np.random.default_rng((seed, SPLITS.index(split), number, columns))
        features, labels = table(random, CHUNK, columns, share)
        here = min(CHUNK, count - number * CHUNK)
        yield from zip(features[:here], labels[:here].astype(int).tolist(), strict=True)


def table(random: np.random.Generator, examples: int, columns: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return features float32[N,C] and labels float32[N], about a `share` of which is 1."""
    features = np.concatenate([drawn(random, columns) for _ in range(-(-examples // CHUNK))])[:examples]
    return features, (scores(features, random) > threshold(columns, share)).astype(np.float32)


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


def edges(features: np.ndarray) -> list[np.ndarray]:
    """Return the upper edges of each column's bins but the last, float32[<256], ascending."""
    ranks = np.arange(1, BINS) / BINS
    looked_at = features[:_LOOKED_AT]
    return [np.unique(np.quantile(column, ranks, method="higher")) for column in looked_at.T]


def binned(features: np.ndarray, upper: list[np.ndarray]) -> np.ndarray:
    """Return the bin of each number, uint8[N,C]; a number on an edge belongs to the lower bin."""
    bins = np.empty(features.shape, np.uint8)

    def place(number: int) -> None:
        bins[:, number] = np.searchsorted(upper[number], np.ascontiguousarray(features[:, number]))

    with ThreadPoolExecutor() as threads:
        list(threads.map(place, range(len(upper))))
    return bins
