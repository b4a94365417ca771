"""Where does the CPU win? Speed-up over the work of one call, for each way of writing it."""

from collections.abc import Mapping, Sequence

from suite.analysis import threshold_map
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import usual_case
from suite.case import Case, Implementation
from suite.families import BATCH, NAMES, ROWS
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.thresholds import thresholds
from suite.results.views.experiment_result import ExperimentResult
from suite.workload import Description

TITLE = "From which size on does the GPU win?"
TESTS = ()
METHOD = (
    "Dense networks and tables of growing size are timed on both sides, in each way of writing the step, each side "
    "pooled over hosts. Their work is what one call from Python dispatches: the FLOP of its matrix products, or a "
    "table's rows times columns. A scan counts all its steps. Between neighbouring sizes each side's time is taken to "
    "be linear in the work: a fixed cost of a call and a cost of each FLOP. The CPU wins below the work at which both "
    "times are equal. The interval ends where the ends of the speed-up's interval cross 1. It may be quoted from "
    "three hosts on, if neither end is more than a factor of two off. Invalid speed-ups do not count. Hollow marks "
    "may not be quoted. Experiment batch tells what a larger batch of a documented model gains."
)
WORKLOADS = NAMES

_Way = tuple[Implementation, str]  # an implementation and its variant
_PLAIN: _Way = ("jax", "plain")
_SCAN: _Way = ("jax", "scan")
_TUTORIAL: _Way = ("jax", "nnx-jit")
_EAGER: _Way = ("torch", "plain")
_XGBOOST: _Way = ("xgboost", "plain")
BASELINES: tuple[Implementation, ...] = ("torch", "xgboost")  # beside JAX, where they are installed

# Batches of each member of a family, with the ways that turn near there: each costs two processes. Where one fixed cost
# is higher, as that of eager PyTorch on a GPU, the CPU wins larger steps.
_CALLS: Mapping[str, Mapping[int, tuple[_Way, ...]]] = {
    "crossover_mlp_32x2": {BATCH: (_PLAIN, _SCAN)},
    "crossover_mlp_128x2": {2: (_PLAIN,), BATCH: (_PLAIN, _SCAN, _TUTORIAL, _EAGER)},  # 2: about the FLOP of 32x2
    "crossover_mlp_512x2": {BATCH: (_PLAIN, _TUTORIAL, _EAGER)},
    "crossover_mlp_256x8": {BATCH: (_EAGER,)},  # about the FLOP of 512x2, four times the layers
    "crossover_mlp_2048x2": {BATCH: (_TUTORIAL, _EAGER)},
    "crossover_trees_5": {1024: (_PLAIN, _XGBOOST), ROWS: (_PLAIN, _XGBOOST)},
    "crossover_trees_45": {ROWS: (_XGBOOST,)},
}


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return both sides of each size and way. Raises RuntimeError if one of them is not there."""
    here.need_gpu("crossover")
    here.need_cpu("crossover")
    return tuple(
        usual_case(about, backend, here, batch=batch, implementation=implementation, variant=variant)
        for about in catalogue
        for batch, ways in _CALLS.get(about.name, {}).items()
        for implementation, variant in ways
        for backend in here.backends
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return from which work on the GPU wins; None if no two sizes were timed."""
    if not evidence.records:
        return None
    machine = evidence.records[0].machine.slug
    turning = thresholds({(machine, case): pool for case, pool in evidence.pools.items()})
    if not turning:
        return None
    answers, charts = threshold_map.answers(turning), threshold_map.charts(turning)
    return ExperimentResult(
        answers=answers,
        tables=(threshold_map.table(turning),),
        chart=charts[0],
        beside=charts[1:],
        lead=f"{answers[0][0].lower()}{answers[0][1:]}",
    )
