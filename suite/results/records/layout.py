"""A record's file as it was written, whatever git or an editor did to its layout."""

import codecs
import re

from suite.results.records.acceptance import parsed
from suite.results.records.record import digest, to_json

_STATED = re.compile(rb'"digest": "([0-9a-f]{64})"\s*}\s*\Z')  # the last field of a record


def as_written(content: bytes) -> bytes:
    """Return a record's file as it was written, if its values still are; else the content as it is.

    git and editors change line ends, indentation and escapes, or add a byte order mark. The digest covers all bytes, so
    it proves that they were restored.
    """
    if _sealed(content):
        return content
    try:
        restored = to_json(parsed(content.removeprefix(codecs.BOM_UTF8)))
    except (ValueError, TypeError):  # TypeError: it has a value that no record may have
        return content
    return restored if _sealed(restored) else content


def _sealed(content: bytes) -> bool:
    """Return whether the content ends with its own digest."""
    stated = _STATED.search(content[-200:])
    return stated is not None and digest(content, stated[1].decode()) == stated[1].decode()
