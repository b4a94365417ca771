"""Published records replayed: what is computed from their raw samples today is, to the bit, what was computed before.

The records are published, so a digest of what each campaign comes to is enough. `python -m trust.part_replay` writes
every number to `build/replay.json`, where two commits can be compared, and with `--rewrite` the digests anew.
"""

import argparse
import hashlib
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from suite.results.compare.comparison import compared, noise_floor
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.single.paired_speedup import baselines_of, speedups
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate

TITLE = "Do the stored runs still give the stored numbers?"
ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "site" / "records"
GOLDEN = Path(__file__).with_name("replay.json")
NUMBERS = ROOT / "build" / "replay.json"
_DIGITS = 16  # of a digest, 64 bits
_LAST_DIGIT = re.compile(r"(\.\d*)(\d)(?=[ e]|$)")

Numbers = dict[str, str]  # a result's name to its numbers, each written so that reading gives the same bits


def words(estimate: Estimate | None, *more: object) -> str:
    """Return an estimate and what else is to be the same, as text that loses nothing."""
    numbers = (estimate.value, estimate.low, estimate.high, estimate.processes) if estimate else ()
    return " ".join([*map(repr, numbers), *map(str, more)])


def replayed(records: Iterable[Record]) -> dict[str, Numbers]:
    """Return what the records come to, by campaign: digests, times, speed-ups, and comparisons with later campaigns."""
    campaigns: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        campaigns[record.campaign].append(record)
    found = {name: dict(_campaign(mine)) for name, mine in sorted(campaigns.items())}
    for one, other in combinations(sorted(campaigns), 2):
        found[other] |= dict(_comparison(one, campaigns[one], campaigns[other]))
    return found


def _campaign(records: Sequence[Record]) -> Iterable[tuple[str, str]]:
    items = [summary(record) for record in sorted(records, key=lambda r: r.name)]
    for item in items:
        yield f"record {item.record.name}", f"{item.record.digest[:16]} {words(item.seconds, item.state)}"
    for item in sorted(speedups(records), key=lambda s: s.gpu.record.name):
        sides = item.baselines, baselines_of(item.gpu, items)
        best = [words(min((ratio for _, ratio in side), key=lambda ratio: ratio.value)) for side in sides if side]
        yield f"speed-up {item.gpu.record.name}", words(item.ratio, item.state, *best)


def _comparison(name: str, first: Sequence[Record], second: Sequence[Record]) -> Iterable[tuple[str, str]]:
    if first[0].machine.slug != second[0].machine.slug or not {r.name for r in first} & {r.name for r in second}:
        return
    band = noise_floor([*first, *second])
    for row in compared(first, second):
        numbers = words(row.ratio, repr(row.chance), row.verdict(band))
        yield f"{row.second.record.name} against {name}", numbers


def kept(numbers: Mapping[str, str]) -> str:
    """Return what is kept of a campaign: how many results it has, and the digest of their names and numbers."""
    lines = "\n".join(f"{name}: {value}" for name, value in sorted(numbers.items()))
    return f"{len(numbers)} {hashlib.sha256(lines.encode()).hexdigest()[:_DIGITS]}"


def results(golden: Iterable[str]) -> int:
    """Return how many results some campaigns have."""
    return sum(int(each.split()[0]) for each in golden)


def differences(golden: Mapping[str, str], now: Mapping[str, Numbers]) -> list[str]:
    """Return the name of each campaign whose numbers are not the same now, or not there."""
    return [campaign for campaign, before in golden.items() if kept(now.get(campaign, {})) != before]


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Replay every record; change the last digit of every number and of a raw sample of every record."""
    golden = stored()
    paths = list(store.paths([RECORDS]))
    records = [store.read(path) for path in paths]
    now = replayed(records)
    unlike, total = differences(golden, now), results(golden.values())
    same = total - results(golden[campaign] for campaign in unlike)
    numbers = [(campaign, name) for campaign in golden.keys() & now for name in now[campaign]]
    chosen = [place for place in sorted(numbers) if _LAST_DIGIT.search(now[place[0]][place[1]])][:: 20 if sample else 1]
    seen = sum(kept(changed(now[campaign], name)) != kept(now[campaign]) for campaign, name in chosen)
    some = paths[:: 20 if sample else 1]
    refused = sum(map(edited_is_refused, some))
    moved = [record for record in records[:: 20 if sample else 1] if summary(record).seconds]
    felt = sum(map(slower_is_felt, moved))
    new = sorted(now.keys() - golden.keys())
    figures: dict[str, float | int | str] = {
        "records replayed": len(records),
        "numbers compared": total,
        "campaigns not in the golden file yet": len(new),
    }
    findings = [
        Finding(
            what="every record, speed-up and comparison of the golden file, computed again",
            expected="the same to the last bit",
            found=f"{same} of {total}" + "".join(f"; not all of {campaign}" for campaign in unlike[:3]),
            by="replay",
            good=not unlike,
        ),
        counted("the last digit of a number changed", seen, len(chosen), "noticed", "replay"),
        counted("the last digit of one raw sample changed in the file", refused, len(some), "refused", "digest"),
        counted("every sample of a record longer by one part in 10^12", felt, len(moved), "another time", "summary"),
    ]
    return figures, findings


def counted(what: str, seen: int, tried: int, word: str, by: str) -> Finding:
    """Return the finding that something is seen every time."""
    found = f"{word} {seen} of {tried} times"
    return Finding(what=what, expected=f"{word} every time", found=found, by=by, good=seen == tried)


def changed(numbers: Numbers, name: str) -> Numbers:
    """Return a campaign's numbers with another last digit in one result's first number that has decimals.

    The result of a case that was left out, such as of a step that takes too long, has none.
    """
    other = _LAST_DIGIT.sub(lambda m: m[1] + str((int(m[2]) + 1) % 10), numbers[name], count=1)
    return {**numbers, name: other}


def edited_is_refused(path: Path) -> bool:
    """Return whether a record is refused once the last digit of one of its samples is another."""
    content = store.content(path)
    found = re.search(rb'"wall_seconds": ([0-9.e-]*)(?=,)', content)
    first, last = found.span(1)
    digits = (content[first : last - 1] + str(digit).encode() for digit in range(10))
    other_digits = next(each for each in digits if float(each) != float(found[1]))  # the 17th may change no value
    other = content[:first] + other_digits + content[last:]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(other)
        try:
            store.read(copy)
        except ValueError as error:
            return "its digest does not match" in str(error)
    return False


def slower_is_felt(record: Record) -> bool:
    """Return whether a record's time is another once its samples last slightly longer."""
    runs = tuple(
        msgspec.structs.replace(
            run,
            samples=tuple(msgspec.structs.replace(s, wall_seconds=s.wall_seconds * (1 + 1e-12)) for s in run.samples),
        )
        for run in record.runs
    )
    before, after = summary(record).seconds, summary(msgspec.structs.replace(record, runs=runs)).seconds
    return before is not None and after is not None and after.value > before.value


def stored() -> dict[str, str]:
    """Return what is kept of each campaign."""
    return msgspec.json.decode(GOLDEN.read_bytes())


def written(file: Path, content: object) -> str:
    """Write a file of JSON, and return a line that says so."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")
    return f"written: {file}"


def main() -> None:
    """Write the numbers of today, and the golden file anew if asked; else say which campaigns differ."""
    asked = argparse.ArgumentParser(prog="python -m trust.part_replay")
    asked.add_argument("--rewrite", action="store_true", help="write the golden file from the records there are")
    rewrite, now = asked.parse_args().rewrite, replayed(store.load([RECORDS])[0])
    print(written(NUMBERS, now))
    if rewrite:
        print(written(GOLDEN, {campaign: kept(numbers) for campaign, numbers in now.items()}))
        return
    sys.exit("\n".join(differences(stored(), now)) or 0)


if __name__ == "__main__":
    main()
