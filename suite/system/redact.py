"""Redacts text that leaves the machine: paths, hosts, users, addresses, serial numbers and UUIDs."""

import getpass
import platform
import re
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_UUID = r"(?i)\b(?:(?:gpu|mig)-)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b"
_SERIAL = r"(?i)\bserial(?: number)?[\s:=#]+\w[\w-]*"
_ADDRESSES = (
    r"\b\w[\w+.-]*://[^\s'\"<>]+",  # URLs
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # e-mail
    r"(?<![\w.=-])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b",  # not a version such as jax==0.12.0.1
    r"(?i)(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])",  # of network cards
    r"(?i)(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}:?(?:[0-9a-f]{1,4})?(?![\w:])",
    r"(?i)(?<![\w:])[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*::[0-9a-f:]*[0-9a-f](?![\w:])",
)
_QUOTED = r"(['\"`])(?:~|/|[A-Za-z]:[\\/]|\\\\)(?:(?!\1).)*\1"
_PATH = r"(?<![\w.<>/\])}])(?:file:|~|[A-Za-z]:(?=\\))?(?:/|\\\\?)(?=[\w.~$-])[^\s'\"`:;,()<>\[\]]*"
_COMMON = frozenset({"root", "user", "localhost", "none", "nobody"})  # names that identify nobody


def anonymous(text: str) -> str:
    """Return the text as one printable line, with placeholders for all that could identify the machine or its owner."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    text = re.sub(_QUOTED, r"\1<path>\1", text)
    for folder in _folders():
        text = re.sub(rf"{re.escape(folder)}(?!\w)[^\s'\"`:;,()<>\[\]]*", "<path>", text)
    text = re.sub(_UUID, "<uuid>", text)
    text = re.sub(_SERIAL, "<serial>", text)
    for address in _ADDRESSES:
        text = re.sub(address, "<address>", text)
    text = re.sub(_PATH, "<path>", text)
    for name, word in _names():
        text = re.sub(rf"(?i)(?<![\w]){re.escape(name)}(?![\w])", word, text)
    return text


@cache
def _folders() -> tuple[str, ...]:
    """Return this user's known folders, which may contain blanks, longest first."""
    folders = {sys.prefix, tempfile.gettempdir()}
    for folder in (Path.home, Path.cwd):
        with suppress(RuntimeError, OSError):
            folders.add(str(folder()))
    return tuple(sorted((folder for folder in folders if len(folder) > 1), key=len, reverse=True))


@cache
def _names() -> tuple[tuple[str, str], ...]:
    names = {platform.node(): "<host>", platform.node().partition(".")[0]: "<host>"}
    with suppress(OSError, KeyError, ImportError):
        names[getpass.getuser()] = "<user>"
    return tuple((name, word) for name, word in names.items() if len(name) > 2 and name.lower() not in _COMMON)
