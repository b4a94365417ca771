"""Records on disk: written once, whole or not at all, and read with suspicion.

What was measured here lies in a folder for each campaign, what was published in a pack: FOLDER/CAMPAIGN/NAME.json or
FOLDER/CAMPAIGN.zip/NAME.json. Both are paths that `read` and `content` take.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from suite.results.records import files, packs
from suite.results.records.acceptance import validate
from suite.results.records.record import Record, sealed, to_json

LARGEST_BYTES = packs.LARGEST_RECORD_BYTES
PARTIAL = "partial-"  # begins the folder name of what an interrupted campaign has so far
_LONGEST_LINE = 500
_REMEDY = "free some space or choose another folder with --out"


def write_once(path: Path, content: bytes, remedy: str = _REMEDY) -> None:
    """Put content at a path that does not exist yet, atomically.

    Raises FileExistsError if something is there, RuntimeError with the remedy if the disk or folder refuses.
    """
    try:
        with files.draft(path, content) as draft:
            os.link(draft, path)  # unlike a rename, refuses to replace
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(path):
            raise FileExistsError(f"'{path}' is there already; records are never edited") from None
        raise RuntimeError(f"cannot write '{path}': {error.strerror or error}; {remedy}") from error


def add(record: Record, folder: Path) -> Path:
    """Seal the record and write it to folder/campaign/name.json; return the path."""
    return put(record, folder / record.campaign)


def put(record: Record, folder: Path) -> Path:
    """Seal the record and write it into the folder under its name; return the path."""
    path = folder / f"{record.name}.json"
    write_once(path, to_json(sealed(record)))
    return path


def read(path: Path) -> Record:
    """Return the record at a path, which may lead into a pack.

    Raises ValueError, naming the file, the place in it and the reason, if it is not a record as it was written.
    """
    try:
        return _accepted(_content(path))
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None


def content(path: Path) -> bytes:
    """Return the bytes of a record's file, in a pack or not, whatever is in them. Raises ValueError as `read` does."""
    try:
        return _content(path)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None


def _content(path: Path) -> bytes:
    if packs.around(path):
        return packs.content(path)
    if packs.is_pack(path):
        packs.records(path)
        raise ValueError("it holds several records; name one of them, PACK.zip/NAME.json")
    if not path.is_file():
        raise ValueError("it is no file")
    with path.open("rb") as file:
        held = file.read(LARGEST_BYTES + 1)
    if len(held) > LARGEST_BYTES:
        raise ValueError(f"more than the {LARGEST_BYTES} bytes that a record may have")
    return held


def _refusal(path: Path, error: OSError | ValueError) -> ValueError:
    """Return the error that says in one line what cannot be read, why, and what to do."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    kind, remedy = "record", "move it away to go on without it"
    if packs.is_pack(path):
        kind, remedy = "pack of records", f"take it anew from where it came, or {remedy}"
    elif packs.around(path):
        remedy = "take the pack anew from where it came, or move it away to go on without it"
    return ValueError(f"{_line(str(path))!r} is not a readable {kind}: {_line(str(reason))}; {remedy}")


_accepted = lru_cache(2**13)(validate)  # one command reads its records to render them, and to print what they say


def _line(text: str) -> str:
    """Return text from a file on one short line that a terminal prints as it is."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[-_LONGEST_LINE:]


def paths(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the path of every record below the folders, sorted; the catalogue and schema beside them are no records.

    A pack that cannot be read has its own path alone.
    """
    for folder in folders:
        if folder.is_dir():
            yield from sorted((*_shown(folder.glob("*/*.json")), *packed(folder)), key=_order)


def packed(folder: Path, deep: bool = False) -> Iterator[Path]:
    """Yield the path of every record in the packs of a folder, or below it; of one that cannot be read its own path."""
    for pack in filter(packs.is_pack, _shown(folder.glob(f"{'**/' if deep else ''}*{packs.SUFFIX}"))):
        try:
            yield from packs.records(pack)
        except (OSError, ValueError):
            yield pack


def of(campaign: Path) -> list[Path]:
    """Return the path of every record in a campaign's folder or pack, sorted.

    Raises ValueError if the pack cannot be read.
    """
    if not packs.is_pack(campaign):
        return sorted(_shown(campaign.glob("*.json")))
    try:
        return packs.records(campaign)
    except (OSError, ValueError) as error:
        raise _refusal(campaign, error) from None


def campaigns(folder: Path) -> frozenset[str]:
    """Return the names of the campaigns that a folder has, packed or not."""
    there = (path for path in folder.glob("*") if path.is_dir() or packs.is_pack(path))
    return frozenset(path.name.removesuffix(packs.SUFFIX) for path in there)


def load(folders: Iterable[Path]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Return all readable records below the folders and one line for each that is not, or lies where another does.

    Of copies in several folders, such as that which was published, the first counts.
    """
    places = dict[tuple[str, str], Path]()
    for path in paths(folders):
        places.setdefault(_place(path), path)
    records, problems = [], []
    for path in places.values():
        try:
            record = read(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        if problem := misplaced(path, record):
            problems.append(problem)
        else:
            records.append(record)
    return tuple(records), tuple(problems)


def misplaced(path: Path, record: Record, campaign: str = "") -> str:
    """Return that a record lies at a path where it is not looked for, and where it belongs; '' if it lies there.

    `campaign` is the one of a pack whose own name does not count.
    """
    place = campaign or _place(path)[0], path.stem
    if place == (record.campaign, record.name):
        return ""
    if packs.around(path):
        return (
            f"{_line(str(path))!r} is the record '{record.name}' of campaign '{record.campaign}'; it belongs into "
            f"'{record.campaign}{packs.SUFFIX}' as '{record.name}.json'"
        )
    return f"{_line(str(path))!r} is the record '{record.campaign}/{record.name}.json'; put it there"


def _place(path: Path) -> tuple[str, str]:
    """Return the campaign and the name that a record at a path has to have."""
    if packs.is_pack(path):
        return path.name.removesuffix(packs.SUFFIX), ""
    return path.parent.name.removesuffix(packs.SUFFIX).removeprefix(PARTIAL), path.stem


def _order(path: Path) -> tuple[str, str, bool]:
    """Return by what records in a folder are sorted: packed ones first, as they are the published ones."""
    place = path if packs.is_pack(path) else path.parent
    return place.name.removesuffix(packs.SUFFIX), path.name, not place.name.endswith(packs.SUFFIX)


def _shown(found: Iterable[Path]) -> Iterator[Path]:
    return (path for path in found if not path.name.startswith("."))
