"""Published records replayed: what is computed from their raw samples today is, to the bit, what was computed before.

`python -m trust.part_replay --rewrite` writes the golden file anew, from the records there are; read the difference.
"""

import argparse
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
from suite.results.single.speedup import speedups
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate

TITLE = "Do the stored runs still give the stored numbers?"
ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "site" / "records"
GOLDEN = Path(__file__).with_name("replay.json")
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
    for record in sorted(records, key=lambda r: r.name):
        item = summary(record)
        yield f"record {record.name}", f"{record.digest[:16]} {words(item.seconds, item.state)}"
    for item in sorted(speedups(records), key=lambda s: s.gpu.record.name):
        best = [words(baseline[1]) for baseline in (item.fastest_baseline, item.fastest_gpu_baseline) if baseline]
        yield f"speed-up {item.gpu.record.name}", words(item.ratio, item.state, *best)


def _comparison(name: str, first: Sequence[Record], second: Sequence[Record]) -> Iterable[tuple[str, str]]:
    if first[0].machine.slug != second[0].machine.slug or not {r.name for r in first} & {r.name for r in second}:
        return
    band = noise_floor([*first, *second])
    for row in compared(first, second):
        numbers = words(row.ratio, repr(row.chance), row.verdict(band))
        yield f"{row.second.record.name} against {name}", numbers


def differences(golden: Mapping[str, Numbers], now: Mapping[str, Numbers]) -> list[str]:
    """Return the name of each golden number that is not the same now, or not there."""
    return [
        f"{campaign}: {name}"
        for campaign, numbers in golden.items()
        for name, value in numbers.items()
        if now.get(campaign, {}).get(name) != value
    ]


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Replay every record; change the last digit of every golden number and of a raw sample of every record."""
    golden: dict[str, Numbers] = msgspec.json.decode(GOLDEN.read_bytes())
    paths = list(store.paths([RECORDS]))
    records = [store.read(path) for path in paths]
    now = replayed(records)
    unlike = differences(golden, now)
    numbers = [(campaign, name) for campaign, found in golden.items() for name in found]
    chosen = [place for place in numbers if _LAST_DIGIT.search(golden[place[0]][place[1]])][:: 20 if sample else 1]
    seen = sum(len(differences(changed(golden, *place), now)) == len(unlike) + 1 for place in chosen)
    some = paths[:: 20 if sample else 1]
    refused = sum(map(edited_is_refused, some))
    moved = [record for record in records[:: 20 if sample else 1] if summary(record).seconds]
    felt = sum(map(slower_is_felt, moved))
    new = sorted(now.keys() - golden.keys())
    figures: dict[str, float | int | str] = {
        "records replayed": len(records),
        "numbers compared": len(numbers),
        "campaigns not in the golden file yet": len(new),
    }
    findings = [
        Finding(
            what="every record, speed-up and comparison of the golden file, computed again",
            expected="the same to the last bit",
            found=f"{len(numbers) - len(unlike)} of {len(numbers)}" + "".join(f"; not {n}" for n in unlike[:3]),
            by="replay",
            good=not unlike,
        ),
        counted("the last digit of a golden number changed", seen, len(chosen), "noticed", "replay"),
        counted("the last digit of one raw sample changed in the file", refused, len(some), "refused", "digest"),
        counted("every sample of a record longer by one part in 10^12", felt, len(moved), "another time", "summary"),
    ]
    return figures, findings


def counted(what: str, seen: int, tried: int, word: str, by: str) -> Finding:
    """Return the finding that something is seen every time."""
    found = f"{word} {seen} of {tried} times"
    return Finding(what=what, expected=f"{word} every time", found=found, by=by, good=seen == tried)


def changed(golden: Mapping[str, Numbers], campaign: str, name: str) -> dict[str, Numbers]:
    """Return the golden numbers with another last digit in one result's first number that has decimals.

    The result of a case that was left out, such as of a step that takes too long, has none.
    """
    value = golden[campaign][name]
    other = _LAST_DIGIT.sub(lambda m: m[1] + str((int(m[2]) + 1) % 10), value, count=1)
    return {**golden, campaign: {**golden[campaign], name: other}}


def edited_is_refused(path: Path) -> bool:
    """Return whether a record is refused once the last digit of one of its samples is another."""
    content = store.content(path)
    other = re.sub(
        rb'("wall_seconds": [0-9.e-]*)(\d)(?=,)', lambda m: m[1] + str((int(m[2]) + 1) % 10).encode(), content, count=1
    )
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


def main() -> None:
    """Write the golden file anew if asked; else say how many numbers differ."""
    asked = argparse.ArgumentParser(prog="python -m trust.part_replay")
    asked.add_argument("--rewrite", action="store_true", help="write the golden file from the records there are")
    if asked.parse_args().rewrite:
        found = replayed(store.load([RECORDS])[0])
        GOLDEN.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
        print(f"written: {GOLDEN}")
        return
    unlike = differences(msgspec.json.decode(GOLDEN.read_bytes()), replayed(store.load([RECORDS])[0]))
    sys.exit("\n".join(unlike) or 0)


if __name__ == "__main__":
    main()
