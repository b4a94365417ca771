"""All generated files of the site's sources, from records and evidence; only changes are written."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from altair.utils import schemapi

from suite.report import pages
from suite.report.charts import previews, vega
from suite.report.parts import embeds, facts
from suite.report.parts.facts import Facts
from suite.report.site import below, free, put
from suite.report.site.address import published_at
from suite.results.records.files import writing
from suite.results.records.record import to_json
from suite.results.single.prices import Price
from suite.results.views import documents

# Folders of the site's sources.
GENERATED = ("answers", "workloads", "machines", "experiments", "numbers", "charts", "local", "cards", "embed")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of rendering: changed pages, and a line for each record that cannot be shown.

    `missed` has a line for each of the suite's claims that the records contradict.
    """

    written: tuple[str, ...]
    problems: tuple[str, ...]
    missed: tuple[str, ...] = ()


def render(folders: Sequence[Path], site: Path, prices: Sequence[Price] = ()) -> Outcome:
    """Write the generated files into the site's sources, from the folders' records and the site's evidence.

    The first folder holds the published records; those of the others are copied beside them and shown as local.
    """
    known, problems = facts.read(folders, site, prices, published_at())
    with schemapi.debug_mode(False):  # the tests validate the charts
        made = files(known)
    return Outcome(written=write(made, site), problems=problems, missed=known.reproducibility.missed)


def files(known: Facts) -> dict[str, str]:
    """Return every generated file by its path below the site's sources: pages, schemas, and copies of local records."""
    schemas = documents.schemas().items()
    local = {
        f"local/{record.campaign}/{record.name}.json": to_json(record).decode()
        for record in known.records
        if record.campaign in known.local
    }
    shown = pages.files(known)
    return (
        shown
        | embeds.of_charts({name: text for name, text in shown.items() if name.endswith(".md")}, known.site)
        | local
        | {f"assets/{name}.schema.json": json.dumps(one, indent=1) + "\n" for name, one in schemas}
        | {"assets/chart-looks.js": vega.looks()}
    )


def write(files: dict[str, str], site: Path) -> tuple[str, ...]:
    """Make the generated folders hold exactly these files and the charts' pictures; return changed files.

    Raises RuntimeError if the disk or a folder fails.
    """
    with writing(site):
        return _written(files, site)


def _written(files: dict[str, str], site: Path) -> tuple[str, ...]:
    kept = {*files, *(made for name in files if _is_chart(name) for made in _made(name))}
    kept |= {previews.derived(name) for name in files if previews.is_card(name)}
    for folder in GENERATED:
        for name, path in below(site / folder).items():
            if f"{folder}/{name}" not in kept:
                path.unlink()
    changed = []
    drawn = [name for name in files if _is_chart(name) and not _is_drawn(name, files[name], site)]
    for name, contents in zip(drawn, vega.made([files[name] for name in drawn]), strict=True):
        for other, content in zip(vega.derived(name), contents, strict=True):
            put(site / other, content)
        for picture in vega.raster(name):
            light = (site / vega.derived(name)[0]).read_text(encoding="utf-8")
            free(site / picture).write_bytes(previews.png(vega.on_ground(light)))
        put(site / name, files[name])  # last: it marks its pictures as complete
        changed += [name, *_made(name)]
    changed += _cards(files, site)
    for name in (name for name in files if not _is_chart(name) and not previews.is_card(name)):
        if put(site / name, vega.sized(files[name], site)):  # a page states the sizes of its pictures
            changed.append(name)
    if (site / "local").is_dir() and not any(name.startswith("local/") for name in files):
        shutil.rmtree(site / "local")
    return tuple(changed)


def _cards(files: dict[str, str], site: Path) -> Iterator[str]:
    """Write the cards whose drawing changed, with their pictures, and yield their names."""
    for name in filter(previews.is_card, files):
        picture = site / previews.derived(name)
        if picture.exists() and (site / name).exists() and (site / name).read_text(encoding="utf-8") == files[name]:
            continue
        free(picture).write_bytes(previews.png(files[name]))
        put(site / name, files[name])  # last: it marks its picture as complete
        yield from (name, previews.derived(name))


def _is_drawn(name: str, specification: str, site: Path) -> bool:
    """Return whether the site has the pictures of exactly this specification."""
    there = all((site / other).exists() for other in (name, *_made(name)))
    return there and (site / name).read_text(encoding="utf-8") == specification


def _made(name: str) -> tuple[str, ...]:
    """Return the names of the files that are made from a chart's specification."""
    return (*vega.derived(name), *vega.raster(name))


def _is_chart(name: str) -> bool:
    return name.startswith(f"{vega.FOLDER}/")
