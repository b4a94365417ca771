"""Visit every page of the built site: `python -m visits [--site FOLDER] [PAGE...]`, with the tests on Python's path.

With scripts on: no request leaves, nothing is said on the console, every chart is drawn, every link lands, tables
sort, and axe has no serious finding, light and dark; at 360 and at 3840 pixels nothing is wider than the page. On
paper nothing is cut, and there is no navigation. With scripts off the page is there with its pictures. As many pages
are open at once as there are cores.
"""

import argparse
import multiprocessing
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import track

from suite.system.counters import granted_cores
from visits.page import visited

ROOT = Path(__file__).parents[2]
EMBEDDED, EVERY = "embed", 20  # folder of pages for other sites, and how many of them one stands for
SERVED = "404.html"  # a server shows it under any address, so its own are absolute


def pages_of(site: Path) -> list[Path]:
    """Return the pages of a site; of the embedded ones, which are alike, the first and every so many."""
    all_pages = [path for path in sorted(site.rglob("*.html")) if path.name != SERVED]
    embedded = [path for path in all_pages if path.is_relative_to(site / EMBEDDED)]
    return [path for path in all_pages if path not in embedded] + embedded[::EVERY]


def main() -> int:
    """Return 0 if no page has a trouble."""
    asked = argparse.ArgumentParser(prog="python -m visits", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("--site", type=Path, default=ROOT / "build" / "html", metavar="FOLDER")
    asked.add_argument("pages", nargs="*", metavar="PAGE", help="below the folder, such as index.html; all if none")
    given = asked.parse_args()
    found = [given.site / page for page in given.pages] or pages_of(given.site)
    missing = [path for path in found if not path.is_file()]
    if missing or not found:
        asked.error(f"no page '{missing[0] if missing else given.site}'; build the site first: nox -s site")
    if shutil.which("chromium") is None:
        asked.error("chromium is not installed")
    return 1 if visit(given.site, found) else 0


def visit(site: Path, paths: Sequence[Path]) -> int:
    """Print what is wrong with these pages of a site, and return how many have a trouble."""
    chromium, start, wrong = shutil.which("chromium"), time.monotonic(), 0
    with ProcessPoolExecutor(granted_cores(), multiprocessing.get_context("spawn")) as pool:
        visits = {pool.submit(visited, chromium, site, path): path for path in paths}
        for done in track(as_completed(visits), "pages", len(visits), console=Console(stderr=True)):
            wrong += bool(done.result())
            for words in done.result():
                print(f"{visits[done].relative_to(site)}: {words}", flush=True)
    print(f"{len(paths)} pages visited in {time.monotonic() - start:.0f} s, {wrong} with troubles", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
