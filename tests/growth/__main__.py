"""Render and build the site from so many made-up records: `python -m growth [RECORDS...]`, with the tests on the path.

Ten records come from each machine. What changes nothing is rendered once more: then no file may be written.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import factory
import msgspec

from suite.report.site import build, pages
from suite.results.records import store
from suite.results.records.record import Record
from suite.system.counters import granted_cores

ROOT = Path(__file__).parents[2]
SIZES = (100, 1000)
WORKLOADS = ("mnist_mlp", "cifar10_mlp")  # of which each machine has ten records


def records(count: int) -> list[Record]:
    """Return that many records, ten a machine, each machine of another speed."""
    made: list[Record] = []
    for number in range((count + 9) // 10):
        host = msgspec.structs.replace(factory.HOST, name=f"machine-{number:04d}, 16 cores")
        made += factory.campaign(
            WORKLOADS,
            host,
            cpu=0.010 * (1 + number % 7),
            gpu=0.0002 * (1 + number % 5),
            campaign=f"20260101-{number:06d}-{host.slug}",
        )
    return made[:count]


def grown(count: int) -> dict[str, float]:
    """Return seconds for rendering, building and rendering again, by what was done."""
    with tempfile.TemporaryDirectory() as name:
        folder, seconds = Path(name), {}
        shutil.copytree(ROOT / "site", folder / "site", ignore=shutil.ignore_patterns("records", *pages.GENERATED))
        shutil.copy(ROOT / "mkdocs.yml", folder)
        published = folder / "site" / "records"
        for folder_of_campaign in {store.add(record, published).parent for record in records(count)}:
            store.pack(folder_of_campaign)
        for what in ("render", "render again", "build"):
            start = time.monotonic()
            if what == "build":
                build.build(folder)
            elif pages.render([published], folder / "site").written and what == "render again":
                raise RuntimeError("files were written that did not change")
            seconds[what] = time.monotonic() - start
    return seconds


def main() -> int:
    """Print a line for each size."""
    asked = argparse.ArgumentParser(prog="python -m growth", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("records", nargs="*", type=int, default=list(SIZES), metavar="RECORDS")
    print(f"{granted_cores()} cores")
    for count in asked.parse_args().records:
        seconds = grown(count)
        whole = seconds["render"] + seconds["build"]
        parts = ", ".join(f"{what} {value:.1f} s" for what, value in seconds.items())
        print(f"{count} records: {parts}; rendered and built in {whole:.1f} s, {1000 * whole / count:.0f} ms a record")
    return 0


if __name__ == "__main__":
    sys.exit(main())
