"""Mutants of records that know a record's structure: parts swapped, repeated, lost, moved, off by one or by a thousand.

Each gets the digest that its content then has, as a careful forger or a faulty tool would write it. It has to be
refused in one line with its place, or to be taken and judged like any record: what it says may be wrong, yet nothing
may break.
"""

import copy
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


def put(plain: Plain, way: Place, value: Any) -> None:
    """Put a value at a place."""
    found(plain, way[:-1])[way[-1]] = value


def mutant(plain: Plain, donor: Plain, dice: random.Random) -> tuple[str, Plain] | None:
    """Return a changed copy of a record's plain data and what was done; None if the dice chose what cannot be done.

    `donor` is another record, of which parts are taken.
    """
    changed, kind = copy.deepcopy(plain), dice.choice(tuple(FITS))
    every = list(places(changed))
    fitting = [each for each in every if FITS[kind](each[1])]
    if not fitting:
        return None
    way, value = dice.choice(fitting)
    if kind == "swap":
        others = [(other, part) for other, part in every if type(part) is type(value) and part != value]
        if not others:
            return None
        other, part = dice.choice(others)
        if other[: len(way)] == way or way[: len(other)] == other:  # one is within the other
            return None
        put(changed, way, copy.deepcopy(part))
        put(changed, other, copy.deepcopy(value))
    elif kind == "lose":
        del found(changed, way[:-1])[way[-1]]
    elif kind == "move":
        try:
            put(changed, way, copy.deepcopy(found(donor, way)))
        except (LookupError, TypeError):
            return None
    else:
        put(changed, way, _altered(kind, value, dice))
    return None if changed == plain else (f"{kind} at {'.'.join(map(str, way))}", changed)


def _altered(kind: str, value: Any, dice: random.Random) -> Any:
    """Return the value changed in itself."""
    if kind == "repeat":
        return [*value, copy.deepcopy(dice.choice(value))]
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
