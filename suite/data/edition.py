"""Editions of an embedded set: size and seed."""

from typing import Literal

from suite.workload import Plain

DRAWING = 2  # raise it if a change moves any pixel or word: old and new sets must never mix
Size = Literal["small", "documented"]


class Edition(Plain, frozen=True, kw_only=True):
    """The size of an embedded set and the seed of its examples; a split of 0 examples is omitted."""

    train: int = 4096
    test: int = 1024
    seed: int = 0

    def text(self) -> str:
        """Return the name of the edition's folder."""
        return f"drawing{DRAWING}-seed{self.seed}-train{self.train}-test{self.test}"


DEFAULT = Edition()
