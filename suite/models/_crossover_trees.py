"""The trees of gbdt_mortgage on tables of any number of columns, to find where a GPU begins to pay.

Source: that of gbdt_mortgage. Reported: nothing.
"""

import dataclasses
from functools import partial

import msgspec

from suite.data.random_loans import loans
from suite.families import ROWS, Size
from suite.models import gbdt_mortgage
from suite.workload import Workload


def made(name: str, size: Size) -> Workload:
    """Return one boosting round on a table of that many columns."""
    about = msgspec.structs.replace(
        gbdt_mortgage.WORKLOAD.description,
        name=name,
        title=f"Boosted trees, {size.width} columns",
        claims=(),
        differs=("No documented model: a table as small as it takes for the CPU to win.",),
        batch=ROWS,
    )
    return dataclasses.replace(gbdt_mortgage.WORKLOAD, description=about, draw=partial(loans, columns=size.width))
