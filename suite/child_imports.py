"""Import path of child processes: the parent's own package from any working directory, and no user scripts."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent  # that this process runs
# A folder with the package and nothing else: a checkout may also contain a 'random.py'.
_PACKAGE_ALONE = PACKAGE / "child_path"


def child_imports(python: str = sys.executable) -> dict[str, str]:
    """Return the environment in which a Python imports this package; another interpreter gets only the package.

    `python -m` would first search the working directory: another checkout of the suite there would be measured instead,
    or a script would shadow a standard module.
    """
    same_python = Path(python).absolute() == Path(sys.executable).absolute()
    path = [str(_PACKAGE_ALONE), *(_inherited() if same_python else ())]
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(path)}


def _inherited() -> list[str]:
    """Return this process's path without the folders of its start and of the package."""
    left_out = {Path.cwd(), PACKAGE.parent, Path(sys.argv[0]).absolute().parent}
    return [path for path in sys.path if path and Path(path).absolute() not in left_out]
