"""One page of the built site in Chromium, and all that is wrong with it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, sync_playwright

from visits.links import astray

SERIOUS = ("serious", "critical")
_TALL = {"width": 1280, "height": 2400}
_NARROW = {"width": 360, "height": 800}
_HUGE = {"width": 3840, "height": 2160}
_PAPER = {"width": 718, "height": 1000}  # A4 between margins of a centimetre
_LONGEST_LINE = 1600  # pixels of a paragraph on a huge screen
_DRAWN_MS = 20_000
_LEAST_HEIGHT = 40  # pixels of a drawn chart
_MOST_SHIFT = 0.02  # cumulative, as browsers count it; 0.1 is called good
_SHIFT = """new Promise(done => { let sum = 0; new PerformanceObserver(list => list.getEntries().forEach(shift => {
    if (!shift.hadRecentInput) sum += shift.value; })).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 100) })"""


class Visit:
    """A page that is open, with what it asked for and said."""

    def __init__(self, browser: Browser, path: Path, **context) -> None:
        self.page, self.troubles = browser.new_page(**context), []
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.goto(path.as_uri())

    def _asked(self, request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.troubles.append(f"asks for {request.url}")

    def _said(self, message) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")


def with_scripts(browser: Browser, path: Path, scheme: str) -> Iterator[str]:
    """Yield what is wrong with a page in a colour scheme: requests, errors, charts, sorting, axe."""
    visit = Visit(browser, path, color_scheme=scheme, viewport=_TALL)
    yield from undrawn(visit.page)
    if scheme == "light":
        yield from unsorted(visit.page)
    for found in Axe().run(visit.page, options={"preload": False}).response["violations"]:
        if found["impact"] in SERIOUS:
            yield f"axe, {found['impact']}: {found['id']}: {found['nodes'][0]['html'][:120]}"
    if (moved := visit.page.evaluate(_SHIFT)) > _MOST_SHIFT:
        yield f"things move while it loads: a layout shift of {moved:.3f}"
    yield from visit.troubles
    visit.page.close()


def undrawn(page: Page) -> Iterator[str]:
    """Yield the charts that are not drawn with marks when they are scrolled to."""
    for index, figure in enumerate(page.locator("figure.chart").all()):
        if not figure.is_visible():
            continue  # in a folded part
        figure.scroll_into_view_if_needed()
        try:
            chart = figure.locator(".live svg").first
            chart.wait_for(state="visible", timeout=_DRAWN_MS)
        except Exception as error:
            yield f"chart {index} is not drawn: {str(error).splitlines()[0]}"
            continue
        marks = chart.locator("[role='graphics-symbol'] , .mark-symbol path, .mark-rect path").count()
        size = chart.bounding_box() or {"height": 0, "width": 0}
        if not marks or min(size["height"], size["width"]) < _LEAST_HEIGHT:
            yield f"chart {index} has {marks} marks on {size['width']:.0f} x {size['height']:.0f} pixels"


def unsorted(page: Page) -> Iterator[str]:
    """Yield the tables that cannot be sorted by their second column."""
    for table in page.locator("table.results").all():
        head = table.locator("thead th").nth(1)
        if table.locator("tbody tr").count() < 2 or not head.is_visible():
            continue
        head.click()
        if head.get_attribute("aria-sort") not in ("ascending", "descending"):
            yield f"table '{table.locator('caption').inner_text()[:50]}' is not sorted"


def narrow(browser: Browser, path: Path) -> Iterator[str]:
    """Yield what is wrong with a page at the width of a telephone."""
    visit = Visit(browser, path, viewport=_NARROW)
    if (wide := visit.page.evaluate("document.documentElement.scrollWidth")) > _NARROW["width"]:
        yield f"{wide} pixels wide on a screen of {_NARROW['width']}"
    yield from visit.troubles
    visit.page.close()


def huge(browser: Browser, path: Path) -> Iterator[str]:
    """Yield what is wrong with a page on a screen of four times the usual pixels."""
    visit = Visit(browser, path, viewport=_HUGE)
    if (wide := visit.page.evaluate("document.documentElement.scrollWidth")) > _HUGE["width"]:
        yield f"{wide} pixels wide on a screen of {_HUGE['width']}"
    lead = visit.page.locator("article p").first
    if lead.count() and lead.bounding_box() and lead.bounding_box()["width"] > _LONGEST_LINE:
        yield f"a line of {lead.bounding_box()['width']:.0f} pixels"
    yield from visit.troubles
    visit.page.close()


_CUT = """() => [...document.querySelectorAll('article :is(table, figure, img, pre, p, dl)')]
    .filter(each => each.checkVisibility() && (each.getBoundingClientRect().right > innerWidth + 1
        || (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX !== 'visible')))
    .map(each => each.outerHTML.slice(0, 100))"""
_NAVIGATION = ".md-header, .md-tabs, .md-sidebar, .md-footer, form.filters, button.copy"


def on_paper(browser: Browser, path: Path) -> Iterator[str]:
    """Yield what a print of a page cuts at its edge, and what of the navigation is printed."""
    visit = Visit(browser, path, viewport=_PAPER, color_scheme="light")
    visit.page.emulate_media(media="print")
    yield from (f"cut at the edge: {html}" for html in visit.page.evaluate(_CUT))
    for part in visit.page.locator(_NAVIGATION).all():
        if part.is_visible():
            yield f"printed though it is navigation: {part.evaluate('each => each.outerHTML.slice(0, 80)')}"
    visit.page.close()


def without_scripts(browser: Browser, path: Path) -> Iterator[str]:
    """Yield what is missing from a page where scripts are off."""
    visit = Visit(browser, path, java_script_enabled=False, viewport=_TALL)
    if not visit.page.locator("h1").first.inner_text().strip():
        yield "no heading without scripts"
    for image in visit.page.locator("figure.chart img[src$='#only-light']").all():
        if image.is_visible() and (image.bounding_box() or {"height": 0})["height"] < _LEAST_HEIGHT:
            yield f"picture {image.get_attribute('src')} is not shown without scripts"
    yield from visit.troubles
    visit.page.close()


def troubles(browser: Browser, path: Path, root: Path) -> Iterator[str]:
    """Yield all that is wrong with a page."""
    yield from (f"link {words}" for words in astray(path, root))
    for scheme in ("light", "dark"):
        yield from (f"{scheme}: {words}" for words in with_scripts(browser, path, scheme))
    yield from (f"narrow: {words}" for words in narrow(browser, path))
    yield from (f"huge: {words}" for words in huge(browser, path))
    yield from (f"print: {words}" for words in on_paper(browser, path))
    yield from (f"scripts off: {words}" for words in without_scripts(browser, path))


@cache
def opened(chromium: str) -> Browser:
    """Return this process's browser, which ends with it."""
    driver = sync_playwright().start()
    return driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])


def visited(chromium: str, root: Path, path: Path) -> list[str]:
    """Return all that is wrong with a page, each once."""
    found = dict[str, None]()
    try:
        for words in troubles(opened(chromium), path, root):
            found[words] = None
    except Error as error:  # such as a time that is up; the other pages are still visited
        found[" ".join(f"the visit ended: {error}".split())] = None
    return list(found)
