"""The comparison of a documented number, and its rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from suite.claims import Part, part
from suite.claims._judging import NOT_CERTIFIED, certified, near, sure, why_not_near
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate
from suite.scopes import Scope
from suite.workload import Claim

ANY_OTHER = "Any other ratio is not comparable, as the hardware differs."


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The comparison of a documented number; no parts if nothing comparable was measured."""

    rule: str  # when it is reproduced, and when refuted
    parts: tuple[Part, ...] = ()
    found: str = ""
    ratio: Estimate | None = None  # the measured one, shown beside it
    scope: Scope | None = None
    items: Sequence[Summary] = ()
    speedups: Sequence[PooledSpeedUp] = ()


Compare = Callable[[Claim, str, Evidence], Comparison]  # takes claim, workload and one machine's evidence


def agrees(
    value: Estimate, documented: float, items: Sequence[Summary] = (), against: bool = False, says: str = ""
) -> Part:
    """Return whether a ratio is near the documented one; `against` makes the part fail."""
    return part(says, near(value, documented), against, items, why_not_near(value, documented, "the ratio differs"))


def gained(rule: str, scope: Scope, item: PooledSpeedUp, documented: float, against: bool = False) -> Comparison:
    """Return the comparison of a speed-up with the documented one."""
    one = agrees(sure(item), documented, against=against)
    if one.holds is None and not certified(item):
        one = replace(one, why=NOT_CERTIFIED)
    return Comparison(rule=rule, parts=(one,), ratio=item.ratio.estimate, scope=scope, speedups=[item])
