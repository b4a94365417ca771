"""Render and build the site from so many made-up records: `python -m growth [RECORDS...]`, with the tests on the path.

Ten records come from each machine. Cold, every picture is drawn; then only pictures are kept, and all else is rendered
and built again; then one campaign is added. What changes nothing is rendered once more: then no file may be written.

Each step runs in a process of its own, which holds nothing of an earlier one. It says its seconds on the wall and, in
brackets, of all cores: those depend less on what else is running.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

import factory
import msgspec

from growth import render
from suite.report.site import build, pages
from suite.results.records import store
from suite.results.records.record import Record
from suite.system.counters import granted_cores

ROOT = Path(__file__).parents[2]
SIZES = (100, 1000)
WORKLOADS = ("mnist_mlp", "cifar10_mlp")  # of which each machine has ten records


def records(count: int, first: int = 0) -> list[Record]:
    """Return that many records, ten a machine from the `first` machine on, each of another speed."""
    made: list[Record] = []
    for number in range(first, first + (count + 9) // 10):
        host = msgspec.structs.replace(factory.HOST, name=f"machine-{number:04d}, 16 cores")
        made += factory.campaign(
            WORKLOADS,
            host,
            cpu=0.010 * (1 + number % 7),
            gpu=0.0002 * (1 + number % 5),
            campaign=f"20260101-{number:06d}-{host.slug}",
        )
    return made[:count]


def publish(added: Iterable[Record], published: Path) -> None:
    """Pack records in the folder of published ones."""
    for campaign in {store.add(record, published).parent for record in added}:
        store.pack(campaign)


def timed(folder: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds of rendering and of building, each in a new process, on the wall and of all cores.

    Raises RuntimeError if one fails.
    """
    seconds = {}
    for step in (render, build.build):
        wall, cores = time.monotonic(), sum(os.times()[:4])
        process = get_context("spawn").Process(target=step, args=(folder,))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError(f"{step.__name__} ended with {process.exitcode}")
        seconds[step.__name__] = time.monotonic() - wall, sum(os.times()[:4]) - cores
    return seconds


def _put_aside(folders: Iterable[Path], root: Path) -> None:
    """Move folders out of the way. After deleting thousands of files, ext4 makes new ones more slowly for minutes."""
    aside = root / "aside"
    aside.mkdir()
    for folder in folders:
        if folder.exists():
            folder.rename(aside / folder.name)


def grown(count: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the seconds of both steps: cold, with pictures kept, and after one more campaign.

    Raises RuntimeError if a file is written that did not change.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site, published = folder / "site", folder / "site" / "records"
        shutil.copytree(ROOT / "site", site, ignore=shutil.ignore_patterns("records", *pages.GENERATED))
        shutil.copy(ROOT / "mkdocs.yml", folder)
        publish(records(count), published)
        seconds = {"cold": timed(folder)}
        _put_aside([*(site / place for place in pages.GENERATED if place != "charts"), folder / "build"], folder)
        seconds["with pictures kept"] = timed(folder)
        publish(records(10, first=(count + 9) // 10), published)
        seconds["after one more campaign"] = timed(folder)
        if render(folder):
            raise RuntimeError("files were written that did not change")
    return seconds


def main() -> int:
    """Print a line for each size."""
    asked = argparse.ArgumentParser(prog="python -m growth", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("records", nargs="*", type=int, default=list(SIZES), metavar="RECORDS")
    print(f"{granted_cores()} cores")
    for count in asked.parse_args().records:
        seconds = grown(count)
        for when, steps in seconds.items():
            parts = ", ".join(f"{step} {wall:.1f} s ({cores:.1f})" for step, (wall, cores) in steps.items())
            each = 1000 * sum(wall for wall, _ in steps.values()) / count
            print(f"{count} records, {when}: {parts}; {each:.1f} ms a record", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
