"""Stands for the package on the path of a child, so that nothing else of the package's folder comes with it.

Whatever is imported from here is the real package's, with its own place; see suite/child_imports.py.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
__path__[:] = [str(_PACKAGE)]
__file__ = str(_PACKAGE / "__init__.py")
exec(compile((_PACKAGE / "__init__.py").read_bytes(), __file__, "exec"))
