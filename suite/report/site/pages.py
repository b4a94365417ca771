"""All generated pages of the site, from records and evidence; only what changed is written."""

import json
import shutil
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from altair.utils import schemapi

from suite.report.charts import vega
from suite.report.pages import (
    copyable,
    coverage,
    experiments,
    frameworks,
    gallery,
    glossary,
    home,
    learning,
    ledger,
    machine,
    numbers,
    parity,
    trust,
    workload,
)
from suite.report.parts import placing, tables
from suite.report.parts.links import links
from suite.results.cite import stored_pools
from suite.results.compare.reproducibility import Reproducibility, reproducibility
from suite.results.evidence import copyable as copyable_evidence
from suite.results.evidence import gallery as gallery_evidence
from suite.results.evidence import learning as learning_evidence
from suite.results.evidence import parity as parity_evidence
from suite.results.evidence import trees as tree_evidence
from suite.results.evidence import trust as trust_evidence
from suite.results.evidence.copyable import Compared
from suite.results.pooled import baselines, machine_evidence, pools, speedup
from suite.results.records import catalogue, store
from suite.results.records.files import writing
from suite.results.records.record import Record, plain_name, to_json
from suite.results.single.prices import Price
from suite.results.single.roofline import is_ceiling, roof
from suite.results.single.selection import by_machine
from suite.results.views import documents
from suite.workload import Description

GENERATED = ("workloads", "machines", "experiments", "numbers", "charts", "local")  # folders of the site's sources


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What rendering did: pages that changed, and a line for each record that could not be shown.

    `missed` has a line for each claim of the suite that the records contradict.
    """

    written: tuple[str, ...]
    problems: tuple[str, ...]
    missed: tuple[str, ...] = ()


def render(folders: Sequence[Path], site: Path, prices: Sequence[Price] = ()) -> Outcome:
    """Write the generated pages into the site's sources from the records below the folders and the site's evidence.

    The first folder holds what is published; records of the others are copied beside it and shown as local.
    """
    records, unreadable = store.load(folders)
    shown, problems = [], [*unreadable]
    for record in records:
        if all(map(plain_name, (record.workload, record.campaign, record.machine.slug))):
            shown.append(record)
        else:
            problems.append(
                f"a record of campaign {record.campaign[:60]!r} has a name that no page may have; not shown"
            )
    local = frozenset(record.campaign for record in shown) - store.campaigns(folders[0])
    known_workloads = catalogue.read(folders[0])
    published = [record for record in shown if record.campaign not in local]
    again = reproducibility(pools.pools(published))
    with schemapi.debug_mode(False):  # the tests check the charts
        steps = copyable_evidence.read(site / "evidence")
        files = pages(shown, local, prices, known_workloads, again, copyable.names(site), steps)
    files |= copyable.files(site, {record.workload for record in shown}, steps)
    lines, spoiled = stored_pools.read(stored_pools.path(folders[0]))
    problems += spoiled
    files |= numbers.files(published, lines)
    compared = parity_evidence.read(site / "evidence"), tree_evidence.read(site / "evidence")
    files |= {"parity.md": parity.page(*compared)}
    parts = trust_evidence.read(site / "evidence")
    files |= {"trust.md": trust.page(parts, again), "glossary.md": glossary.page(parts)}
    files["data.md"] = gallery.page(gallery_evidence.read(site / "evidence"))
    files["learning.md"] = learning.page(learning_evidence.read(site / "evidence"))
    files |= {f"local/{r.campaign}/{r.name}.json": to_json(r).decode() for r in shown if r.campaign in local}
    return Outcome(written=write(files, site), problems=tuple(problems), missed=again.missed)


def write(files: dict[str, str], site: Path) -> tuple[str, ...]:
    """Make the generated folders hold just these files and what is made of charts; return those that changed.

    Raises RuntimeError if the disk or a folder refuses.
    """
    with writing(site):
        return _written(files, site)


def _written(files: dict[str, str], site: Path) -> tuple[str, ...]:
    kept = {*files, *(made for name in files if _is_chart(name) for made in vega.derived(name))}
    for folder in GENERATED:
        for path in (site / folder).glob("**/*"):
            if path.is_file() and str(path.relative_to(site)) not in kept:
                path.unlink()
    changed = []
    drawn = [name for name in files if _is_chart(name) and not _is_drawn(name, files[name], site)]
    for name, contents in zip(drawn, vega.made([files[name] for name in drawn]), strict=True):
        for other, content in zip(vega.derived(name), contents, strict=True):
            _put(site / other, content)
        _put(site / name, files[name])  # last: it says that its pictures are there
        changed += [name, *vega.derived(name)]
    for name in (name for name in files if not _is_chart(name)):
        path, text = site / name, vega.sized(files[name], site)  # a page says how large its pictures are
        if not _holds(path, text):
            _put(path, text)
            changed.append(name)
    if (site / "local").is_dir() and not any(name.startswith("local/") for name in files):
        shutil.rmtree(site / "local")
    return tuple(changed)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def _is_drawn(name: str, specification: str, site: Path) -> bool:
    """Return whether the site has the pictures of just this specification."""
    return _holds(site / name, specification) and all((site / other).exists() for other in vega.derived(name))


def _is_chart(name: str) -> bool:
    return name.startswith(f"{vega.FOLDER}/")


def pages(
    records: Sequence[Record],
    local: frozenset[str],
    prices: Sequence[Price] = (),
    workloads: Sequence[Description] = (),
    again: Reproducibility | None = None,
    copied: Set[str] = frozenset(),
    timed: Sequence[Compared] = (),
) -> dict[str, str]:
    """Return every generated file by its path below the site's sources; `workloads` are all that can be measured.

    `again` is how often the numbers hold on the next machine, `copied` are the workloads with a step that one can copy,
    `timed` what was found of such steps.
    """
    files = {
        f"assets/{name}.schema.json": json.dumps(one, indent=1) + "\n" for name, one in documents.schemas().items()
    }
    everything, records = records, [record for record in records if not is_ceiling(record)]
    ceilings = roof(everything)
    general = [record for record in records if record.general]
    steps = placing.headlines(records)
    machines = by_machine(everything)
    places = {slug: placing.sentences(steps, slug) for slug in machines}
    said = again.words if again else ""
    current = pools.current(pools.pools(records))
    found = speedup.of_pools(current)
    files |= home.page(general, local, records, found, places, [about.name for about in workloads], said)
    known = machine_evidence.by_machines(everything, current, found)
    files["ledger.md"] = ledger.page(known.values(), workloads, local, links(records, ""))
    experiment_results = experiments.experiment_results(known)
    files |= experiments.files(experiment_results, local, links(records, "../"))
    files["coverage.md"] = coverage.page(everything, workloads, experiment_results, local, links(records, ""))
    files["standing.md"] = frameworks.page(records, baselines.of_pools(current), local, links(records, ""))
    for name in sorted({record.workload for record in records}):
        mine = [record for record in records if record.workload == name]
        speedups = [item for item in found if item.workload == name]
        steps_to_copy = [one for one in timed if one.workload == name] if name in copied else None
        files |= workload.page(mine, speedups, local, ceilings, prices, steps_to_copy)
    for slug, mine in machines.items():
        speedups = [item for item in found if item.machine == slug]
        files |= machine.page(mine, speedups, local, ceilings, places[slug], tables.without_gpu(general, slug))
    return files
