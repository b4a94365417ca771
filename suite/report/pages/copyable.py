"""The steps that a reader can copy: a page of code for each file below the site's folder, and the way there."""

from collections.abc import Iterable, Sequence, Set
from pathlib import Path

from suite import units
from suite.report.parts.html import Page, safe
from suite.results.evidence.copyable import Compared

FOLDER = "steps"  # in the site's sources, and in the built site


def names(site: Path) -> frozenset[str]:
    """Return the workloads that have a file."""
    return frozenset(path.stem for path in (site / FOLDER).glob("*.py"))


def files(site: Path, workloads: Set[str], found: Sequence[Compared]) -> dict[str, str]:
    """Return the pages of these workloads' files by their paths below the site's sources."""
    return {
        f"workloads/{name}.step.md": page(site / FOLDER / f"{name}.py", [one for one in found if one.workload == name])
        for name in sorted(names(site) & workloads)
    }


def page(path: Path, found: Iterable[Compared]) -> str:
    """Return the page of a file: the way to take it, how fast it is, and its code."""
    name = path.stem
    made = Page(f"{name}, a step you can copy", "../", frozenset(), searched=False)
    made.add(
        f'<p class="lead">One file without this suite, <a href="../{FOLDER}/{name}.py" download>'
        f"{safe(name)}.py</a>. A test shows that it computes what the suite&#39;s step computes.</p>"
    )
    for one in found:
        made.paragraph(
            f"{ratio(one)} Copied {units.seconds(one.copied_seconds)}, the suite's {units.seconds(one.suite_seconds)}; "
            f"{one.made}, commit {one.commit or units.DASH}."
        )
    made.add(f'<p><a href="{name}.html">What was measured of {safe(name)}</a></p>')
    made.add(f"\n``` {{ .python .copy }}\n{path.read_text(encoding='utf-8')}```")
    return made.text()


def link(name: str, found: Iterable[Compared]) -> str:
    """Return the line of a workload's page, as HTML."""
    ratios = " ".join(safe(ratio(one)) for one in found if one.workload == name)
    return (
        f'<p class="note"><a href="{name}.step.html">A step you can copy</a>, in one file. {ratios}'.rstrip() + "</p>"
    )


def ratio(found: Compared) -> str:
    """Return in words how much longer a step takes than the suite's own."""
    times = units.ratio(found.ratio, found.low, found.high)
    reach = f" ({units.interval(found.low, found.high)})" if found.low is not None else ""
    return f"It takes {times}{reach} the time of the suite's own step on {found.machine}."
