"""gbdt_mortgage in XGBoost on tables of any number of columns."""

from functools import partial

from suite.controls_xgboost._base import Control
from suite.controls_xgboost.gbdt_mortgage import PARAMETERS
from suite.data.random_loans import BINS, loans
from suite.families import Size


def made(name: str, size: Size) -> Control:
    """Return the trees on a table of that many columns."""
    del name
    return Control(parameters=PARAMETERS, rounds=100, bins=BINS, draw=partial(loans, columns=size.width), input_sets=2)
