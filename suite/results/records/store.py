"""Records on disk: written once and atomically, validated when read.

Local campaigns are folders, published ones are packs: FOLDER/CAMPAIGN/NAME.json or FOLDER/CAMPAIGN.zip/NAME.json.
`read` and `content` take both kinds of path.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from suite.results.records import files, packs
from suite.results.records.acceptance import validate
from suite.results.records.layout import as_written
from suite.results.records.record import Record, sealed, to_json

LARGEST_BYTES = packs.LARGEST_RECORD_BYTES
PARTIAL = "partial-"  # prefix of an unfinished campaign's folder
_LONGEST_LINE = 500


def write_once(path: Path, content: bytes) -> None:
    """Write content atomically to a path that does not exist yet.

    Raises FileExistsError if the path exists, RuntimeError with a remedy if the disk or folder refuses.
    """
    try:
        with files.draft(path, content) as draft:
            files.place_once(draft, path)
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(path):
            raise FileExistsError(f"'{path}' already exists; records are never edited") from None
        raise files.refusal(path, error, "choose another folder with --out") from error


def add(record: Record, folder: Path) -> Path:
    """Seal the record and write it to folder/campaign/name.json; return the path."""
    return put(record, folder / record.campaign)


def put(record: Record, folder: Path) -> Path:
    """Seal the record and write it into the folder under its name; return the path."""
    path = folder / f"{record.name}.json"
    write_once(path, to_json(sealed(record)))
    return path


def pack_path(folder: Path, campaign: str) -> Path:
    """Return the path of a campaign's pack in a folder."""
    return folder / f"{campaign}{packs.SUFFIX}"


def pack(campaign: Path, added: Mapping[str, bytes] | None = None) -> Path:
    """Put a campaign's loose records and `added` into the pack beside its folder, delete the folder; return the pack.

    An existing pack keeps all its records and is not rewritten if nothing is new. Raises ValueError if a record differs
    from the packed one or cannot be packed, RuntimeError if it cannot be written.
    """
    target, loose = pack_path(campaign.parent, campaign.name), of(campaign)
    before = {path.name: content(path) for path in of(target)}
    records = dict(before)
    for name, new in (*((path.name, content(path)) for path in loose), *(added or {}).items()):
        if records.setdefault(name, new) != new:
            raise ValueError(f"'{target / name}' exists and differs; a published record is never changed")
    if records != before:
        try:
            with files.draft(target, packs.packed(records)) as draft:
                draft.replace(target)
        except ValueError as error:
            raise ValueError(f"'{target}' cannot hold these records: {error}") from None
        except OSError as error:
            raise files.refusal(target, error) from error
    with files.writing(campaign):
        for path in loose:
            path.unlink()
        if loose and not any(campaign.iterdir()):
            campaign.rmdir()
    return target


def read(path: Path) -> Record:
    """Return the record at a path, which may be inside a pack.

    Raises ValueError with the file, the place in it and the reason if it is no valid record.
    """
    try:
        return _accepted(_content(path))
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None


def content(path: Path) -> bytes:
    """Return a record's file as it was written, packed or loose, without validation. Raises ValueError as `read`."""
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
    return as_written(held)


def _refusal(path: Path, error: OSError | ValueError) -> ValueError:
    """Return the one-line error with path, reason and remedy."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    kind, remedy = "record", "move it away to continue without it"
    if packs.is_pack(path):
        kind, remedy = "pack of records", f"download it again, or {remedy}"
    elif packs.around(path):
        remedy = "download the pack again, or move it away to continue without it"
    return ValueError(f"{_line(str(path))!r} is not a readable {kind}: {_line(str(reason))}; {remedy}")


_accepted = lru_cache(2**13)(validate)  # one command may read its records several times


def _line(text: str) -> str:
    """Return text from a file as one short printable line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[-_LONGEST_LINE:]


def paths(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the path of every record below the folders, sorted, without the catalogue and the schema.

    A pack that cannot be read yields its own path.
    """
    for folder in folders:
        if folder.is_dir():
            yield from sorted((*_shown(folder.glob("*/*.json")), *packed(folder)), key=_order)


def packed(folder: Path, deep: bool = False) -> Iterator[Path]:
    """Yield the path of every record in the packs of a folder, or below it; an unreadable pack yields its own path."""
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
    """Return the names of a folder's campaigns, packed or not."""
    places = (path for path in folder.glob("*") if path.is_dir() or packs.is_pack(path))
    return frozenset(path.name.removesuffix(packs.SUFFIX) for path in places)


def load(folders: Iterable[Path]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Return all readable records below the folders, and one line for each unreadable or misplaced one.

    If several folders have a copy, such as the published one, the first counts.
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
    """Return the message for a record at the wrong path, with the right one; '' if the path is right.

    `campaign` replaces the campaign that the path implies, as for a pack under another name.
    """
    place = campaign or _place(path)[0], path.stem
    if place == (record.campaign, record.name):
        return ""
    if packs.around(path):
        return (
            f"{_line(str(path))!r} is the record '{record.name}' of campaign '{record.campaign}'; it belongs in "
            f"'{record.campaign}{packs.SUFFIX}' as '{record.name}.json'"
        )
    return f"{_line(str(path))!r} is the record '{record.campaign}/{record.name}.json'; put it there"


def _place(path: Path) -> tuple[str, str]:
    """Return the campaign and the name that a record at a path must have."""
    if packs.is_pack(path):
        return path.name.removesuffix(packs.SUFFIX), ""
    return path.parent.name.removesuffix(packs.SUFFIX).removeprefix(PARTIAL), path.stem


def _order(path: Path) -> tuple[str, str, bool]:
    """Return the sort key of a record's path; packed records come first, since they are published."""
    place = path if packs.is_pack(path) else path.parent
    return place.name.removesuffix(packs.SUFFIX), path.name, not place.name.endswith(packs.SUFFIX)


def _shown(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if not path.name.startswith("."))
