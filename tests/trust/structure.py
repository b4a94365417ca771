"""Mutants of records that know a record's structure: parts swapped, repeated, lost, moved, off by one or by a thousand.

Each gets the digest that its content then has, as a careful forger or a faulty tool would write it. It has to be
refused in one line with its place, or to be taken and judged like any record: what it says may be wrong, yet nothing
may break.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from suite.results.records.acceptance import validate
from suite.results.records.record import Record, to_json
from suite.results.single.summary import summary

Plain = dict[str, Any]
Place = tuple[str | int, ...]
_NEVER = {"digest", "schema"}  # tried by hand: a digest always matches here


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


FITS: dict[str, Callable[[Any], bool]] = {  # what each kind of change can be made of
    "swap": lambda value: True,
    "lose": lambda value: True,
    "move": lambda value: True,
    "repeat": lambda value: isinstance(value, list) and bool(value),
    "turn": lambda value: isinstance(value, list) and len(value) > 1,
    "empty": lambda value: isinstance(value, dict | list | str) and bool(value),
    "scale": _number,
    "step": _number,
}


def places(value: Any, way: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every part of plain data with the way to it."""
    if way:
        yield way, value
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in _NEVER:
                yield from places(each, (*way, key))


def found(plain: Any, way: Place) -> Any:
    """Return the part at a place. Raises LookupError or TypeError if there is none."""
    for key in way:
        plain = plain[key]
    return plain


def put(plain: Any, way: Place, value: Any) -> Any:
    """Return plain data with a value at a place; it shares every other part with the one before."""
    if not way:
        return value
    copied = plain.copy()
    copied[way[0]] = put(plain[way[0]], way[1:], value)
    return copied


def without(plain: Any, way: Place) -> Any:
    """Return plain data that lacks the part at a place; it shares every other part with the one before."""
    copied = found(plain, way[:-1]).copy()
    del copied[way[-1]]
    return put(plain, way[:-1], copied)


class Parts:
    """A record's plain data and all its parts, looked up once for many mutants."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        every = list(places(plain))
        self.fitting = {kind: [each for each in every if fits(each[1])] for kind, fits in FITS.items()}
        self.of_type: dict[type, list[tuple[Place, Any]]] = {}
        for way, value in every:
            self.of_type.setdefault(type(value), []).append((way, value))


def mutant(one: Parts, donor: Plain, dice: random.Random) -> tuple[str, Plain] | None:
    """Return a changed copy of a record's plain data and what was done; None if the dice chose what cannot be done.

    `donor` is another record, of which parts are taken.
    """
    kind, plain = dice.choice(tuple(FITS)), one.plain
    if not one.fitting[kind]:
        return None
    way, value = dice.choice(one.fitting[kind])
    if kind == "swap":
        other, part = dice.choice(one.of_type[type(value)])
        if other[: len(way)] == way or way[: len(other)] == other:  # one is within the other
            return None
        changed = put(put(plain, way, part), other, value)
    elif kind == "lose":
        changed = without(plain, way)
    elif kind == "move":
        try:
            changed = put(plain, way, found(donor, way))
        except (LookupError, TypeError):
            return None
    else:
        changed = put(plain, way, _altered(kind, value, dice))
    return None if changed == plain else (f"{kind} at {'.'.join(map(str, way))}", changed)


def _altered(kind: str, value: Any, dice: random.Random) -> Any:
    """Return the value changed in itself."""
    if kind == "repeat":
        return [*value, dice.choice(value)]
    if kind == "turn":
        return value[::-1]
    if kind == "empty":
        return type(value)()
    return value * dice.choice((1000, 0.001, -1, 1e-9)) if kind == "scale" else value + dice.choice((1, -1))


def breaks(sealed: bytes) -> tuple[bool, str]:
    """Return whether a mutant's file was taken, and what broke; '' if nothing did."""
    try:
        record = validate(sealed)
    except ValueError as error:
        line = str(error)
        return False, "" if "\n" not in line and line.isprintable() else f"an unclear line: {line[:100]!r}"
    except Exception as error:
        return False, f"{type(error).__name__} while it was read: {error}"
    try:
        said = summary(record)
        if said.state == "quotable":
            return True, "one record alone is quotable"
        if msgspec.json.decode(to_json(record), type=Record) != record:
            return True, "another record once it is written and read again"
    except Exception as error:
        return True, f"{type(error).__name__} while it was judged: {error}"
    return True, ""
