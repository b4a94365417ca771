"""Text from a record cannot run on a page: a corpus of payloads in every field that takes any text."""

import itertools
import re
import shutil
from pathlib import Path

import factory
import msgspec
import pytest

from suite.report.site import build, page_html, pages
from suite.results.records.record import Record
from suite.results.records.store import sealed

ROOT = Path(__file__).parents[1]
RAN = "window.ran=1"
FORMS = (
    "<script>{x}</script>", "<SCRIPT SRC=data:text/javascript,{x}></SCRIPT>", "<img src=x onerror={x}>",
    "<svg onload={x}>", "<svg><script>{x}</script></svg>", "<body onload={x}>",
    "<details open ontoggle={x}>a</details>",
    '"><script>{x}</script>', "'><img src=x onerror={x}>", "--><script>{x}</script><!--", "]]><script>{x}</script>",
    "</script><script>{x}</script>", "</title><script>{x}</script>", "</td></tr></table><script>{x}</script>",
    "</textarea></style></noscript><img src=x onerror={x}>",
    '" onmouseover="{x}" autofocus onfocus="{x}',
    "' onfocus='{x}' autofocus '",
    "<iframe srcdoc=\"<script>parent.{x}</script>\">", "<iframe src=javascript:parent.{x}>",
    "<object data=javascript:{x}>", "<embed src=javascript:{x}>", "<a href=javascript:{x}>a</a>", "[a](javascript:{x})",
    "![a](x){{onerror={x}}}", "[a]: javascript:{x}\n[a]", "<javascript:{x}>", "<base href=//other.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:{x}'>", "<link rel=stylesheet href=//other.example/x.css>",
    "<form action=javascript:{x}><button autofocus>", "<template><script>{x}</script></template>",
    "<math><a xlink:href=javascript:{x}>",
    "<style>@import '//other.example/x.css';</style>", "<div markdown='1'><script>{x}</script></div>",
    "```\n</code></pre><script>{x}</script>\n```",
    "    </code><script>{x}</script>", "`</code><img src=x onerror={x}>`",
    "{{{{ {x} }}}}", "{{% raw %}}<script>{x}</script>{{% endraw %}}", "$<script>{x}</script>$", "{{: onclick='{x}' }}",
    "# heading {{#x onclick='{x}'}}", "- [ ] <script>{x}</script>", "a | b\n--|--\n<script>{x}</script> | c",
    "!!! note \"<script>{x}</script>\"", "+{{x}}<img src=x onerror={x}>", "\\<script\\>{x}\\</script\\>",
    "&lt;script&gt;{x}&lt;/script&gt;", "&#60;script&#62;{x}&#60;/script&#62;", "%3Cscript%3E{x}%3C/script%3E",
    "\\u003cscript\\u003e{x}\\u003c/script\\u003e",
)  # fmt: skip
WAYS = (
    lambda text: text,
    lambda text: text.upper().replace(RAN.upper(), RAN),
    lambda text: text.replace("<", "<\t", 1) if text.startswith("<") else f" \t{text}",
    lambda text: text.replace("script", "scr\u200bipt"),
    lambda text: f"\u202e{text}\u2066",
    lambda text: f"${{{{{text}}}}}",
    lambda text: f"{'a ' * 40}{text}",
)
CORPUS = tuple(dict.fromkeys(way(form.format(x=RAN)) for form in FORMS for way in WAYS))
# Names that pages and files have, sums over the content, and words of a closed set: these do not take any text.
FIXED = re.compile(
    r"^(schema|campaign|experiment|workload|backend|digest|created|description\.name|machine\.name|case\..*)$"
)


def leaves(value, path=()):
    """Every place of a text in what a record is made of."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))


def put(value, path, text):
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = text


def plain(record):
    return msgspec.json.decode(msgspec.json.encode(record))


def takes_any_text(record):
    """The places that are converted back whatever the text is."""
    found = []
    for path in leaves(plain(record)):
        if FIXED.match(".".join(map(str, path))):
            continue
        tried = plain(record)
        put(tried, path, CORPUS[0])
        try:
            msgspec.convert(tried, Record)
        except msgspec.ValidationError:
            continue
        found.append(path)
    return found


def hostile():
    """Records that hold the whole corpus, each payload in several fields, and the fields that it reached."""
    given, reached, made = itertools.cycle(CORPUS), set(), []
    used, places = set(), ()
    for number in range(24):
        about = factory.description(f"net_{number}", inferred=False)
        runs = (factory.run(0, 0.01), factory.run(1, 0.01), factory.run(2, 0.0, samples=0, reason="it failed"))
        for backend in ("cpu", "gpu"):
            record = factory.record(about.name, backend, [0.01] * 3, about=about, runs=runs)
            places, content = places or takes_any_text(record), plain(record)
            for place in places:
                payload = next(given)
                used.add(payload)
                put(content, place, payload)
            reached |= {".".join("*" if isinstance(part, int) else part for part in place) for place in places}
            made.append(sealed(msgspec.convert(content, Record)))
    return made, reached, used


def test_the_corpus_is_large_and_reaches_every_field_that_takes_any_text():
    _, reached, used = hostile()
    assert len(CORPUS) >= 300
    assert used == set(CORPUS)
    wanted = ("description.title", "description.source.author", "description.source.address", "description.differs.*",
              "description.claims.*.definition", "description.optimizer", "machine.cpu_model", "machine.system",
              "machine.gpus.*.name", "software.packages.jax", "runs.*.reason", "commit")  # fmt: skip
    assert set(wanted) <= reached


def test_a_script_that_is_not_the_theme_s_is_not_let_run():
    theme = '<head><script>var target=document.getElementById(location.hash.slice(1));target&&target.name&&(target.checked=target.name.startsWith("__tabbed_"))</script>'  # noqa: E501
    own, foreign = (page_html.protected(html) for html in (theme, theme.replace("target.checked=", "window.ran=")))
    assert "'sha256-" in own
    assert "'sha256-" not in foreign
    assert "'sha256-" not in page_html.protected("<head><script>window.ran=1</script>")
    assert "unsafe-eval" not in own
    assert "http" not in own.partition("content=")[2].partition(">")[0]


@pytest.mark.browser
def test_nothing_of_the_corpus_runs_on_any_page(tmp_path, browser):
    generated = shutil.ignore_patterns("records", *pages.GENERATED)
    shutil.copytree(ROOT / "site", tmp_path / "site", ignore=generated)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    records, _, _ = hostile()
    pages.write(factory.pages(records), tmp_path / "site")
    build.build(tmp_path)
    html = tmp_path / "build" / "html"
    found, asked, dialogs = [], [], []
    page = browser.new_page(viewport={"width": 1280, "height": 3000})
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for place in sorted(html.rglob("*.html")):
        page.goto(place.as_uri())
        page.wait_for_timeout(150)
        ran = page.evaluate(
            "[window.ran, ...Array.from(frames).map(f => { try { return f.ran } catch (e) { return 0 } })]"
        )
        links = page.evaluate(
            '[...document.querySelectorAll(\'[href^="javascript:" i], [src^="javascript:" i]\')].length'
        )
        handlers = page.evaluate("[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => "
                                 "a.name.startsWith('on') && a.value.includes('ran'))).length")  # fmt: skip
        if any(ran) or links or handlers:
            found.append((place.name, ran, links, handlers))
    assert found == []
    assert dialogs == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
