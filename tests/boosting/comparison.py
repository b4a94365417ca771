"""Trees of JAX beside those of XGBoost, which is asked in an environment of its own, and beside trees with a bug."""

import datetime
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from boosting.bugs import BUGS, planted
from boosting.quality import BOUND, FORMS, SMALL, Form, by_jax, named
from suite.results.evidence import parity
from suite.system.counters import granted_cores
from suite.system.machine import cpu_model
from suite.system.software import commit

EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"
PACKAGES = ("jax", "jaxlib", "numpy")


def compared() -> int:
    """Write what was found into the site's evidence; return 0 if the trees are as good and every bug was seen."""
    command = [os.environ.get("SUITE_XGBOOST_PYTHON", sys.executable), "-m", "boosting", "--xgboost"]
    theirs = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    forests = tuple(grown(form, theirs["auc"][named(form)]) for form in FORMS)
    found = parity.Trees(
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        machine=cpu_model(),
        cores=granted_cores(),
        packages={name: version(name) for name in PACKAGES} | {"xgboost": theirs["version"]},
        bound=BOUND,
        forests=forests,
        planted=tuple(with_bug(bug, {form: theirs["auc"][named(form)] for form in SMALL}) for bug in BUGS),
    )
    print(f"written: {found.write(EVIDENCE)}")
    return int(not found.good)


def grown(form: Form, xgboost: float) -> parity.Forest:
    """Return both sides' AUC on a table, and print it."""
    auc = by_jax(form)
    print(f"{named(form)}: AUC {auc:.5f} of JAX, {xgboost:.5f} of XGBoost, {auc - xgboost:+.1e}", flush=True)
    return parity.Forest(
        table=form.name, columns=form.columns, rows=form.rows, tested=form.tested, jax=auc, xgboost=xgboost
    )


def with_bug(bug: str, right: dict[Form, float]) -> parity.Planted:
    """Return what was seen of a bug, and print it."""
    found = planted(bug, right)
    seen = "seen" if abs(found.difference) > BOUND else "NOT SEEN"
    print(f"{bug}: {found.difference:+.1e} on {found.table}, {seen}", flush=True)
    return found
