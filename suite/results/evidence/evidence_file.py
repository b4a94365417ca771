"""Findings of sessions in JSON files of the site's folder of evidence, rendered by the pages.

A file holds one document, or one a line.
"""

import re
from pathlib import Path
from typing import ClassVar, Self

import msgspec

from suite.results.records import files
from suite.results.records.acceptance import fault
from suite.results.records.record import to_json
from suite.workload import Plain


class EvidenceFile(Plain, frozen=True, kw_only=True):
    """The content of a file of evidence, or of a line of it."""

    PLACE: ClassVar[str]  # its file; {field} stands for a field's value, so that each value has a file
    LINE_BY: ClassVar[tuple[str, ...]] = ()  # each combination of these fields has a line; () where a file has no lines
    WRITER: ClassVar[str]

    def write(self, folder: Path) -> Path:
        """Write it into the folder of evidence, in place of what has the same key; return its file.

        Raises as `read` does.
        """
        file = folder / self.PLACE.format_map(msgspec.structs.asdict(self))
        content = to_json(self)
        if self.LINE_BY:
            others = [each for each in self.read_all(folder) if each._key() != self._key()]
            content = msgspec.json.Encoder().encode_lines(sorted([*others, self], key=EvidenceFile._key))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the one of its kind in the folder of evidence; None if there is none.

        Raises ValueError naming the file if it is invalid.
        """
        return next(iter(cls.read_all(folder)), None)

    @classmethod
    def read_all(cls, folder: Path) -> tuple[Self, ...]:
        """Return all of its kind in the folder of evidence, sorted by file and line. Raises as `read` does."""
        paths = sorted(folder.glob(re.sub(r"\{\w+\}", "*", cls.PLACE)))
        return tuple(one for path in paths for one in cls._in(path))

    @classmethod
    def _in(cls, file: Path) -> list[Self]:
        decoder, content = msgspec.json.Decoder(cls), files.content(file)
        try:
            return decoder.decode_lines(content) if cls.LINE_BY else [decoder.decode(content)]
        except msgspec.DecodeError as error:
            raise ValueError(
                f"'{file}' is not what {cls.WRITER} writes: {error if cls.LINE_BY else fault(content, error)}"
            ) from error

    def _key(self) -> tuple[str, ...]:
        return tuple(getattr(self, field) for field in self.LINE_BY)
