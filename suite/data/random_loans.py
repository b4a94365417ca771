"""Loans drawn like the stand-in for the mortgage table, each column in up to 256 bins of equal count."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from suite.data.tabulated import CHUNK, drawn, scores, threshold

COLUMNS = 45
DELINQUENT = 0.12  # share of the rows
BINS = 256
_LOOKED_AT = 2**16  # rows whose quantiles are the edges


def loans(rng: np.random.Generator, examples: int) -> dict[str, np.ndarray]:
    """Return bins uint8[N,45] and labels float32[N], 1 for a delinquent loan."""
    features, labels = table(rng, examples, COLUMNS, DELINQUENT)
    return {"bins": binned(features, edges(features)), "labels": labels}


def table(rng: np.random.Generator, examples: int, columns: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return features float32[N,C] and labels float32[N], about a `share` of which is 1."""
    parts = [drawn(rng, columns) for _ in range(-(-examples // CHUNK))]
    features = np.concatenate(parts)[:examples]
    return features, (scores(features, rng) > threshold(columns, share)).astype(np.float32)


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
