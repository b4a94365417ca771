"""Quotations of numbers in Markdown, between marks with their key, compared with the records.

    <!-- cite KEY@digest -->14x (13 to 16)<!-- /cite -->

Between the marks are the number as `suite cite` prints it, then optionally its interval, the low end first, in any
words and Markdown. A pinned key means one record or stored pool for ever, an unpinned one the current pool. The literal
KEY, as above, shows the form and is no quotation. No quotation extends past another mark: a mark without its end is
lone, and a text with a lone mark is not renewed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from suite.results.cite.citation import Citation
from suite.results.cite.number import ON_ONE_HOST, Number
from suite.results.cite.numbers import Numbers
from suite.results.stats.state import State

_UNMARKED = r"(?:(?!<!--\s*/?cite\b).)*"
_END = r"<!--\s*/cite\s*-->"
_MARK = re.compile(rf"<!--\s*cite\s+(?P<key>(?!KEY\b)[^\s>]+)\s*-->(?P<quoted>{_UNMARKED}){_END}", re.DOTALL)
_FORM = re.compile(rf"<!--\s*cite\s+KEY\b[^>]*-->{_UNMARKED}(?P<end>{_END})", re.DOTALL)
_EITHER = re.compile(r"<!--\s*/?cite\b[^>]*-->")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
_UNIT = r"\w+| (?:[mµn]?s|min|h|\w?FLOP/s|examples/s)(?![\w/])"
_NUMBER = re.compile(rf"(\.?\d(?:,?\d)*(?:\.\d+)?)({_UNIT})?")
_STATES = frozenset({*get_args(State), ON_ONE_HOST})
_RETIRED = ("invalid", "incomplete", "unstable", "old JAX", "smoke", "quick", "standard", "repeated")  # never wrong
_STATE = re.compile(rf", (?P<word>{'|'.join((*sorted(_STATES), *_RETIRED))})(?=\))")
_MARKUP = str.maketrans("", "", "*_`~\\")


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A remark on a quotation; `wrong` if it contradicts its key."""

    line: int  # from 1
    words: str
    wrong: bool


def remarks(text: str, numbers: Numbers) -> tuple[Remark, ...]:
    """Return the remarks on a text's quotations, by line.

    Besides wrong ones they name numbers that may not be quoted and pinned ones that are outdated, one remark for both.
    """
    of_quotations = [
        Remark(line=_line(text, mark), words=words, wrong=wrong)
        for mark in _MARK.finditer(text)
        for words, wrong in _of(mark["key"], mark["quoted"], numbers)
    ]
    return tuple(sorted((*of_quotations, *lone(text)), key=lambda remark: remark.line))


def lone(text: str) -> tuple[Remark, ...]:
    """Return a remark for each mark that begins or ends no quotation, by position."""
    covered, shown = [mark.span() for mark in _MARK.finditer(text)], _shown(text)
    return tuple(
        Remark(
            line=_line(text, mark),
            words=f"'{mark[0]}' has no partner; a quotation is <!-- cite KEY -->number<!-- /cite -->",
            wrong=True,
        )
        for mark in _EITHER.finditer(text)
        if mark.start() not in shown and not any(start <= mark.start() < end for start, end in covered)
    )


def _line(text: str, mark: re.Match[str]) -> int:
    return 1 + text.count("\n", 0, mark.start())


def _shown(text: str) -> set[int]:
    """Return the positions of marks that only show the form."""
    return {start for mark in _FORM.finditer(text) for start in (mark.start(), mark.start("end"))}


def quotations(text: str) -> int:
    """Return the number of quotations in a text."""
    return sum(1 for _ in _MARK.finditer(text))


def renewed(text: str, numbers: Numbers) -> str:
    """Return the text with each unpinned quotation updated to its current pool.

    A text with a lone mark is returned unchanged.
    """
    if lone(text):
        return text

    def now(mark: re.Match[str]) -> str:
        if "@" in mark["key"]:
            return mark[0]
        try:
            cited = Citation(number=numbers.resolve(mark["key"]))
        except (LookupError, ValueError):
            return mark[0]  # `remarks` reports the reason
        if not any(wrong for _, wrong in _of(mark["key"], mark["quoted"], numbers)):
            return mark[0]
        updated = _renewed(mark["quoted"], cited)
        return mark[0].replace(f"-->{mark['quoted']}<!--", f"-->{updated}<!--", 1)

    return _MARK.sub(now, text)


def _renewed(quoted: str, cited: Citation) -> str:
    """Return quoted Markdown with a citation's numbers in place of its own; without its words if the counts differ."""
    addresses = [range(*link.span(2)) for link in _LINK.finditer(quoted)]
    places = [place for place in _NUMBER.finditer(quoted) if not any(place.start() in each for each in addresses)]
    with_interval = f"{cited.value} ({cited.interval})"
    for words in (cited.value, with_interval):
        numbers = _NUMBER.findall(words)
        if len(numbers) == len(places):
            new = quoted
            for place, (number, unit) in reversed([*zip(places, numbers, strict=True)]):
                new = new[: place.start()] + number + (unit if place[2] else "") + new[place.end() :]
            if _says(_plain(new), cited.value, with_interval):
                return _STATE.sub("" if cited.number.quotable else f", {cited.number.word}", new)
    words, link = cited.quoted if "(" in _plain(quoted) else cited.value, _LINK.search(quoted)
    return quoted.replace(f"[{link[1]}]", f"[{words}]", 1) if link else words


def _of(key: str, quoted: str, numbers: Numbers) -> Iterator[tuple[str, bool]]:
    try:
        number = numbers.resolve(key)
    except (LookupError, ValueError) as error:
        yield str(error.args[0]), True
        return
    cited, plain = Citation(number=number), _plain(quoted)
    with_interval = f"{cited.value} ({cited.interval})" if number.value.low is not None else cited.value
    if not _says(plain, cited.value, with_interval):
        yield f"'{plain.strip()}' is quoted for {key}, which says '{cited.quoted}'", True
    moved = _moved(number, numbers) if "@" in key else ""
    if cited.reservation:
        yield f"{key} is not to be quoted: {cited.reservation}" + (f"; {moved}" if moved else ""), False
    elif moved:
        yield f"{key}: {moved}", False
    else:
        words = {mark["word"] for mark in _STATE.finditer(plain)} & _STATES - {number.word or number.state}
        yield from (
            (f"{key} is quoted as {word}, it is {number.word or number.state}", False) for word in sorted(words)
        )


def _moved(number: Number, numbers: Numbers) -> str:
    """Return how the current pool differs from a pinned number; '' if it does not.

    A number of one host may lie anywhere in the range of a further campaign.
    """
    latest = numbers.latest(number)
    if latest is None or not latest.pooled:
        return ""
    now, then = Citation(number=latest), Citation(number=number)
    if number.pooled:
        same = now.quoted == then.quoted
        return "" if same else f"its pool has changed, {now.key} now says {now.quoted}"
    low, high, value = latest.value.range_low, latest.value.range_high, number.value.value
    if low is not None and high is not None and not low <= value <= high:
        return f"it lies outside {now.further}, where a further campaign is expected; {now.key} says {now.quoted}"
    return f"it is of one host, {now.key} says {now.quoted}" if latest.quotable else ""


def _says(text: str, value: str, with_interval: str) -> bool:
    """Return whether a text's numbers are those of the value, or of value and interval, with or without units."""
    numbers, alone, cited = map(_NUMBER.findall, (text, value, with_interval))
    if numbers == alone:
        return True
    same = numbers[: len(alone)] == alone and [number for number, _ in numbers] == [number for number, _ in cited]
    return same and all(unit in ("", own or alone[-1][1]) for (_, unit), (_, own) in zip(numbers, cited, strict=True))


def _plain(text: str) -> str:
    """Return the words of Markdown, without links, emphasis and repeated blanks."""
    return " ".join(_LINK.sub(r"\1", text).translate(_MARKUP).split())
