"""Build the sites of unlike records and visit them: `python -m worlds [WORLD...]`, with the tests on Python's path."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from visits.__main__ import visit

from suite.report.site import build, pages
from suite.results.records import catalogue, store
from worlds import WORLDS, pages_of

ROOT = Path(__file__).parents[2]


def built(world: str, folder: Path) -> Path:
    """Return the built site of a world."""
    generated = shutil.ignore_patterns("records", *pages.GENERATED)
    shutil.copytree(ROOT / "site", folder / "site", ignore=generated)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    published = folder / "site" / "records"
    for campaign in {store.add(record, published).parent for record in WORLDS[world]()}:
        store.pack(campaign)
    published.mkdir(exist_ok=True)
    shutil.copy(ROOT / "site" / "records" / catalogue.FILE_NAME, published)
    pages.render((published, folder / "records"), folder / "site")
    return build.build(folder).parent


def main() -> int:
    """Return 0 if no page of any world has a trouble."""
    asked = argparse.ArgumentParser(prog="python -m worlds", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("worlds", nargs="*", metavar="WORLD", help=f"all if none: {', '.join(WORLDS)}")
    names = asked.parse_args().worlds or list(WORLDS)
    if unknown := [name for name in names if name not in WORLDS]:
        asked.error(f"no world '{unknown[0]}'; there are: {', '.join(WORLDS)}")
    if shutil.which("chromium") is None:
        asked.error("chromium is not installed")
    wrong = 0
    for name in names:
        print(f"{name}:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            site = built(name, Path(folder))
            wrong += visit(site, list(pages_of(site)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
