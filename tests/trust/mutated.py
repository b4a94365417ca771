"""Published records changed by chance: cut short, with a bit flipped, or with parts changed that a record has.

Nine in ten are of the smallest quarter, of up to 17 kB: many different records in little time. Of the others, up to 300
kB, random places are tried.
"""

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from suite.results.records import store
from suite.results.records.acceptance import validate
from suite.results.records.record import digest
from trust import structure

PUBLISHED = Path(__file__).parents[2] / "site" / "records"
_EACH = 20  # copies of each kind of a record that was read
_MANY = 8  # runs: a mutant of more takes long
_SMALL_SHARE = 0.9
_PLACE = re.compile(r"at (line \d+ column \d+|\$[^ ]*)")


class Tally(msgspec.Struct, kw_only=True):
    """What became of changed copies."""

    records: int = 0  # that were read, some twice
    cut: int = 0
    flipped: int = 0
    changed: int = 0  # in their structure
    changed_taken: int = 0
    cut_troubles: list[str] = []
    flipped_troubles: list[str] = []
    changed_troubles: list[str] = []

    @property
    def files(self) -> int:
        """All copies."""
        return self.cut + self.flipped + self.changed


def added(tallies: list[Tally]) -> Tally:
    """Return several tallies as one."""
    none = msgspec.structs.asdict(Tally())
    return Tally(**{name: sum((getattr(each, name) for each in tallies), zero) for name, zero in none.items()})


def tried(seed: int, number: int, seconds: float, records: int | None = None) -> Tally:
    """Change records for so long, or so many of them, by the dice of a seed and number; return what became of them."""
    dice, tally, until = random.Random(f"{seed}/{number}"), Tally(), time.monotonic() + seconds
    drawn, donor = paths_by_chance(dice), None
    while tally.records < records if records is not None else time.monotonic() < until:
        path = next(drawn)
        content = store.content(path)
        tally.records += 1
        where = f"seed {seed}, {number}/{tally.records}, {path.name}"
        for _ in range(_EACH):
            place = dice.randrange(len(content))
            tally.cut += 1
            tally.cut_troubles += [f"{where}: {line}"] if (line := spoilt(content[:place])) else []
            place, bit = dice.randrange(len(content)), dice.randrange(8)
            tally.flipped += 1
            tally.flipped_troubles += [f"{where}: {line}"] if (line := spoilt(flipped(content, place, bit))) else []
        one = structure.Parts(msgspec.json.decode(content))
        if len(one.plain["runs"]) > _MANY:
            continue
        for _ in range(_EACH if donor else 0):
            made = structure.mutant(one, donor, dice)
            if made is None:
                continue
            what, plain = made
            taken, line = structure.breaks(sealed(plain))
            tally.changed, tally.changed_taken = tally.changed + 1, tally.changed_taken + taken
            tally.changed_troubles += [f"{where}, {what}: {line}"] if line else []
        donor = one.plain
    return tally


def paths_by_chance(dice: random.Random) -> Iterator[Path]:
    """Yield published records, small ones more often; without end."""
    paths = sorted(store.paths([PUBLISHED]), key=lambda path: (len(store.content(path)), path))
    small = paths[: max(1, len(paths) // 4)]
    while True:
        yield dice.choice(small if dice.random() < _SMALL_SHARE else paths)


def sealed(plain: structure.Plain) -> bytes:
    """Return the file of plain data with a digest that matches, as a forger would make it."""
    blank = msgspec.json.format(msgspec.json.encode({**plain, "digest": ""}), indent=1) + b"\n"
    return blank.replace(b'"digest": ""', b'"digest": "%s"' % digest(blank).encode())


def spoilt(content: bytes) -> str:
    """Return what is wrong with how a damaged file was met; '' if it was refused in one line with its place."""
    try:
        validate(content)
    except ValueError as error:
        return "" if clear(str(error)) else f"refused unclearly: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def flipped(content: bytes, place: int, bit: int) -> bytes:
    """Return the content with one bit of the byte at a place turned."""
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def clear(line: str) -> bool:
    """Return whether a refusal has its place and stays on one line."""
    return bool(_PLACE.search(line)) and "\n" not in line
