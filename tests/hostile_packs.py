"""Hostile packs by kind of fault, each with the error that refuses it."""

import io
import stat
import struct
import zipfile

from suite.results.records import packs


def archive(members, **options):
    """Return a ZIP archive of members, a list of a name or an entry and its bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, **options) as made:
        for name, content in members:
            made.writestr(name, content)
    return file.getvalue()


def entry(name="x.json", **fields):
    made = zipfile.ZipInfo(name)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def patched(content, at, form, value, signature=b"PK\x01\x02"):
    """Return an archive with another value at a place of its first such part, an entry of the directory."""
    start = content.index(signature) + at
    return content[:start] + struct.pack(form, value) + content[start + struct.calcsize(form) :]


def ended(content, at, form, value):
    return patched(content, at, form, value, b"PK\x05\x06")


GOOD = archive([("x.json", b"{}")])
LINK = stat.S_IFLNK << 16
NO_RECORD = "is no record's file; a pack holds only NAME.json, without folders"
HOSTILE = {
    "empty": (b"", "no ZIP archive"),
    "no archive": (b"PK" * 99, "no ZIP archive"),
    "without a member": (archive([]), "no ZIP archive that begins with a record"),
    "cut": (GOOD[:-1], "it is truncated"),
    "something behind it": (GOOD + b"\n", "data follow its end"),
    "something before it": (b"#!/bin/sh\n" + GOOD, "no ZIP archive that begins with a record"),
    "a comment": (GOOD[:-2] + b"\x01\x00x", "it is truncated, or data follow its end"),
    "a way out": (archive([("../x.json", b"{}")]), f"member '../x.json' {NO_RECORD}"),
    "from the root": (archive([("/etc/x.json", b"{}")]), NO_RECORD),
    "a drive": (archive([("c:\\x.json", b"{}")]), NO_RECORD),
    "dots": (archive([("a..json", b"{}")]), NO_RECORD),
    "a folder": (archive([("c/", b""), ("c/x.json", b"{}")]), f"member 'c/' {NO_RECORD}"),
    "a hidden file": (archive([(".x.json", b"{}")]), NO_RECORD),
    "no record's name": (archive([("x.py", b"{}")]), NO_RECORD),
    "a pack in a pack": (archive([("x.zip", GOOD)]), f"member 'x.zip' {NO_RECORD}"),
    "a name that ends early": (archive([("x.json_y", b"{}")]).replace(b"_y", b"\0y"), NO_RECORD),
    "a name of many lines": (archive([("x\nError: y.json", b"{}")]), NO_RECORD),
    "a name for a terminal": (archive([("\x1b[2Jx.json", b"{}")]), NO_RECORD),
    "a long name": (archive([("x" * 60_000 + ".json", b"{}")]), NO_RECORD),
    "twice": (archive([("x.json", b"1"), ("y.json", b"2")])
              .replace(b"y.json", b"x.json"), "member 'x.json' is repeated"),
    "a link": (archive([(entry(external_attr=LINK | 0o777 << 16), b"/etc/passwd")]), "is a link or a device"),
    "a device": (archive([(entry(external_attr=stat.S_IFCHR << 16), b"")]), "is a link or a device"),
    "encrypted": (patched(GOOD, 8, "<H", 1), "member 'x.json' is encrypted"),
    "bzip2": (archive([(entry(compress_type=zipfile.ZIP_BZIP2), b"{}")]), "is not compressed by deflate"),
    "an unknown method": (patched(GOOD, 10, "<H", 99), "is not compressed by deflate"),
    "a bomb": (archive([("x.json", bytes(2**22 + 1))]), "unpacks to 4194305 bytes, more than the 4194304"),
    "many bombs": (archive([(f"{n}.json", bytes(2**22)) for n in range(65)]), f"more than {2**28} bytes when unpacked"),
    "members in each other": (patched(GOOD, 20, "<L", 10**6), "its members overlap"),
    "many members": (archive([(f"{n}.json", b"") for n in range(packs.MOST_RECORDS + 1)]), "4097 members"),
    "less than it says": (ended(ended(GOOD, 8, "<H", 4), 10, "<H", 4), "incomplete ZIP archive: 1 of 4 members"),
    "a wide directory": (ended(GOOD, 12, "<L", 2**31), "1 members, more than the 4096 that a pack may have"),
    "several disks": (ended(GOOD, 4, "<H", 1), "with several disks"),
    "zip64": (GOOD[:-22] + b"PK\x06\x07" + bytes(16) + GOOD[-22:], "ZIP64 or a comment"),
    "a directory elsewhere": (ended(GOOD, 16, "<L", 2**31), "its directory is not where its end says"),
}  # fmt: skip
