"""The built site works wherever it is put: in a folder of any name, opened as a file, below a path of a server."""

import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, urljoin
from urllib.request import urlopen

import pytest
from bare_settings import without_navigation

from suite.report.site import build

ROOT = Path(__file__).parents[1]
FOLDERS = ("a b", "a#b", "a?b", "50%25off", "a&copy", "a+b", "äé°")
PAGES = ("index", "deep/page")
_FOUND_MS = 10_000


def made(folder):
    """Build a site of two pages with the suite's own settings, scripts and styles; return its folder."""
    shutil.copytree(ROOT / "site" / "assets", folder / "site" / "assets")
    (folder / "mkdocs.yml").write_text(without_navigation(), encoding="utf-8")
    (folder / "site" / "index.md").write_text("# Home\n\nA residual network. [page](deep/page.md)\n")
    (folder / "site" / "deep").mkdir()
    (folder / "site" / "deep" / "page.md").write_text("# Page\n\n[home](../index.md)\n")
    return build.build(folder).parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SITE_URL", raising=False)
        return made(tmp_path_factory.mktemp("without"))


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder quietly, with its 404.html for what is missing, as GitHub Pages does."""

    def log_message(self, format, *args):
        pass

    def send_error(self, code, message=None, explain=None):
        page = next(Path(self.directory).rglob("404.html"), None)
        self.send_response(code)
        self.end_headers()
        self.wfile.write(page.read_bytes() if page else b"none")


@contextmanager
def served(folder):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def found(browser, address):
    """Return how many pages the search finds for a word of the home page, and what the page could not load or said."""
    page, wrong = browser.new_page(viewport={"width": 1280, "height": 900}), []
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.on("response", lambda answer: wrong.append(answer.url) if answer.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    page.locator("input.md-search__input").focus()
    page.keyboard.type("residual")
    with suppress(Exception):  # a search that finds nothing in time
        page.locator(".md-search-result__item").first.wait_for(state="attached", timeout=_FOUND_MS)
    count = page.locator(".md-search-result__item").count()
    page.close()
    return count, wrong


@pytest.mark.browser
def test_the_search_works_in_a_folder_of_any_name_opened_as_a_file_or_served(site, tmp_path, browser):
    for name in FOLDERS:
        shutil.copytree(site, tmp_path / name)
    with served(tmp_path) as address:
        for name in FOLDERS:
            for page in PAGES:
                file = tmp_path / name / f"{page}.html"
                assert (name, page, *found(browser, file.as_uri())) == (name, page, 1, [])
            assert (name, *found(browser, f"{address}/{quote(name)}/deep/page.html?a=b#c")) == (name, 1, [])


def addresses(html):
    return [a for a in re.findall(r'(?:href|src)="([^"#]+)', html) if not a.startswith(("data:", "mailto:"))]


def test_no_page_has_an_address_from_the_servers_root_unless_that_is_known(site):
    pages = {str(path.relative_to(site)): path for path in site.rglob("*.html")}
    assert set(pages) == {f"{page}.html" for page in PAGES}
    assert not [a for path in pages.values() for a in addresses(path.read_text("utf-8")) if a.startswith("/")]
    assert not list(site.glob("sitemap*"))


def test_with_its_address_the_page_for_missing_ones_leads_back_and_the_sitemap_lists_the_pages(tmp_path, monkeypatch):
    with served(tmp_path / "served") as address:
        monkeypatch.setenv("SITE_URL", f"{address}/a%20project/")
        shutil.copytree(made(tmp_path), tmp_path / "served" / "a project")
        missing = f"{address}/a%20project/no/such/page.html"
        with pytest.raises(HTTPError) as raised:
            urlopen(missing)
        links = {urljoin(missing, each) for each in addresses(raised.value.read().decode())}
        assert f"{address}/a%20project/index.html" in links
        assert [urlopen(each).status for each in links] == [200] * len(links)
        places = re.findall("<loc>(.*?)</loc>", urlopen(f"{address}/a%20project/sitemap.xml").read().decode())
        assert {urlopen(each).status for each in places} == {200}
        assert {each.removeprefix(f"{address}/a%20project/") for each in places} == {f"{page}.html" for page in PAGES}


@pytest.mark.parametrize("address", ["example.org/speed", "file:///a", "https://", "https://example.org/?a=b", "x"])
def test_what_is_no_address_of_a_site_is_refused_before_anything_is_built(tmp_path, monkeypatch, address):
    monkeypatch.setenv("SITE_URL", address)
    with pytest.raises(ValueError, match="set it to the address of the site's folder, such as https://"):
        build.build(tmp_path)
    assert not list(tmp_path.iterdir())


def test_mkdocs_alone_says_in_a_line_that_a_fresh_clone_has_no_generated_pages(tmp_path):
    (tmp_path / "suite" / "report" / "site").mkdir(parents=True)
    shutil.copy(ROOT / "suite" / "report" / "site" / "hook.py", tmp_path / "suite" / "report" / "site")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "method.md").write_text("# Method\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**quiet})
    assert answer.returncode == 1
    assert (answer.stdout + answer.stderr).strip() == (
        "no generated pages, such as the home page; run `suite report` first, which builds the site too"
    )
    assert not (tmp_path / "build").exists()


def test_what_no_page_needs_is_left_out(tmp_path):
    for name in (
        "charts/one.narrow.json",
        "charts/one.narrow.light.svg",
        "charts/one.json",
        "cards/index.svg",
        "cards/index.png",
    ):
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    built = made(tmp_path)
    left = {str(path.relative_to(built)) for path in built.rglob("*") if path.parent.name in ("charts", "cards")}
    assert left == {"charts/one.narrow.light.svg", "charts/one.json", "cards/index.png"}
    assert not list(built.rglob("*.map"))
    assert not list(built.rglob("lunr.*.min.js"))
