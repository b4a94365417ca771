"""Loans in 45 columns, some of them delinquent: the form of the trees' table, which TFDS does not publish."""

from typing import Any

import numpy as np

from suite.data.datasets import Records
from suite.data.edition import Edition
from suite.data.random_loans import COLUMNS, DELINQUENT, rows

CLASSES = None
SIZES = {"small": Edition(train=8192, test=4096), "documented": Edition(train=400_000, test=100_000)}


def features() -> dict[str, Any]:
    """Return the features as TFDS types."""
    import tensorflow_datasets as tfds

    return {
        "features": tfds.features.Tensor(shape=(COLUMNS,), dtype=np.float32),
        "label": tfds.features.ClassLabel(num_classes=2),
    }


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of features and label."""
    for values, label in rows(COLUMNS, DELINQUENT, split, count, seed):
        yield {"features": values, "label": label}
