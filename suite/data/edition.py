"""Which embedded set is meant: how large, and from which seed."""

from suite.workload import Plain

DRAWING = 1  # raise it when a change moves any pixel, so that old and new pictures never mix


class Edition(Plain, frozen=True, kw_only=True):
    """The size of an embedded set and the seed of all its examples."""

    train: int = 4096
    test: int = 1024
    seed: int = 0

    def text(self) -> str:
        """Return the name of the folder that holds this edition."""
        return f"drawing{DRAWING}-seed{self.seed}-train{self.train}-test{self.test}"


DEFAULT = Edition()
