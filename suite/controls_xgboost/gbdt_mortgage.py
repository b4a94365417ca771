"""gbdt_mortgage in XGBoost, with the documented parameters, otherwise with the defaults of 2019."""

from suite.controls_xgboost._base import Control
from suite.data.random_loans import BINS, loans

PARAMETERS = {
    "objective": "reg:squarederror",
    "tree_method": "hist",
    "grow_policy": "depthwise",  # leaf by leaf gives the same trees in more time
    "max_depth": 8,
    "max_leaves": 256,
    "eta": 0.1,
    "gamma": 0.1,
    "alpha": 0.9,
    "lambda": 1.0,
    "subsample": 1.0,
    "scale_pos_weight": 2.0,
    "min_child_weight": 30.0,
    "base_score": 0.5,  # the default in 2019
}
CONTROL = Control(parameters=PARAMETERS, rounds=100, bins=BINS, draw=loans, input_sets=2)
