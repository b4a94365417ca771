"""From stored records to a network's arrays, one preparation per file. NumPy and OpenCV only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

Example = dict[str, np.ndarray]


class Records(Protocol):
    """A split from which a preparation can learn."""

    def __len__(self) -> int:
        """Return the number of records."""
        ...

    def take(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Return these records."""
        ...


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How records become examples. `fitted` learns from the training split what the preparation needs."""

    def fitted(self, train: Records) -> Self:
        """Return the preparation with what it learned from the training split."""
        return self

    def undistorted(self) -> Self:
        """Return the preparation without augmentation, for pictures that the device augments."""
        return self

    def batch(self, records: Iterable[Mapping[str, Any]], random: np.random.Generator | None = None) -> Example:
        """Return the records' arrays [N,...], C-contiguous.

        With a generator they are augmented as documented, one after the other; without one they are as for validation.
        """
        examples = [self.compact(record, random) for record in records]
        return self.finished({name: np.stack([example[name] for example in examples]) for name in examples[0]})

    def example(self, record: Mapping[str, Any], random: np.random.Generator | None = None) -> Example:
        """Return the arrays of one record, without a batch axis."""
        return self.finished(self.compact(record, random))

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return the arrays of one record in their smallest form."""
        raise NotImplementedError

    def finished(self, arrays: Example) -> Example:
        """Return compact arrays, of one record or of a batch, in the network's form.

        Bytes are pixels, which become float32 from 0 to 1.
        """
        return {name: _from_0_to_1(array) if array.dtype == np.uint8 else array for name, array in arrays.items()}


def _from_0_to_1(pixels: np.ndarray) -> np.ndarray:
    return np.divide(pixels, np.float32(255), dtype=np.float32)
