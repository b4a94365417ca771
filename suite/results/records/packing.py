"""A campaign's pack on disk: written whole or not at all, and never with another record under a name that it has."""

from collections.abc import Mapping
from pathlib import Path

from suite.results.records import files, packs, store


def pack_path(folder: Path, campaign: str) -> Path:
    """Return where a folder has the pack of a campaign."""
    return folder / f"{campaign}{packs.SUFFIX}"


def pack(campaign: Path, added: Mapping[str, bytes] | None = None) -> Path:
    """Put a campaign's loose records and those added into the pack beside its folder, which goes; return the pack.

    A pack that is there keeps every record, byte for byte, and stays as it is if nothing is new. Raises ValueError if a
    record would be another or cannot be packed, RuntimeError if the disk refuses.
    """
    target, loose = pack_path(campaign.parent, campaign.name), store.of(campaign)
    packed = {path.name: store.content(path) for path in store.of(target)}
    records = dict(packed)
    for name, content in (*((path.name, store.content(path)) for path in loose), *(added or {}).items()):
        if records.setdefault(name, content) != content:
            raise ValueError(f"'{target / name}' exists and differs; a published record is never changed")
    if records != packed:
        _replace(target, _packed(target, records))
    with files.writing(campaign):
        for path in loose:
            path.unlink()
        if loose and not any(campaign.iterdir()):
            campaign.rmdir()
    return target


def _packed(target: Path, records: Mapping[str, bytes]) -> bytes:
    try:
        return packs.packed(records)
    except ValueError as error:
        raise ValueError(f"'{target}' cannot hold these records: {error}") from None


def _replace(path: Path, content: bytes) -> None:
    try:
        with files.draft(path, content) as draft:
            draft.replace(path)
    except OSError as error:
        raise RuntimeError(f"cannot write '{path}': {error.strerror or error}; {files.REMEDY}") from error
