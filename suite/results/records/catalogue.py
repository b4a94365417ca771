"""The catalogue: every workload's description, as published, so that reports need no model's code."""

from pathlib import Path

import msgspec

from suite.workload import Description

FILE_NAME = "catalogue.json"


def read(folder: Path) -> tuple[Description, ...]:
    """Return the descriptions in a folder's catalogue; none if it has no catalogue.

    Raises ValueError naming the file if it is no catalogue.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Description, ...], strict=False)
    except (OSError, msgspec.MsgspecError) as error:
        raise ValueError(f"'{path}' is no catalogue: {error}; write it anew with nox -s catalogue") from None
