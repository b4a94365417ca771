"""Render the stored records to the stored pages: `python -m golden`, with the tests on the path; read `git diff`.

Nothing else goes into a page: records and prices are given, all names and versions in them are made up. The records
lie here as `store.add` wrote them; like all records they are added to, and never edited.
"""

import re
from pathlib import Path
from unittest import mock

from altair.utils import schemapi

from golden import judgements
from suite.report import pages
from suite.report.charts import vega
from suite.report.parts.facts import Facts
from suite.results.evidence.copyable import Compared
from suite.results.records import store
from suite.results.single.prices import Price

RECORDS, PAGES = (Path(__file__).with_name(name) for name in ("records", "pages"))
LOCAL = frozenset({"20260303-090000-golden"})  # the campaign that is not published
STORED = (
    "experiments/precision.md",
    "experiments/size.md",
    "machines/test-cpu-4-cores.md",
    "machines/test-gpu-16-cores.md",
    "numbers/mnist_mlp.md",
    "standing.md",
    "workloads/mnist_mlp.md",
)
_PRICE = Price(per_hour=3.5, currency="USD", date="2026-01", source="A provider, on demand", gpu="H100")
_COPIED = Compared(
    file="",
    workload="mnist_mlp",
    backend="cpu",
    made="2026-01-01",
    commit="0123456789",
    machine="Test CPU, 4 cores",
    cores=4,
    packages={},
    rounds=5,
    copied_seconds=0.00315,
    suite_seconds=0.003,
    ratio=1.05,
    low=1.03,
    high=1.07,
)
_PIECE = re.compile(r"(?<!\n)(?=<(?:tr|th|td|li|dt|img|p|figcaption)\b)")
_SORT = re.compile(r'(?<= data-sort=")[^"]+')


def rendered() -> dict[str, str]:
    """Return the pages by their paths below the site's sources.

    Charts have no specification here: it is long, and says the versions of what draws it.
    """
    records, problems = store.load([RECORDS])
    if problems:
        raise ValueError("\n".join(problems))
    with schemapi.debug_mode(False), mock.patch.object(vega, "themed", return_value={}):
        files = pages.files(
            Facts(records=records, local=LOCAL, prices=[_PRICE], copied={"mnist_mlp": ""}, timed=[_COPIED])
        )
    return {name: legible(files[name]) for name in STORED}


def legible(page: str) -> str:
    """Return a page with a line for each row, cell and item, and with nine digits of what rows are sorted by.

    A page has no other number to the last bit; of that the C library's exp and log take another one on another CPU.
    """
    return _SORT.sub(lambda found: f"{float(found[0]):.9g}", _PIECE.sub("\n", page))


def stored() -> dict[str, str]:
    """Return the pages that are stored, by the same paths."""
    return {path.relative_to(PAGES).as_posix(): path.read_text(encoding="utf-8") for path in PAGES.rglob("*.md")}


def main() -> None:
    """Make the stored pages those that are rendered, and name each that changed."""
    before, now = stored(), rendered()
    for name in sorted(before.keys() | now.keys()):
        path = PAGES / name
        if name not in now:
            path.unlink()
        elif now[name] != before.get(name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now[name], encoding="utf-8", newline="\n")
        else:
            continue
        print(f"changed: {path}")
    if judgements.write():
        print(f"changed: {judgements.STORED}")
    print(f"{len(now)} pages; read git diff")


if __name__ == "__main__":
    main()
