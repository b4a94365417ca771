"""Bugs planted in how the trees of JAX grow, which a comparison with XGBoost's AUC has to see."""

from collections.abc import Mapping
from dataclasses import replace

from boosting.quality import Form, by_jax
from suite import models
from suite.results.evidence.parity import Planted

GROWTH = models.load("gbdt_mortgage").growth
BUGS = {
    "a level too few": {"depth": GROWTH.depth - 1},
    "half the rounds": {"rounds": GROWTH.rounds // 2},
    "three times the learning rate": {"rate": 3 * GROWTH.rate},
    "positive rows count once": {"positive_weight": 1.0},
    "a child may be of any weight": {"least_hessian": 0.0},
    "a split has to gain 300 times as much": {"least_gain": 300 * GROWTH.least_gain},
    "neither L1 nor L2": {"l1": 0.0, "l2": 0.0},
}


def planted(bug: str, right: Mapping[Form, float]) -> Planted:
    """Return how far a bug takes the AUC from the right one, on the table where it is farthest."""
    wrong = replace(GROWTH, **BUGS[bug])
    away = {form: by_jax(form, wrong) - auc for form, auc in right.items()}
    form = max(away, key=lambda form: abs(away[form]))
    return Planted(bug=bug, table=form.name, rows=form.rows, difference=away[form])
