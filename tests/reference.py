"""What is stored of each model, a file each: what its source documents, and what other frameworks compute of it.

`nox -s parity -- --store NAME` writes `tests/references/NAME.json`, and git shows what is other then. Its parts:
`dataset`; `counts` of parameters and FLOP; `claims`, with numbers and grade; `learns`, the steps within which each
implementation's loss falls by 30 % on data that can be learnt, to be raised by hand where 12 or 20 are too few, and
empty if it need not fall; `grid`, counts by the widths of hidden layers; `computed`, by the control in PyTorch;
`served`, by keras.applications. This file needs nothing but Python, as Keras may run where JAX does not.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "references"


def names() -> tuple[str, ...]:
    """Return the names that have a reference."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def of(name: str) -> dict[str, Any]:
    """Return what is stored of a model, by its parts.

    Raises LookupError if there is nothing.
    """
    file = FOLDER / f"{name}.json"
    if not file.exists():
        raise LookupError(f"no reference for '{name}'; make it with nox -s parity -- --store {name}")
    return json.loads(file.read_text(encoding="utf-8"))


def store(name: str, **parts: Any) -> Path:
    """Write parts of a model's reference, a line each, beside those that there are; return the file."""
    file = FOLDER / f"{name}.json"
    whole = {**(of(name) if file.exists() else {}), **parts}
    lines = (f"{json.dumps(part)}: {json.dumps(content, separators=(',', ':'))}" for part, content in whole.items())
    FOLDER.mkdir(exist_ok=True)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return file
