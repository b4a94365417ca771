"""Files that call themselves records: cut, flipped, lied in, and full of what a page, a shell or a sheet would run."""

import copy
import csv
import hashlib
import io
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import factory
import msgspec
from hostile_packs import HOSTILE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite.report.charts import drawing, vega
from suite.report.charts.ladder import ladder
from suite.report.parts import ladder_figures, rungs
from suite.report.parts.facts import Facts
from suite.report.parts.html import safe
from suite.report.site import pages
from suite.results.evidence.trust import Finding
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records import packs, store
from suite.results.records.acceptance import validate
from suite.results.records.record import Record, digest, to_json
from suite.system import machine
from suite.system.counters import granted_cores
from trust import mutated

TITLE = "Can a record's file do harm?"
MINUTES = 5.0  # of changes by chance

_ROOT = Path(__file__).parents[2]
Plain = dict[str, Any]

EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "[x](javascript:alert(1))",
    "![x](javascript:alert(1))",
    "`code` **bold** # heading | cell",
    "{{7*7}}{% include '/etc/passwd' %}${7*7}",
    "=HYPERLINK(\"http://evil\")",
    "+cmd|' /C calc'!A0",
    "@SUM(1)",
    "&lt;script&gt;&#60;b&#62;",
    "</script></style><!-- ",
    "---\\ntitle: x",
    "[bold red]rich[/] \\\\[link=x]",
    "datum.x + pluck(event) && alert(1)",
)  # fmt: skip


def prove(sample: bool, minutes: float, seed: int) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Return what was tried on files, and what got through."""
    examples = 50 if sample else 3000
    began = time.monotonic()
    tally = changed(sample, minutes, seed)
    rate = tally.files / (time.monotonic() - began)
    findings = [*by_chance(tally), *lies(), *archives(sample), *rendered(), rest_is_shown(), formulas()]
    findings += properties(examples)
    if not sample:
        findings.append(nothing_identifies())
    figures: dict[str, float | int | str] = {
        "files refused, each with its place and reason": f"{sum(f.good for f in findings)} of {len(findings)} kinds",
        "changed copies of real records": f"{tally.cut} cut, {tally.flipped} flipped, {tally.changed} restructured",
        "changed copies a second": round(rate),
    }
    return figures, findings


def template() -> Plain:
    """Return a good record as plain data."""
    return json.loads(to_json(factory.record()))


def sealed_file(plain: Any) -> bytes:
    """Return the file of plain data with a digest that matches, as a forger would make it."""
    return resealed(json.dumps(plain, indent=1).encode() + b"\n")


def resealed(content: bytes) -> bytes:
    """Return the content with the digest that it then has."""
    blank = re.sub(rb'"digest": "[^"]*"', b'"digest": ""', content)
    return blank.replace(b'"digest": ""', b'"digest": "%s"' % digest(blank).encode())


def refusal(content: bytes) -> str | None:
    """Return the line that refuses a file's content; None if it was taken.

    Raises whatever else than ValueError comes.
    """
    try:
        validate(content)
    except ValueError as error:
        return str(error)
    return None


# Chance


def changed(sample: bool, minutes: float, seed: int) -> mutated.Tally:
    """Return what became of published records changed by chance, by one process a core."""
    if sample:
        return mutated.tried(seed, 0, 0, records=3)
    numbers = range(granted_cores())
    with ProcessPoolExecutor(len(numbers), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(mutated.tried, seed, number, 60 * minutes) for number in numbers]
        return mutated.added([each.result() for each in running])


def by_chance(tally: mutated.Tally) -> Iterator[Finding]:
    """Yield the findings on cut, flipped and structured mutants."""
    damaged = ("refused, in one line", "JSON's grammar, the schema, the digest")
    careful = (
        "refused in one line, or read, judged and written again as the same",
        "the schema and the rules of a record; the digest matches",
    )
    for what, (expected, by), count, troubles, more in (
        ("real records cut short at a random byte", damaged, tally.cut, tally.cut_troubles, "none taken"),
        ("real records with a random bit flipped", damaged, tally.flipped, tally.flipped_troubles, "none taken"),
        (
            "real records with parts swapped, repeated, lost, taken from others, off by one or by a thousand",
            careful,
            tally.changed,
            tally.changed_troubles,
            f"{tally.changed_taken} taken, nothing broke",
        ),
    ):
        yield Finding(
            what=what,
            expected=expected,
            found="; ".join(troubles[:5])[:400] or f"{count} copies, {more}",
            by=by,
            good=count > 0 and not troubles,
            trials=count,
            failures=len(troubles),
        )


# Lies


def put(plain: Plain, place: str, value: Any) -> Plain:
    """Return a copy with a value at a place such as 'runs.0.round'."""
    plain = copy.deepcopy(plain)
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    target: Any = plain
    for part in way:
        target = target[part]
    target[last] = value
    return plain


def without(plain: Plain, place: str) -> Plain:
    """Return a copy that lacks a field."""
    plain = copy.deepcopy(plain)
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    target: Any = plain
    for part in way:
        target = target[part]
    del target[last]
    return plain


def raw(place: str, text: str) -> bytes:
    """Return a file with text that JSON's writer would not write at a place."""
    content = sealed_file(put(template(), place, "@@"))
    return resealed(content.replace(b'"@@"', text.encode("utf-8", "surrogatepass")))


WALL = "runs.0.samples.0.wall_seconds"
NAMES = ("campaign", "workload", "case.workload", "case.variant", "machine.name", "description.name")

LIES: dict[str, Callable[[], list[bytes]]] = {
    "NaN and infinities": lambda: [raw(WALL, word) for word in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")],
    "a name that stands twice": lambda: [
        resealed(sealed_file(template()).replace(b'"rounds":', b'"rounds": 1, "rounds":')),
        resealed(sealed_file(template()).replace(b'"cores":', b'"cores": 9, "cores":')),
    ],
    "deep nesting": lambda: [b"[" * 100_000, b'{"a":' * 50_000, raw("runs", "[" * 900 + "]" * 900)],
    "numbers of 5,000 digits": lambda: [
        raw("rounds", "9" * 5000), raw(WALL, "9" * 5000), raw("rounds", "-" + "9" * 99),
    ],
    "booleans as numbers": lambda: [sealed_file(put(template(), p, True)) for p in (WALL, "rounds", "case.batch")],
    "texts as numbers, numbers as texts": lambda: [
        *(sealed_file(put(template(), place, "1")) for place in (WALL, "rounds")),
        *(sealed_file(put(template(), place, 1)) for place in ("campaign", "case.backend", "machine.name")),
    ],
    "lone surrogates": lambda: [
        raw("machine.cpu_model", text) for text in ('"\\ud800"', '"\\udfff x"', '"a\\ud83d"', '"\ud800"')
    ],
    "bytes that are not UTF-8": lambda: [
        resealed(sealed_file(template()).replace(b"Test CPU", b"Test \xff\xfe"))
    ],
    "bidirectional and invisible characters": lambda: [
        sealed_file(put(template(), place, f"a{chr(c)}b"))
        for place in ("machine.cpu_model", "reason", "description.title")
        for c in (0x202A, 0x202E, 0x2066, 0x2069, 0x200B, 0x200F, 0xFEFF, 0x2028, 0x00, 0x07, 0x1B, 0x7F, 0x85, 0x0A)
    ],
    "paths in identifiers": lambda: [
        sealed_file(put(template(), place, name))
        for place in NAMES
        for name in ("../../etc/passwd", "/etc/passwd", "a/b", "..", "a..b", "C:\\x", "a\\b", "", ".hidden", "x" * 300,
                     "<b>", "javascript:x", "a%2f", "con\u0131")
    ],
    "an unknown schema, an old one, a future one, none": lambda: [
        *(sealed_file(put(template(), "schema", word)) for word in ("result/9", "result/-1", "", None, 1, ["x"])),
        sealed_file(without(template(), "schema")), b"{}", b"[]", b"null", b"1", b'"x"', b"",
    ],
    "absurd sizes": lambda: [
        sealed_file(put(template(), "rounds", 10**16)), sealed_file(put(template(), "case.batch", 10**18)),
        sealed_file(put(template(), WALL, 1e300)), sealed_file(put(template(), "machine.memory_bytes", 10**30)),
        sealed_file(put(template(), "reason", "x" * 100_000)),
        sealed_file(put(template(), "software.packages", {"x" * 100_000: "1"})),
    ],
    "negative and zero times and counts": lambda: [
        *(sealed_file(put(template(), WALL, value)) for value in (0, 0.0, -0.0, -1, -1e-9)),
        *(sealed_file(put(template(), place, value)) for value in (0, -1) for place in ("rounds", "case.batch",
          "machine.cores", "runs.0.steps_per_sample", "description.batch", "case.devices")),
        sealed_file(put(template(), "runs.0.stages.0.wall_seconds", -1.0)),
        sealed_file(put(template(), "runs.0.warmup.0.wall_seconds", 0)),
        sealed_file(put(template(), "machine.memory_bytes", -1)),
        sealed_file(put(template(), "runs.0.peak_memory_bytes", -1)),
        sealed_file(put(template(), "runs.0.load_by_others", -1)),
        sealed_file(put(template(), "runs.0.round", -1)),
    ],
    "wrong types": lambda: [
        sealed_file(put(template(), place, value))
        for place in ("runs", "case", "machine", "software.packages", "runs.0", "runs.0.samples.0", "machine.gpus")
        for value in (None, "x", 7, [[]], {"a": 1})
    ],
    "missing fields": lambda: [
        sealed_file(without(template(), place))
        for place in ("campaign", "runs", "machine", "case.batch", "case.scope", "software", "description.source",
                      "runs.0.round", WALL, "rounds")
    ],
    "fields that no record has": lambda: [
        sealed_file(put(template(), place, "x")) for place in ("hostname", "machine.serial", "runs.0.user", "case.x")
    ],
    "contradictions": lambda: [
        sealed_file(put(template(), "backend", "gpu")), sealed_file(put(template(), "case.workload", "other")),
        sealed_file(put(template(), "description.name", "other")), sealed_file(put(template(), "runs.1.round", 0)),
        sealed_file(put(template(), "runs.0.round", 99)), sealed_file(put(template(), "created", "yesterday")),
        sealed_file(put(template(), "commit", "/home/x")), sealed_file(put(template(), "runs.0.started", "9")),
    ],
}  # fmt: skip


def lies() -> Iterator[Finding]:
    """Yield what became of each kind of forged file; each has a digest that matches where it can have one."""
    assert refusal(sealed_file(template())) is None
    for kind, make in LIES.items():
        files = make()
        lines = [refusal(content) for content in files]
        bad = [files[n][:60] for n, line in enumerate(lines) if line is None or not mutated.clear(line)]
        example = next((line for line in lines if line), "")
        yield Finding(
            what=f"{kind}, {len(files)} files",
            expected="refused with place and reason, in one line",
            found=f"not so: {bad}"[:400] if bad else f"such as: {example[:150]}",
            by="suite/results/records/acceptance.py",
            good=not bad,
        )


def archives(sample: bool) -> Iterator[Finding]:
    """Yield what became of archives that are no packs, and of a pack that was cut short at every byte."""
    step = 97 if sample else 1
    whole = packs.packed({"mnist_mlp.cpu.step.json": sealed_file(template())})
    cut = [(whole[:length], "incomplete ZIP archive") for length in range(4, len(whole), step)]
    tried = {"archives that are no pack": [*HOSTILE.values()], "a pack cut short at every byte": cut}
    for what, files in tried.items():
        lines = [archive_refusal(content) for content, _ in files]
        bad = [line for line, (_, reason) in zip(lines, files, strict=True) if reason not in line]
        yield Finding(
            what=f"{what}, {len(files)} files",
            expected="refused before it is unpacked, with the reason and what to do, in one line",
            found=f"not so: {bad}"[:400] if bad else f"such as: {lines[-1][-150:]}",
            by="suite/results/records/packs.py",
            good=bool(files) and not bad,
        )


def archive_refusal(content: bytes) -> str:
    """Return the only line that is said of a folder with these bytes as a pack; '' if that is not so."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "sent.zip").write_bytes(content)
        records, problems = store.load([Path(place)])
    line = problems[0] if len(problems) == 1 and not records else ""
    return line if line.isprintable() and "sent.zip' is not a readable pack of records: " in line else ""


# What is taken


def texts(value: Any, place: str = "") -> Iterator[str]:
    """Yield the place of every text in plain data."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(each, f"{place}.{key}" if place else str(key))


def taken_with(text: str) -> tuple[Plain, int]:
    """Return a good record in which every field that takes this text has it, and how many fields those are."""
    plain = template()
    plain["software"]["settings"] = {"XLA_FLAGS": "x"}
    places = [place for place in texts(plain) if refusal(sealed_file(put(plain, place, text))) is None]
    for place in places:
        plain = put(plain, place, text)
    return plain, len(places)


class Elements(HTMLParser):
    """Collects what a browser would see in a page: elements, their attributes, where addresses lead."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what no page of ours has."""
        given = dict(attrs)
        if tag in ("svg", "iframe", "object", "style", "form") or any(name.startswith("on") for name in given):
            self.bad.append(f"<{tag} {given}>")
        own = (given.get("src") or "").removeprefix("../").startswith("assets/js/")
        if tag == "script" and given.get("type") not in ("application/json", "application/ld+json") and not own:
            self.bad.append("<script>")
        for name in ("href", "src"):
            address = (given.get(name) or "").strip().lower()
            if re.match(r"(?!https:)[a-z][a-z0-9+.-]*:", address):
                self.bad.append(address)


def harm(records: list[Record]) -> list[str]:
    """Return what the pages of these records would do to a reader."""
    found = []
    for name, text in pages.files(Facts(records=records)).items():
        if name.endswith(".md"):
            seen = Elements()
            seen.feed(text)
            body = re.sub(r'<script type="application/(ld\+)?json"[^>]*>.*?</script>', "", text)
            marks = [mark for mark in ("{{", "{%", "](", "**", "${") if mark in body]
            found += [f"{name}: {each}" for each in (*seen.bad, *marks)]
        elif name.endswith(".json"):
            json.loads(text)
        elif re.search(r"<script|javascript:|\son\w+\s*=", text):
            found.append(f"{name}: a script in a picture")
    return found


def rendered() -> Iterator[Finding]:
    """Yield what became of harmful text in every field that takes it."""
    for text in EVIL:
        plain, fields = taken_with(text)
        both = [validate(sealed_file(put(put(plain, "backend", s), "case.backend", s))) for s in ("cpu", "gpu")]
        with mocked_pictures():
            bad = harm(both)
        yield Finding(
            what=f"{text!r} in all {fields} fields that take any text",
            expected="the pages show it and run nothing",
            found="; ".join(dict.fromkeys(bad))[:300] or "harmless on every page",
            by="suite/report/parts/html.py",
            good=fields > 10 and not bad,
        )
    element = '<script>alert(1)</script>"><svg onload=alert(1)>'
    picture = vega.svg(charted(element), "light")
    bad = re.findall("<script|<svg onload|<img", picture)
    yield Finding(
        what="HTML in the name of a model, which a chart's axis shows",
        expected="no element of it in the picture",
        found=", ".join(bad) or f"text alone: {'&lt;script&gt;' in picture}",
        by="the chart's renderer",
        good=not bad and "&lt;script&gt;" in picture,
    )


def mocked_pictures():
    """Keep the specifications of charts and leave out their drawing, which is slow and tried once."""
    from unittest import mock

    return mock.patch.object(vega, "svg", return_value="<svg></svg>")


def rest_is_shown() -> Finding:
    """Return whether good records are shown beside bad ones, each of which is named with its place and reason."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for record in factory.campaign(("mnist_mlp",)):
            store.add(record, folder)
        home = next(folder.iterdir())
        good = len(list(home.glob("*.json")))
        bad = [content for make in LIES.values() for content in make()[:2]]
        for number, content in enumerate(bad):
            (home / f"bad-{number}.json").write_bytes(content)
        (home / "bad-copy.json").write_bytes(next(p for p in home.glob("mnist*.json")).read_bytes())
        (home / "bad-huge.json").write_bytes(b" " * (store.LARGEST_BYTES + 1))
        (home / "bad-folder.json").mkdir()
        (home / "bad-link.json").symlink_to("/dev/zero")
        os.mkfifo(home / "bad-pipe.json")
        records, problems = store.load([folder])
        total = len(bad) + 5
        lines = all("bad-" in line and "\n" not in line and line.isprintable() for line in problems)
    return Finding(
        what=f"{total} bad files beside {good} good ones, a copy, a pipe and a device among them",
        expected="the good ones are read, each bad one is named on a line",
        found=f"{len(records)} read, {len(problems)} named",
        by="suite/results/records/store.py",
        good=len(records) == good and len(problems) == total and lines,
    )


def charted(title: str) -> dict[str, Any]:
    """Return the specification of a chart of one model with this name."""
    records = factory.campaign(("mnist_mlp",), about=factory.description(title=title))
    return ladder(*ladder_figures.marks(rungs.rungs(pooled_speedups(records))))


def formulas() -> Finding:
    """Return whether a model's name that a sheet would compute gets into a chart's table as it is."""
    computed = [f"{begin}1+1, two layers" for begin in ("=", "+", "-", "@")]
    found = []
    for name in computed:
        rows = csv.reader(io.StringIO(drawing.csv_table(charted(name))))
        found += [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    return Finding(
        what="formulas in the tables of charts",
        expected="text, for every sheet",
        found=", ".join(found) or f"{len(computed)} kinds of formula, none left",
        by="suite/report/charts/drawing.py",
        good=not found,
    )


# Properties


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = tuple(texts(template()))


def _every_place(value: Any, place: str = "") -> Iterator[str]:
    if place:
        yield place
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _every_place(each, f"{place}.{key}" if place else str(key))


_PLACES = tuple(p for p in _every_place(template()) if "." in p or p != "digest")


def properties(examples: int) -> Iterator[Finding]:
    """Yield whether each property held for that many examples."""
    for what, test in PROPERTIES.items():
        count = max(5, examples // 10) if "pages" in what or "shown" in what else examples  # which are slow
        try:
            settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))(test)()
            found = f"{count} examples"
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        good = found == f"{count} examples"
        yield Finding(what=what, expected="for all", found=found[:400], by="hypothesis", good=good)


@given(st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=5), st.integers(1, 2**40), st.text(max_size=30))
def record_round_trips(times: list[float], batch: int, text: str) -> None:
    """A record reads back as it was written."""
    text = "".join(c for c in text if c.isprintable())
    made = factory.record(step_seconds=times, batch=batch)
    made = msgspec.structs.replace(made, reason=text, digest="")
    with tempfile.TemporaryDirectory() as place:
        path = store.add(made, Path(place))
        again = store.read(path)
    assert msgspec.structs.replace(again, digest="") == made


@given(_json)
def any_json_is_refused(value: Any) -> None:
    """Arbitrary JSON is refused with its place."""
    line = refusal(json.dumps(value).encode())
    assert line is not None
    assert mutated.clear(line)


@given(st.binary(max_size=60))
def any_bytes_are_refused(content: bytes) -> None:
    """Arbitrary bytes are refused with their place."""
    line = refusal(content)
    assert line is not None
    assert mutated.clear(line)


@given(st.sampled_from(_PLACES), _json)
def any_value_anywhere_is_refused_or_harmless(place: str, value: Any) -> None:
    """A record with an arbitrary value in any place is refused with its place, or can be shown."""
    content = sealed_file(put(template(), place, value))
    line = refusal(content)
    if line is None:
        with mocked_pictures():
            assert not harm([validate(content)])
    else:
        assert mutated.clear(line), line


@given(st.sampled_from(_FIELDS), st.text(max_size=60) | st.sampled_from(EVIL))
def any_text_is_refused_or_harmless(place: str, text: str) -> None:
    """Arbitrary text in any text field is refused with its place, or harmless on the pages."""
    any_value_anywhere_is_refused_or_harmless.hypothesis.inner_test(place, text)


@given(st.sampled_from([p for p in _PLACES if p.rpartition(".")[2].isidentifier()]), st.floats() | st.integers())
def any_number_is_refused_or_shown(place: str, value: float) -> None:
    """An arbitrary number in any field is refused with its place, or can be shown."""
    if not isinstance(value, int) and not math.isfinite(value):
        value = repr(value)  # pyright: ignore[reportAssignmentType]
    any_value_anywhere_is_refused_or_harmless.hypothesis.inner_test(place, value)


@given(st.text())
def safe_text_is_plain(text: str) -> None:
    """Text made safe has no character that HTML, Markdown or a template reads."""
    left = re.sub(r"&#\d+;", "", safe(text))
    assert not set(left) & set("<>&\"'`*_{}[]\\|~#")
    assert left.isprintable()


PROPERTIES: dict[str, Callable[[], None]] = {
    "a record reads back as it was written": record_round_trips,
    "arbitrary JSON is refused with its place": any_json_is_refused,
    "arbitrary bytes are refused with their place": any_bytes_are_refused,
    "an arbitrary value in any place is refused, or harmless on the pages": any_value_anywhere_is_refused_or_harmless,
    "arbitrary text in any field is refused, or harmless on the pages": any_text_is_refused_or_harmless,
    "an arbitrary number in any field is refused, or can be shown": any_number_is_refused_or_shown,
    "text made safe has no character that means anything": safe_text_is_plain,
}


# What is published


def identifying() -> dict[str, str]:
    """Return what tells this machine or its user, by its kind."""
    found = {
        "host name": platform.node(),
        "home": str(Path.home()),
        "folder": str(Path.cwd()),
        "network card": ":".join(f"{uuid.getnode():012x}"[i : i + 2] for i in range(0, 12, 2)),
    }
    for kind, path in (("boot", "/proc/sys/kernel/random/boot_id"), ("machine", "/etc/machine-id"),
                       ("serial", "/sys/class/dmi/id/product_uuid")):  # fmt: skip
        if words := machine.text(Path(path)):
            found[kind] = words
            found[f"{kind} without signs"] = words.replace("-", "")
            found[f"hash of the {kind}"] = hashlib.sha256(words.encode()).hexdigest()[:16]
    return {kind: word for kind, word in found.items() if len(word) > 2}


def nothing_identifies() -> Finding:
    """Return whether real records made here, good and failed, name this machine, its user or a place."""
    with tempfile.TemporaryDirectory(prefix="secret-folder-") as place:
        env = {
            **os.environ,
            "PYTHONPATH": str(_ROOT),
            "TMPDIR": place,
            "SUITE_DATA": f"{place}/data",
            "SUITE_COMMIT": "",
        }
        env |= {"JAX_COORDINATOR_ADDRESS": "10.1.2.3:99", "XLA_FLAGS": f"--xla_dump_to={place}/dump"}
        base = [sys.executable, "-m", "suite", "run", "mnist_mlp", "--profile", "smoke", "--backend", "cpu"]
        base += ["--scope", "step,cold", "--out"]
        for out, more in (("good", ()), ("bad", ("--batch", str(10**13)))):
            subprocess.run([*base, f"{place}/{out}", *more], env=env, cwd=place, capture_output=True, check=False)
        for file in Path(place, "data").rglob("*.array_record*"):
            file.write_bytes(b"spoilt")
        subprocess.run([*base, f"{place}/spoilt"], env=env, cwd=place, capture_output=True, check=False)
        files = [path for out in ("good", "bad", "spoilt") for path in Path(place, out).glob("*/*.json")]
        content = "\n".join(path.read_text() for path in files)
        reasons = {record.reason for record in map(store.read, files)}
    words = identifying() | {"temporary folder": "secret-folder-", "address": "10.1.2.3"}
    found = [kind for kind, word in words.items() if word.lower() in content.lower()]
    found += ["UUID"] * bool(re.search(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}", content))
    found += ["path"] * bool(re.search(r'[ "\'](/(home|root|tmp|usr|var|srv|mnt)/|~/)', content))
    told = " ".join(sorted(reasons))
    return Finding(
        what=f"{len(files)} records made here, with results, out of memory and with spoilt data",
        expected="no host, user, serial number, UUID, address or path in them",
        found=", ".join(found) or f"none of {len(words) + 2} kinds; reasons: {told[:250]}",
        by="the schema, which is an allow-list, and suite/system/redact.py",
        good=not found and len(files) == 6 and len(reasons) == 3,
    )
