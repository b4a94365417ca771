"""Smaller pictures that look the same: Vega writes every mark's attributes in full, with 15 digits.

What no image shows is dropped. Lengths keep a tenth of a pixel. Equal marks share one definition, and what all marks of
a group have in common stands on the group.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

_NAMESPACE = "http://www.w3.org/2000/svg"
_UNSEEN = re.compile(r"aria-[a-z]+|role|class|pointer-events|version")
_USUAL = (
    ("opacity", "1"),
    ("transform", "translate(0,0)"),
    ("font-weight", "normal"),
)  # values that an attribute has by default
_INHERITED = (  # by a group's marks; not opacity, which a group applies to all of them together
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "stroke-miterlimit",
    "font-family", "font-size", "font-weight", "text-anchor",
)  # fmt: skip
_MARKS = ("path", "line", "rect", "circle", "text")
_LENGTHS = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "dx", "dy")
_NUMBER = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")
_PLACE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
_FEWEST = 3  # uses of a mark that is worth a definition
_Look = tuple[tuple[str, str], ...]


@dataclass(kw_only=True)
class _Part:
    """An element without its namespace."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    parts: list["_Part"] = field(default_factory=list)
    tail: str = ""

    def written(self) -> str:
        """Return it as SVG."""
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        inside = escape(self.text) + "".join(part.written() + escape(part.tail) for part in self.parts)
        return f"<{self.tag}{attributes}>{inside}</{self.tag}>" if inside else f"<{self.tag}{attributes}/>"


def slim(picture: str) -> str:
    """Return a picture that looks the same without what no browser shows in an image; the page's text describes it."""
    drawn = ElementTree.fromstring(picture)
    root = _read(drawn)
    _prune(root, {})
    _place_lines(root)
    _join_lines(root)
    if definitions := _reuse(root):
        root.parts.insert(0, _Part(tag="defs", attributes={}, parts=definitions))
    _gather_texts(root)
    _lift(root)
    size = {name: drawn.attrib[name] for name in ("width", "height") if name in drawn.attrib}  # as stated, not rounded
    root.attributes = {"xmlns": _NAMESPACE, **root.attributes, **size}
    return root.written()


def _read(element: ElementTree.Element) -> _Part:
    attributes = {
        name.rpartition("}")[2]: _rounded(name, value)
        for name, value in element.attrib.items()
        if not _UNSEEN.fullmatch(name) and (name, value) not in _USUAL
    }
    return _Part(
        tag=element.tag.rpartition("}")[2],
        attributes=attributes,
        text=element.text or "",
        parts=list(map(_read, element)),
        tail=element.tail or "",
    )


def _rounded(name: str, value: str) -> str:
    """Return an attribute with the lengths in it to a tenth of a pixel."""
    return _NUMBER.sub(lambda number: _tenths(float(number[0])), value) if name in _LENGTHS else value


def _tenths(number: float) -> str:
    return f"{round(number, 1) + 0.0:.10g}"  # + 0.0: no -0


def _prune(part: _Part, inherited: dict[str, str]) -> None:
    """Drop marks that draw nothing, and groups without attributes of their own."""
    look = inherited | part.attributes
    kept: list[_Part] = []
    for child in part.parts:
        _prune(child, look)
        if child.tag == "g" and not child.attributes:
            kept += child.parts
        elif child.tag != "g" or child.parts:
            kept += [child] if _draws(child, look | child.attributes) else []
    part.parts = kept


def _draws(part: _Part, look: dict[str, str]) -> bool:
    if part.tag not in _MARKS:
        return True
    if look.get("display") == "none" or part.attributes.get("opacity") == "0":
        return False
    if part.tag == "text" and not (part.text or part.parts):
        return False
    if part.tag == "path" and not part.attributes.get("d"):
        return False
    return look.get("fill", "black") != "none" or look.get("stroke", "none") != "none"


def _place_lines(part: _Part) -> None:
    """Give texts and lines their place as coordinates, and make lines paths."""
    for child in part.parts:
        _place_lines(child)
        place = _PLACE.fullmatch(child.attributes.get("transform", "translate(0,0)"))
        if place is None:
            continue
        x, y = place.groups()
        if child.tag == "text" and not child.parts and not {"x", "y"} & child.attributes.keys():
            child.attributes.pop("transform", None)
            child.attributes = {"x": x, "y": y, **child.attributes}
        elif child.tag == "line" and not {"x1", "y1"} & child.attributes.keys():
            child.attributes.pop("transform", None)
            dx, dy = (child.attributes.pop(name, "0") for name in ("x2", "y2"))
            child.tag = "path"
            child.attributes = {"d": f"M{x},{y}l{dx},{dy}", **child.attributes}


def _join_lines(part: _Part) -> None:
    """Join neighbouring paths of one look, whose strokes cannot shine through each other, such as a grid's lines."""
    joined: list[_Part] = []
    for child in part.parts:
        _join_lines(child)
        if joined and _is_stroke(child) and _is_stroke(joined[-1]) and _look(child) == _look(joined[-1]):
            joined[-1].attributes["d"] += child.attributes["d"]
        else:
            joined.append(child)
    part.parts = joined


def _is_stroke(part: _Part) -> bool:
    d, see_through = part.attributes.get("d", ""), {"opacity", "stroke-opacity", "transform", "fill"}
    return part.tag == "path" and "l" in d and not see_through & part.attributes.keys()


def _look(part: _Part, but: str = "d") -> _Look:
    return tuple(sorted((name, value) for name, value in part.attributes.items() if name != but))


def _reuse(root: _Part) -> list[_Part]:
    """Let marks that are equal but for their place use one definition each; return the definitions."""
    marks = [
        part for part in _walk(root) if part.tag == "path" and _PLACE.fullmatch(part.attributes.get("transform", ""))
    ]
    counts = Counter(_look(part, "transform") for part in marks)
    names = {look: f"m{place}" for place, look in enumerate(look for look, n in counts.items() if n >= _FEWEST)}
    for part in marks:
        if (look := _look(part, "transform")) in names and (place := _PLACE.fullmatch(part.attributes["transform"])):
            part.tag, part.attributes = "use", {"href": f"#{names[look]}", "x": place[1], "y": place[2]}
    return [_Part(tag="path", attributes={"id": name, **dict(look)}) for look, name in names.items()]


def _walk(part: _Part) -> Iterator[_Part]:
    for child in part.parts:
        yield child
        yield from _walk(child)


def _gather_texts(part: _Part) -> None:
    """Put neighbouring texts of one look in a group, which then states it for all of them."""
    gathered: list[_Part] = []
    for look, texts in groupby(part.parts, key=_text_look):
        run = list(texts)
        several = look and len(run) >= _FEWEST
        gathered += [_Part(tag="g", attributes={}, parts=run)] if several and part.tag == "g" else run
    for child in part.parts:
        _gather_texts(child)
    part.parts = gathered


def _text_look(part: _Part) -> _Look:
    """Return what a text may share with others; () for other parts."""
    return tuple((name, part.attributes.get(name, "")) for name in _INHERITED) if part.tag == "text" else ()


def _lift(part: _Part) -> None:
    """Move what all parts of a group state alike onto the group."""
    for child in part.parts:
        _lift(child)
    if part.tag != "g" or not part.parts:
        return
    for name in _INHERITED:
        values = {child.attributes.get(name) for child in part.parts}
        if len(values) == 1 and None not in values:
            part.attributes[name] = values.pop() or ""
            for child in part.parts:
                del child.attributes[name]
