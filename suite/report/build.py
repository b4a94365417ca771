"""The built site: MkDocs, strict, from rendered pages to build/html."""

import os
import subprocess
import sys
from pathlib import Path

_LAST_LINES = 12


def build(root: Path) -> Path:
    """Build the site below the checkout's root and return its first page.

    Raises RuntimeError with MkDocs' last words if it finds anything wrong.
    """
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--config-file",
        str(root / "mkdocs.yml"),
    ]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    answer = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **quiet}, check=False)
    if answer.returncode:
        words = "\n".join((answer.stdout + answer.stderr).strip().splitlines()[-_LAST_LINES:])
        if "No module named mkdocs" in words:
            words = "MkDocs is not installed; install the site extra: pip install '.[site]', or add --no-build"
        raise RuntimeError(f"the site was not built: {words}")
    return root / "build" / "html" / "index.html"
