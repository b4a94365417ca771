"""From a stored record to the arrays that a network takes: one way of doing so per file. NumPy and OpenCV only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

Example = dict[str, np.ndarray]


class Records(Protocol):
    """A split, from which a preparation may learn."""

    def __len__(self) -> int:
        """Return how many records there are."""
        ...

    def take(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Return these records."""
        ...


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How records become examples. What has to be learnt from the training split first is learnt by `fitted`."""

    def fitted(self, train: Records) -> Self:
        """Return the same preparation with what it needs to know of the training split."""
        return self

    def undistorted(self) -> Self:
        """Return the same for pictures that the device will distort: as whole as it needs them."""
        return self

    def example(self, record: Mapping[str, Any], random: np.random.Generator | None = None) -> Example:
        """Return the arrays of one record: augmented as documented with a generator, as for validation without one."""
        raise NotImplementedError


def stacked(examples: Sequence[Example]) -> Example:
    """Return examples as a batch: arrays [N,...], their bytes in the order of their axes."""
    return {name: np.stack([example[name] for example in examples]) for name in examples[0]}
