"""What a child process imports: the parent's own package, wherever it was started, and no script of the user."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent  # that this process runs
# A folder that has the package and nothing else: beside a checkout's own package may lie a 'random.py'.
_PACKAGE_ALONE = PACKAGE / "child_path"


def child_imports(python: str = sys.executable) -> dict[str, str]:
    """Return the environment in which a Python imports this package; another interpreter gets nothing else of ours.

    `python -m` would look into the current folder first: there may lie another checkout of the suite, whose code would
    be measured in this one's name, or a script called as a module of Python's own.
    """
    mine = Path(python).absolute() == Path(sys.executable).absolute()
    path = [str(_PACKAGE_ALONE), *(_inherited() if mine else ())]
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(path)}


def _inherited() -> list[str]:
    """Return the path of this process but for the folders that only its start or the package brought onto it."""
    left_out = {Path.cwd(), PACKAGE.parent, Path(sys.argv[0]).absolute().parent}
    return [path for path in sys.path if path and Path(path).absolute() not in left_out]
