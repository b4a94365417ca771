"""`python -m boosting --store` writes XGBoost's references; without it whole tables are trained on by both sides.

Either side may lack the other's package: `--side xgboost` and `--side jax` print one AUC a form as JSON.
"""

import json
import os
import subprocess
import sys

from boosting.quality import BOUND, WHOLE, by_jax, by_xgboost, store


def main(arguments: list[str]) -> int:
    """Return 0 if both sides agree on every form."""
    if "--store" in arguments:
        store()
        return 0
    if "--side" in arguments:
        side = by_jax if arguments[-1] == "jax" else by_xgboost
        print(json.dumps({form.name: side(form) for form in WHOLE}))
        return 0
    mine = {form.name: by_jax(form) for form in WHOLE}
    python = os.environ.get("SUITE_XGBOOST_PYTHON", sys.executable)
    command = [python, "-m", "boosting", "--side", "xgboost"]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for name, value in mine.items():
        print(f"{name}: AUC {value:.5f} of JAX, {theirs[name]:.5f} of XGBoost, {value - theirs[name]:+z.5f}")
    return int(any(abs(value - theirs[name]) > BOUND for name, value in mine.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
