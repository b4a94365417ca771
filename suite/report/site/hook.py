"""MkDocs' hook (mkdocs.yml) for who runs `mkdocs build` by hand: without the generated pages nothing is built."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> None:
    """Raise MkDocs' Abort with the remedy if the pages have not been generated, as in a fresh clone."""
    if not (Path(config.docs_dir) / "index.md").is_file():
        from mkdocs.exceptions import Abort

        raise Abort("no generated pages, such as the home page; run `suite report` first, which builds the site too")
