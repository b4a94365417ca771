"""A campaign's records in one ZIP archive: equal bytes for equal records, validated when read.

A packed record's path treats the pack as a folder: CAMPAIGN.zip/NAME.json.
"""

import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path

SUFFIX = ".zip"
LARGEST_BYTES = 64 * 2**20  # of a pack
LARGEST_UNPACKED_BYTES = 256 * 2**20
LARGEST_RECORD_BYTES = 4 * 2**20
MOST_RECORDS = 4096
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,240}\.json")
_END = struct.Struct("<4s4H2LH")  # end record of an archive: member count, position of the directory
_LONGEST_ENTRY = 46 + 245 + 512  # bytes of a directory entry, with extras of other writers
_ZIP64 = b"PK\x06\x07", 20  # signature of the locator before the end of a large archive; its length in bytes
_UNKNOWN_ORDER = (1980, 1, 1, 0, 0, 0)  # the earliest time in ZIP
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, LookupError)


def packed(records: Mapping[str, bytes]) -> bytes:
    """Return the pack of records' files by name, without times, owners or write order.

    Another zlib may compress the same records differently. Raises ValueError for records that no pack may hold.
    """
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in sorted(records.items()):
            member = zipfile.ZipInfo(name, _UNKNOWN_ORDER)
            member.create_system, member.external_attr = 3, (stat.S_IFREG | 0o644) << 16  # always Unix
            archive.writestr(member, content, zipfile.ZIP_DEFLATED, 9)
    pack = file.getvalue()
    _opened(pack)
    return pack


def is_pack(path: Path) -> bool:
    """Return whether a path is a pack's file, sound or not."""
    return path.name.endswith(SUFFIX) and path.is_file()


def around(path: Path) -> Path | None:
    """Return the pack that contains a record's path; None outside a pack."""
    return path.parent if is_pack(path.parent) else None


def records(pack: Path) -> list[Path]:
    """Return the path of each record in a pack, sorted. Raises ValueError if the pack is invalid."""
    return [pack / name for name in sorted(_opened(_bytes(pack)).namelist())]


def content(path: Path) -> bytes:
    """Return the bytes of a packed record. Raises ValueError if they cannot be read."""
    archive = _opened(_bytes(path.parent))
    try:
        member = archive.getinfo(path.name)
    except KeyError:
        raise ValueError("its pack has no record of that name; list its records with suite validate PACK") from None
    try:
        unpacked = archive.read(member)
    except _DAMAGED as error:
        raise ValueError(f"it is damaged in its pack: {error}") from None
    if len(unpacked) != member.file_size:
        raise ValueError(f"it is damaged in its pack: {len(unpacked)} of {member.file_size} bytes")
    return unpacked


def _bytes(pack: Path) -> bytes:
    length = pack.stat().st_size
    if length <= LARGEST_BYTES:
        with pack.open("rb") as file:
            return file.read(length)  # a pack that grows meanwhile is truncated and rejected
    raise ValueError(f"more than the {LARGEST_BYTES} bytes that a pack may have")


@lru_cache(16)  # by its bytes; the records of one pack are read one after another
def _opened(pack: bytes) -> zipfile.ZipFile:
    """Return a pack's checked archive; nothing is unpacked yet. Raises ValueError if the pack is invalid."""
    count = _counted(pack)
    try:
        archive = zipfile.ZipFile(BytesIO(pack))
    except _DAMAGED as error:
        raise ValueError(f"incomplete ZIP archive: {error}") from None
    members = archive.infolist()
    if len(members) != count:
        raise ValueError(f"incomplete ZIP archive: {len(members)} of {count} members")
    for member in members:
        if reason := _fault(member):
            raise ValueError(f"member {member.orig_filename[:300]!r} {reason}")
    twice = [name for name, count in Counter(member.filename for member in members).items() if count > 1]
    if twice:
        raise ValueError(f"member {twice[0]!r} is repeated")
    if sum(member.file_size for member in members) > LARGEST_UNPACKED_BYTES:
        raise ValueError(f"more than {LARGEST_UNPACKED_BYTES} bytes when unpacked")
    if sum(member.compress_size for member in members) > len(pack):
        raise ValueError("its members overlap")
    return archive


def _counted(pack: bytes) -> int:
    """Return the member count that an archive's end record states, before members are read.

    Raises ValueError if the count exceeds the limit, or if bytes lie before the first member or around the directory:
    another reader could find another archive in them.
    """
    if not pack.startswith(b"PK\x03\x04"):
        raise ValueError("no ZIP archive that begins with a record")
    end = pack[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\x05\x06"):
        raise ValueError("incomplete ZIP archive: it is truncated, or data follow its end")
    signature, length = _ZIP64
    _, disk, first_disk, here, count, directory_bytes, directory_at, comment = _END.unpack(end)
    if pack[-_END.size - length :].startswith(signature) or disk or first_disk or comment or here != count:
        raise ValueError("a ZIP archive with several disks, ZIP64 or a comment, which no pack may have")
    if count > MOST_RECORDS or directory_bytes > MOST_RECORDS * _LONGEST_ENTRY:
        raise ValueError(f"{count} members, more than the {MOST_RECORDS} that a pack may have")
    if directory_at + directory_bytes + len(end) != len(pack):
        raise ValueError("incomplete ZIP archive: its directory is not where its end says")
    return count


def _fault(member: zipfile.ZipInfo) -> str:
    """Return why a pack may not have a member; '' if it may."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) and not member.is_dir():
        return "is a link or a device"
    if member.orig_filename != member.filename or not _NAME.fullmatch(member.filename) or ".." in member.filename:
        return "is no record's file; a pack holds only NAME.json, without folders, as from 'zip -j'"
    if member.flag_bits & 0x1:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is not compressed by deflate"
    if member.file_size > LARGEST_RECORD_BYTES:
        return f"unpacks to {member.file_size} bytes, more than the {LARGEST_RECORD_BYTES} that a record may have"
    return ""
