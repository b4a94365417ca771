"""Write the reference numbers of networks from PyTorch, or compare them all: python references.py [--check] [NAME...].

Needs PyTorch beside JAX; `nox -s parity` has both.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # parity is a package beside the tests

from parity import networks
from parity.jax_side import JaxSide
from parity.comparison import BOUNDS, errors, store, stored
from parity.torch_side import numbers

COLUMNS = ("logits", "loss", "gradients", "steps", "statistics", "float32")


def main() -> int:
    """Return 0 if every reference was written, or with --check if all agree."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--check", action="store_true", help="compare JAX and the stored references with PyTorch")
    asked.add_argument("--json", type=Path, help="where the table goes as JSON")
    asked.add_argument("names", nargs="*", metavar="NAME", help=f"all: {', '.join(networks.names())}")
    given = asked.parse_args()
    rows = []
    print(f"{'network':26}" + "".join(f"{column:>11}" for column in COLUMNS) + f"{'stored':>11}  verdict")
    for name in given.names or networks.names():
        start, side = time.monotonic(), JaxSide(name)
        fresh = numbers(side, name)
        if not given.check:
            store(name, fresh)
        row = {"network": name, **dict(errors(side, fresh))}
        away = dict(errors(stored(name), fresh))
        row["stored"] = max(away[check] / BOUNDS[check] if BOUNDS[check] else away[check] for check in BOUNDS)
        row["agrees"] = all(row[check] <= bound for check, bound in BOUNDS.items()) and row["stored"] <= 1
        row["seconds"] = time.monotonic() - start
        rows.append(row)
        figures = "".join(f"{row[column]:11.1e}" for column in (*COLUMNS, "stored"))
        print(f"{name:26}{figures}  {'agrees' if row['agrees'] else 'DIFFERS'}", flush=True)
    print(f"{'bound':26}" + "".join(f"{BOUNDS[column]:11.0e}" for column in COLUMNS) + f"{1:11.0e}")
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({"bounds": BOUNDS, "networks": rows}, indent=1) + "\n")
    return 0 if all(row["agrees"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
