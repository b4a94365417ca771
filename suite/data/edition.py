"""Which embedded set is meant: how large, and from which seed."""

from typing import Literal

from suite.workload import Plain

DRAWING = 2  # raise it when a change moves any pixel or word, so that old and new sets never mix
Size = Literal["small", "documented"]


class Edition(Plain, frozen=True, kw_only=True):
    """The size of an embedded set and the seed of all its examples; a split of 0 examples is left out."""

    train: int = 4096
    test: int = 1024
    seed: int = 0

    def text(self) -> str:
        """Return the name of the folder that holds this edition."""
        return f"drawing{DRAWING}-seed{self.seed}-train{self.train}-test{self.test}"


DEFAULT = Edition()
