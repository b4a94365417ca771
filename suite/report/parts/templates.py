"""Pages and their parts from Jinja2 templates, which escape every value that is not HTML."""

from collections.abc import Set
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from suite.report.parts.html import Html, address, anchor, marked
from suite.report.parts.rows import laid_out

_PARTS = "parts.html.j2"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("suite.report"),
        autoescape=True,
        finalize=Html.escape,  # stricter than Jinja2's own: Markdown reads the output too
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"address": address, "anchor": anchor, "marked": marked}
    environment.policies["json.dumps_kwargs"] = {}  # keep a specification's order
    environment.globals |= {"laid_out": laid_out}
    return environment


def render(path: str, local: Set[str] = frozenset(), template: str = "", **values: Any) -> str:
    """Return the page at a path below the site's sources, from its own template if none is given.

    Templates know the way `up` to the site's root, and the `local` campaigns, whose records lie elsewhere. Raises
    jinja2.UndefinedError if a template uses a missing value.
    """
    return _environment().get_template(template or f"{path}.j2").render(_place(path, local) | values)


def parts(path: str, local: Set[str] = frozenset()) -> Any:
    """Return the macros of `parts.html.j2` for a page at a path, each a function that returns HTML."""
    return _environment().get_template(_PARTS).make_module(_place(path, local))


def _place(path: str, local: Set[str]) -> dict[str, Any]:
    return {"up": "../" * path.count("/"), "local": local}
