"""How well boosted trees tell rows apart, by either side, on a table of each form. NumPy alone until JAX is asked."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from suite.data.random_loans import COLUMNS, DELINQUENT, binned, edges, table

if TYPE_CHECKING:
    from suite.nn.growth import Growth

STORED = Path(__file__).parent / "stored.json"
BOUND = 1e-4  # of the difference in AUC; 0.002 was asked for, which trees without L1 and L2 keep too


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form of a table and how many rows of it are drawn."""

    name: str
    columns: int
    positive: float
    rows: int
    tested: int


SMALL = (
    Form(name="mortgage", columns=COLUMNS, positive=DELINQUENT, rows=16_384, tested=16_384),
    Form(name="higgs_1m", columns=28, positive=0.53, rows=16_384, tested=16_384),
)
WHOLE = (
    Form(name="mortgage", columns=COLUMNS, positive=DELINQUENT, rows=400_000, tested=100_000),
    Form(name="higgs_1m", columns=28, positive=0.53, rows=1_000_000, tested=100_000),
)
FORMS = (*WHOLE, *SMALL)
Tables = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def named(form: Form) -> str:
    """Return the name of a table of one size."""
    return f"{form.name}, {form.rows} rows"


def tables(form: Form) -> Tables:
    """Return (bins uint8[N,C], labels float32[N]) to train on and to test with, in the bins of the first."""
    rng = np.random.default_rng(20_190_228)
    features, labels = table(rng, form.rows, form.columns, form.positive)
    tested, truth = table(rng, form.tested, form.columns, form.positive)
    upper = edges(features)
    return (binned(features, upper), labels), (binned(tested, upper), truth)


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the chance that a positive row has the higher score than a negative one; equal scores count half."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive = int(labels.sum())
    return float((rank[labels > 0].sum() - positive * (positive + 1) / 2) / positive / (len(labels) - positive))


def by_xgboost(form: Form) -> float:
    """Return the AUC of XGBoost's trees on rows that they have not seen."""
    import xgboost  # pyright: ignore[reportMissingImports]

    from suite import controls_xgboost

    control = controls_xgboost.load("gbdt_mortgage")
    (bins, labels), (tested, truth) = tables(form)
    rows = xgboost.QuantileDMatrix(bins.astype(np.float32), labels, max_bin=control.bins)
    booster = xgboost.train({**control.parameters, "max_bin": control.bins}, rows, control.rounds)
    return auc(booster.predict(xgboost.DMatrix(tested.astype(np.float32))), truth)


def by_jax(form: Form, growth: "Growth | None" = None) -> float:
    """Return the AUC of the trees of the timed program on rows that they have not seen; `growth` plants another."""
    import jax
    import jax.numpy as jnp

    from suite import models
    from suite.case import Case
    from suite.nn.trees import predicted
    from suite.programs.jax.boosting import BoostingProgram

    (bins, labels), (tested, truth) = tables(form)
    workload = models.load("gbdt_mortgage")
    workload = replace(workload, growth=growth or workload.growth)
    case = Case(workload="gbdt_mortgage", backend="cpu", scope="step", batch=form.rows, data="random", threads=1)
    program = BoostingProgram(workload, case)
    program.initialise(0)
    program.put([{"bins": bins, "labels": labels}])
    program.lower()
    program.compile()
    program.chain(workload.growth.rounds)
    program.block()
    margins = jax.jit(predicted, static_argnums=0)(workload.growth, program.forest(), jnp.asarray(tested.T))
    return auc(np.asarray(margins), truth)


def stored() -> dict[str, float]:
    """Return XGBoost's AUC of each small form."""
    return {name: entry["auc"] for name, entry in json.loads(STORED.read_text())["forms"].items()}


def store() -> None:
    """Write XGBoost's AUC of each small form."""
    import xgboost  # pyright: ignore[reportMissingImports]

    found = {form.name: {"auc": by_xgboost(form), **asdict(form)} for form in SMALL}
    STORED.write_text(json.dumps({"xgboost": xgboost.__version__, "forms": found}, indent=1) + "\n")
