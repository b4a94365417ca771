"""Findings of sessions in JSON files of the site's folder of evidence, rendered by the pages."""

from pathlib import Path
from typing import ClassVar, Self

import msgspec

from suite.results.records.record import to_json
from suite.workload import Plain


class EvidenceFile(Plain, frozen=True, kw_only=True):
    """The content of a file of evidence."""

    PLACE: ClassVar[str]  # its file, or the folder of the files of its kind
    NAMED_BY: ClassVar[tuple[str, ...]] = ()  # the fields that name its file in the folder of its kind
    WRITER: ClassVar[str]

    def write(self, folder: Path) -> Path:
        """Write it into the folder of evidence; return its file."""
        name = ".".join(getattr(self, field) for field in self.NAMED_BY)
        file = folder / self.PLACE / f"{name}.json" if name else folder / self.PLACE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_json(self))
        return file

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the one of its kind in the folder of evidence; None if there is none.

        Raises ValueError naming the file if it is invalid.
        """
        file = folder / cls.PLACE
        return cls._in(file) if file.exists() else None

    @classmethod
    def read_all(cls, folder: Path) -> tuple[Self, ...]:
        """Return all of its kind in the folder of evidence, sorted by file name. Raises as `read` does."""
        return tuple(map(cls._in, sorted((folder / cls.PLACE).glob("*.json"))))

    @classmethod
    def _in(cls, file: Path) -> Self:
        try:
            return msgspec.json.decode(file.read_bytes(), type=cls)
        except msgspec.DecodeError as error:
            raise ValueError(f"'{file}' is not what {cls.WRITER} writes: {error}") from error
