"""Where does the CPU win? Speed-up over the work of one call, for each way of writing it, and over the batch."""

from collections.abc import Mapping, Sequence

from suite.analysis import batch_sweeps, threshold_map
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import usual_case
from suite.case import Case, Implementation
from suite.families import BATCH, NAMES, ROWS
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.thresholds import thresholds
from suite.results.views.experiment_result import ExperimentResult
from suite.workload import Description

TITLE = "From which size on does the GPU win?"
TESTS = ("O26",)
METHOD = (
    "Dense networks and tables of growing size are timed on both sides, in each way of writing the step, each side "
    "pooled over hosts. Their work is what one call from Python dispatches: the FLOP of its matrix products, or a "
    "table's rows times columns. A scan counts all its steps. Between neighbouring sizes each side's time is taken "
    "to be linear in the work: a fixed cost of a call and a cost of each FLOP. The CPU wins below the work at which"
    " both times are equal. The interval ends where the ends of the speed-up's interval cross 1. It may be quoted "
    "from three hosts on, if neither end is more than a factor of two off. The speed-up of the documented models is"
    " measured at several batch sizes. Between neighbouring sizes its logarithm is taken to be linear in the "
    "logarithm of the batch. The GPU wins from the batch above which the speed-up stays above 1. The interval of "
    "that batch ends where the ends of the speed-up's interval cross 1, so it is rather too wide than too narrow. A"
    " larger batch gains little if none has 10 % more examples a second; the last columns are the examples a second"
    " of the best larger batch over this one's. Invalid speed-ups do not count. Hollow marks may not be quoted. "
    "Batches of a documented model are timed when it is named: suite run cifar10_mlp --experiment crossover."
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
_BATCHES = (1, 4, 16, 64, 256, 1024)
_SWEEPS = {"cifar10_tf_cnn": (32, 128, 512, 2048, 4096)}  # 32 to 4,096, as O26 asks; 512 is where it was documented
_LARGEST_FLOP = 1e12  # of a step: several seconds on a few cores


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return both sides of each size and way, and of each batch. Raises RuntimeError if one of them is not there."""
    here.need_gpu("crossover")
    here.need_cpu("crossover")
    return tuple(
        usual_case(about, backend, here, batch=batch, implementation=implementation, variant=variant)
        for about in catalogue
        for batch, ways in _calls(about).items()
        for implementation, variant in ways
        for backend in here.backends
    )


def _calls(about: Description) -> Mapping[int, tuple[_Way, ...]]:
    return _CALLS.get(about.name) or dict.fromkeys(batches(about), (_PLAIN,))


def batches(about: Description) -> tuple[int, ...]:
    """Return the batch sizes of a documented model: those asked for, else as many as fit a sensible time."""
    asked = _SWEEPS.get(about.name)
    return asked or tuple(
        b for b in _BATCHES if b <= _BATCHES[1] or b <= about.batch or b * about.flop_per_example <= _LARGEST_FLOP
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return from which work and batch on the GPU wins; None if neither two sizes nor two batches were timed."""
    machine = evidence.records[0].machine.slug if evidence.records else ""
    turning = thresholds({(machine, case): pool for case, pool in evidence.pools.items()})
    sweeps = batch_sweeps.sweeps_of(evidence.speedups)
    charts = (
        *threshold_map.charts(turning),
        *((batch_sweeps.chart(sweeps), batch_sweeps.throughput(sweeps)) if sweeps else ()),
    )
    if not charts:
        return None
    tables = (
        *((threshold_map.table(turning),) if turning else ()),
        *((batch_sweeps.table(evidence, sweeps),) if sweeps else ()),
    )
    answers = (
        *threshold_map.answers(turning),
        *(batch_sweeps.answer(name, sweep) for name, sweep in sweeps.items()),
    )
    first = answers[0] if turning else batch_sweeps.lead(sweeps)
    lead = f"On {evidence.records[0].machine.name}, {first[0].lower()}{first[1:]}"
    return ExperimentResult(answers=answers, tables=tables, chart=charts[0], beside=charts[1:], lead=lead)
