"""`python -m boosting` compares trees of JAX with XGBoost's on whole tables and leaves the site's evidence.

XGBoost may have an environment of its own, which lacks JAX: there `--xgboost` prints its AUC of each table as JSON, and
`--store` writes the references of the tests anew.
"""

import argparse
import json
import sys

from boosting.quality import FORMS, by_xgboost, named, store


def main() -> int:
    """Return 0 if both sides agree on every table."""
    asked = argparse.ArgumentParser(prog="python -m boosting", description=__doc__.splitlines()[0])
    side = asked.add_mutually_exclusive_group()
    side.add_argument("--store", action="store_true", help="write XGBoost's AUC on small tables for the tests")
    side.add_argument("--xgboost", action="store_true", help="print XGBoost's AUC of each table as JSON")
    options = asked.parse_args()
    if options.store:
        store()
    elif options.xgboost:
        import xgboost  # pyright: ignore[reportMissingImports]

        print(json.dumps({"version": xgboost.__version__, "auc": {named(form): by_xgboost(form) for form in FORMS}}))
    else:
        from boosting.comparison import compared

        return compared()
    return 0


if __name__ == "__main__":
    sys.exit(main())
