"""A campaign's pack on disk: written atomically; its records are never changed."""

from collections.abc import Mapping
from pathlib import Path

from suite.results.records import files, packs, store


def pack_path(folder: Path, campaign: str) -> Path:
    """Return the path of a campaign's pack in a folder."""
    return folder / f"{campaign}{packs.SUFFIX}"


def pack(campaign: Path, added: Mapping[str, bytes] | None = None) -> Path:
    """Put a campaign's loose records and `added` into the pack beside its folder, delete the folder; return the pack.

    An existing pack keeps all its records and is not rewritten if nothing is new. Raises ValueError if a record differs
    from the packed one or cannot be packed, RuntimeError if it cannot be written.
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
