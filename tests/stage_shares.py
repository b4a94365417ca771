"""Prints where the processes of campaigns spent their time: python tests/stage_shares.py FOLDER_OF_RECORDS."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from suite.results.records import store


def processes(folder):
    """Yield workload, backend, implementation, scope and round of each process, and the seconds of its stages."""
    seen = set()
    for path in sorted((*Path(folder).rglob("*.json"), *store.packed(Path(folder), deep=True))):
        record = json.loads(store.content(path))
        if not isinstance(record, dict) or "runs" not in record:
            continue
        case = record["case"]
        for run in record["runs"]:
            process = record["campaign"], run["round"], run["position"]  # measures several scopes, a record each
            if process in seen:
                continue
            seen.add(process)
            stages = Counter()
            for stage in run["stages"]:
                stages[stage["name"]] += stage["wall_seconds"]
            when = "first" if run["round"] == 0 else "later"
            yield (record["workload"], record["backend"], case["implementation"], case["scope"], when), stages


def main(folder):
    """Print the share of each stage in all processes, and the mean seconds of each kind of process."""
    groups = defaultdict(list)
    for kind, stages in processes(folder):
        groups[kind].append(stages)
    everything, count = Counter(), sum(map(len, groups.values()))
    for stages in (each for found in groups.values() for each in found):
        everything.update(stages)
    total = sum(everything.values())
    print(f"{folder}: {count} processes, {total / max(1, count):.2f} s each")
    print(" ".join(f"{name} {seconds / total:.1%}" for name, seconds in everything.most_common()))
    for kind, found in groups.items():
        means = {name: sum(stages[name] for stages in found) / len(found) for name in everything}
        words = " ".join(f"{name} {seconds:.2f}" for name, seconds in means.items() if seconds >= 0.005)
        print(*kind, f"n={len(found)} total {sum(means.values()):.2f}:", words)


if __name__ == "__main__":
    main(sys.argv[1])
