"""Faults of places where the site is put, and of what reads its files."""

import codecs
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bare_settings import without_navigation

from trust.bench import ROOT, Bench, Outcome, fault

_BUILD = (
    "import sys; from pathlib import Path; from suite.report.site import build; print(build.build(Path(sys.argv[1])))"
)


def built(place: Bench, address: str = "") -> subprocess.CompletedProcess[str]:
    """Build a site of two pages with the suite's own settings."""
    shutil.copytree(ROOT / "site" / "assets", place.folder / "site" / "assets")
    (place.folder / "mkdocs.yml").write_text(without_navigation(), encoding="utf-8")
    (place.folder / "site" / "index.md").write_text("# Home\n\n[page](deep/page.md)\n")
    (place.folder / "site" / "deep").mkdir()
    (place.folder / "site" / "deep" / "page.md").write_text("# Page\n\n[home](../index.md)\n")
    env = place.env | ({"SITE_URL": address} if address else {})
    command = [sys.executable, "-c", _BUILD, str(place.folder)]
    return subprocess.run(command, env=env, cwd=place.folder, capture_output=True, text=True, check=False)


def addresses(page: Path) -> list[str]:
    """Return the addresses of a page that lead to other files."""
    found = re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8"))
    return [address for address in found if not address.startswith(("data:", "mailto:"))]


@fault("the site's address is not known", "no page and no sitemap leads to the server's root", "the built pages")
def _(place: Bench) -> Outcome:
    answer = built(place)
    home = Path(answer.stdout.strip().splitlines()[-1]).parent
    pages = list(home.rglob("*.html"))
    wrong = [address for page in pages for address in addresses(page) if address.startswith("/")]
    left = [*home.glob("404.html"), *home.glob("sitemap*")]
    return len(pages) == 2 and not wrong and not left, f"{len(pages)} pages; {wrong or 'all relative'}"


@fault("the site is a project's, below a path of its server", "the page for missing ones and the sitemap lead to it",
       "the built pages")  # fmt: skip
def _(place: Bench) -> Outcome:
    answer = built(place, address := "https://example.org/project/")
    home = Path(answer.stdout.strip().splitlines()[-1]).parent
    here = [each for each in addresses(home / "404.html") if each.startswith(("/", "https://example.org"))]
    mapped = re.findall("<loc>(.*?)</loc>", (home / "sitemap.xml").read_text())
    good = bool(here) and all(each.startswith(("/project/", address)) for each in here)
    return good and {*mapped} == {f"{address}index.html", f"{address}deep/page.html"}, f"{here[:3]}; {mapped}"


@fault("SITE_URL is no address of a site", "one line with what to do, and nothing is built", "the address")
def _(place: Bench) -> Outcome:
    answer = built(place, "example.org/speed")
    said = answer.stderr.strip().splitlines()[-1]
    good = answer.returncode == 1 and "set it to the address of the site's folder, such as https://" in said
    return good and not list(place.folder.glob("build*")), said


@fault("mkdocs build in a fresh clone, without the generated pages", "one line with what to do, exit 1", "the hook")
def _(place: Bench) -> Outcome:
    hook = Path("suite", "report", "site", "hook.py")
    (place.folder / hook).parent.mkdir(parents=True)
    shutil.copy(ROOT / hook, place.folder / hook)
    (place.folder / "mkdocs.yml").write_text(without_navigation(), encoding="utf-8")
    (place.folder / "site").mkdir()
    (place.folder / "site" / "method.md").write_text("# Method\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    env = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    answer = subprocess.run(command, cwd=place.folder, env=env, capture_output=True, text=True, check=False)
    said = (answer.stdout + answer.stderr).strip()
    good = answer.returncode == 1 and "run `suite report` first, which builds the site too" in said
    return good and "\n" not in said, said[-300:]


@fault(
    "the site lies in a folder with '#' in its name, opened as a file", "its search finds", "Chromium without a window"
)
def _(place: Bench) -> Outcome:
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return True, "not tried: no browser is installed here; nox -s browser tries it"
    home = Path(built(place).stdout.strip().splitlines()[-1]).parent
    home = home.rename(home.with_name("a#b"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((home / "deep" / "page.html").as_uri())
        page.locator("input.md-search__input").focus()
        page.keyboard.type("home")
        page.locator(".md-search-result__item").first.wait_for(state="attached", timeout=20_000)
        count = page.locator(".md-search-result__item").count()
        browser.close()
    return count > 0, f"{count} pages found"


@fault("a spreadsheet opens a chart's CSV with '°C' and 'µs'", "a byte order mark, or ASCII alone", "the file's bytes")
def _(place: Bench) -> Outcome:
    code = (
        "import sys; from suite.report.charts.drawing import csv_table; sys.stdout.buffer.write(csv_table(%r).encode())"
    )
    content = {}
    for name in ("GPU, °C", "GPU, W"):
        table = {"data": {"values": [{"t, s": 1, name: 2}]}}
        answer = subprocess.run([sys.executable, "-c", code % table], env=place.env, capture_output=True, check=True)
        content[name] = answer.stdout
    good = [each.startswith(codecs.BOM_UTF8) or each.isascii() for each in content.values()]
    return all(good) and content["GPU, W"].isascii(), str(content)
