"""The built site: strict MkDocs from rendered pages to build/html, with a content security policy on each page.

MkDocs rebuilds its folder each time, so it gets the pages only. Thousands of charts and numbers are copied beside them
if they changed. Records are served in their packs; the former address of each names its pack.

SITE_URL is the address at which the site will be published. Only the page for missing addresses and the map for search
engines need it; without it they are left out, and all other pages work in any folder.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite.child_imports import child_imports
from suite.report.site import below, free, page_html, put, quoting, unchanged
from suite.report.site.address import published_at
from suite.results.records import packs, store
from suite.results.records.files import writing

# At the address that a record had when each was a file of its own.
_MOVED = '{{"moved": "this record is a file of its campaign\'s pack", "pack": "../{pack}", "file": "{name}"}}\n'
_LAST_LINES = 12
# Folders of the site with more than pages.
_AS_THEY_ARE = ("records", "local", "charts", "numbers", "evidence", "cards", "embed")
# Thousands of pictures and numbers, which rendering alone writes: a link takes a sixth of the time of a copy.
_LINKED = ("charts/", "numbers/")
_CONFIG = """\
INHERIT: ../mkdocs.yml
docs_dir: ../site
site_dir: pages
exclude_docs: |
  /records/
  /local/
  /charts/
  /numbers/*/
  /numbers/index.json
  /numbers/results.csv
  /evidence/
  /cards/
  /embed/
hooks: [{hook}]
site_url: {address}
extra: {{kept: {kept}}}
"""
_HOOK = Path(__file__).with_name("hook.py")
_OF_README = ("assets/speedups.svg", "evidence/first_run.zip")
_OTHER_LANGUAGES = "assets/javascripts/lunr/"
_NEED_ADDRESS = ("404.html", "sitemap.xml", "sitemap.xml.gz")  # their links begin at the server's root


def build(root: Path) -> Path:
    """Build the site below the checkout's root and return its first page.

    Raises RuntimeError with MkDocs' last lines if it finds a fault, or if a page cannot be written; ValueError if
    SITE_URL is no address.
    """
    folder, built, address = root / "build", root / "build" / "html", published_at()
    beside, settings = _beside(root / "site"), _settings(root / "mkdocs.yml")
    digests = unchanged.sources(root / "site", settings, beside)
    by = unchanged.builder(root / "site", settings, _CONFIG)
    # The map for search engines, which only an address gives, lists what MkDocs has built: then that is every page.
    before = {} if address else unchanged.kept(folder, by, digests)
    with ThreadPoolExecutor(1) as pool, writing(built):
        folder.mkdir(exist_ok=True)
        unchanged.forget(folder)
        config = {"hook": str(_HOOK), "address": address, "kept": list(before)}
        (folder / "mkdocs.yml").write_text(
            _CONFIG.format(**{name: json.dumps(value) for name, value in config.items()}), encoding="utf-8"
        )
        copying = pool.submit(_copy, beside, built)
        _run_mkdocs(folder / "mkdocs.yml")
        copying.result()
        entries = unchanged.searched(folder / "pages", before)
        made = below(folder / "pages").items()
        pages = {name: path for name, path in made if (address or name not in _NEED_ADDRESS) and not unused(name)}
        site = quoting.Site(address=address, files=beside.keys() | pages.keys() | before.keys())
        _copy(pages, built, site)
        lines, twins = {name: page.line for name, page in before.items()}, set(_twins(before, built))
        for name in filter(quoting.is_page, pages):
            html = pages[name].read_text(encoding="utf-8")
            lines[name] = quoting.line(html, name, site)
            for other, text in quoting.twins(html, name, site):
                put(built / other, text)
                twins.add(other)
        put(built / quoting.PROGRAMS, quoting.listed(lines, site))
        _remove_others(built, site.files | twins | {quoting.PROGRAMS})
        unchanged.remember(folder, by, {
            name: unchanged.Page(source=digest, line=lines[name], entries=entries.get(name, ()))
            for name, digest in digests.items() if name in lines
        })  # fmt: skip
    return built / "index.html"


def _settings(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""  # MkDocs says what is missing


def _twins(pages: Iterable[str], built: Path) -> Iterator[str]:
    """Yield the twins that kept pages have."""
    for name in pages:
        yield quoting.twin(name)
        if (built / quoting.tables_of(name)).exists():
            yield quoting.tables_of(name)


def unused(name: str) -> bool:
    """Return whether no page needs a file.

    These are maps of the theme's sources, its search in other languages, what README alone shows, drawings of cards,
    and the data and specification of a chart for narrow screens, which are those of the wide one.
    """
    drawing = name.startswith("cards/") and name.endswith(".svg")
    ends = name.endswith((".map", ".narrow.json", ".narrow.csv"))
    return ends or drawing or name.startswith(_OTHER_LANGUAGES) or name in _OF_README


def _run_mkdocs(config: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    env = {**os.environ, **quiet, **child_imports()}
    answer = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if answer.returncode:
        lines = (answer.stdout + answer.stderr).strip().splitlines()
        warnings = [line for line in lines if not line.startswith("INFO")]
        words = "\n".join((warnings or lines)[-_LAST_LINES:])
        if "No module named mkdocs" in words:
            words = "MkDocs is not installed; install the site extra: pip install '.[site]', or add --no-build"
        raise RuntimeError(f"the site was not built: {words}")


def _beside(site: Path) -> dict[str, Path]:
    """Return the files beside the pages by path in the built site, with packed records at their former addresses."""
    files = {
        f"{folder}/{name}": path
        for folder in _AS_THEY_ARE
        for name, path in below(site / folder).items()
        if not (name.endswith(".md") or unused(f"{folder}/{name}"))
    }
    for path in store.packed(site / "records"):
        if packs.around(path):  # otherwise the pack is damaged, which rendering reports
            files[f"records/{path.parent.name.removesuffix(packs.SUFFIX)}/{path.name}"] = path
    return files


def _remove_others(built: Path, kept: Set[str]) -> None:
    for name, path in below(built).items():
        if name not in kept:
            path.unlink()


def _copy(files: dict[str, Path], built: Path, site: quoting.Site | None = None) -> None:
    """Make the folder hold exactly these files, with pages protected and dressed; equal ones stay as they are."""
    for name, source in files.items():
        target = built / name
        if source.suffix == ".html":
            html = source.read_text(encoding="utf-8")
            text = page_html.compact(page_html.unbroken(quoting.dressed(html, name, site) if site else html))
            put(target, page_html.protected(text))
        elif pack := packs.around(source):
            put(target, _MOVED.format(pack=pack.name, name=source.name))
        elif not _same(source, target):
            _place(source, free(target), linked=name.startswith(_LINKED))


def _place(source: Path, target: Path, linked: bool) -> None:
    """Make the target hold the source's content, with its time, which identifies an unchanged file."""
    try:
        if linked:
            os.link(source, target)
    except OSError:  # the target exists, or the file system has no links
        linked = False
    if not linked:
        shutil.copy2(source, target)


def _same(source: Path, target: Path) -> bool:
    try:
        one, other = source.stat(), target.stat()
    except FileNotFoundError:
        return False
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
