"""From a stored record to the arrays that a network takes: one way of doing so per file. NumPy and OpenCV only."""

from collections.abc import Iterable, Mapping, Sequence
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

    def batch(self, records: Iterable[Mapping[str, Any]], random: np.random.Generator | None = None) -> Example:
        """Return the arrays [N,...] of records, their bytes in the order of their axes.

        Augmented as documented with a generator, which they use one after the other; as for validation without one.
        """
        examples = [self.compact(record, random) for record in records]
        return self.finished({name: np.stack([example[name] for example in examples]) for name in examples[0]})

    def example(self, record: Mapping[str, Any], random: np.random.Generator | None = None) -> Example:
        """Return the arrays of one record, without an axis for the batch."""
        return self.finished(self.compact(record, random))

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return the arrays of one record in their smallest form."""
        raise NotImplementedError

    def finished(self, arrays: Example) -> Example:
        """Return arrays in their smallest form, of one record or of a batch, as the network takes them.

        Bytes are pixels, which become float32 from 0 to 1.
        """
        return {name: _from_0_to_1(array) if array.dtype == np.uint8 else array for name, array in arrays.items()}


def _from_0_to_1(pixels: np.ndarray) -> np.ndarray:
    return np.divide(pixels, np.float32(255), dtype=np.float32)
