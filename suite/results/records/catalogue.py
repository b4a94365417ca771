"""The published catalogue of all workloads' descriptions: reports need no model code."""

from pathlib import Path

import msgspec

from suite.results.records import files
from suite.workload import Description

FILE_NAME = "catalogue.json"


def read(folder: Path) -> tuple[Description, ...]:
    """Return the descriptions in a folder's catalogue; () if it has none. Raises ValueError if it is no catalogue."""
    path = folder / FILE_NAME
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(files.content(path), type=tuple[Description, ...], strict=False)
    except (OSError, msgspec.MsgspecError) as error:
        raise ValueError(f"'{path}' is no catalogue: {error}; rebuild it with nox -s catalogue") from None
