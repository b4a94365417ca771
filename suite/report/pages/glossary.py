"""The glossary: each word comes from the code that defines it, so none can be missing."""

from collections.abc import Mapping, Sequence

from suite import units
from suite.case import Allocator, Case, Implementation, Precision
from suite.former import AXES
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.evidence.trust import HOLDING, Part
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.stats.state import MAX_HALF_WIDTH, State
from suite.results.stats.statistics import COVERAGE
from suite.results.views.table import INTERVAL, ON_ONE_HOST
from suite.scopes import SCOPES
from suite.variants import WRITTEN, keras_backend, way_of

PATH = "glossary.md"
_STATES: dict[State, str] = {
    "quotable": f"It may be quoted of its kind of machine: it has at least {FEWEST_HOSTS} hosts, the half-width of "
    f"its interval is at most {units.percent(MAX_HALF_WIDTH)}, and a speed-up of a step is certified.",
    "open": "It may not be quoted of its kind of machine yet, and the reason stands with it: it is of one host or "
    "of too few, its interval is too wide, or its certificate is open.",
    "not certified": f"Another way surely beats JAX on this CPU: a baseline takes less than {CERTIFIED_FROM:g} of "
    "JAX's time, or JAX with fewer threads takes any less.",
    "invalid": "A check shows that the number cannot be true, or that CPU and GPU computed different things.",
}
_COLUMNS = {
    "gaps": "The rest of a step's wall time, in which the GPU waits for the next launch. A step is launch-bound if its "
    "gaps are surely more than 10 %.",
    "slope": "By how much the logarithm of a step's time changes with that of a reference kernel's speed.",
    "hosts": "How many hosts stand behind a speed-up, of the side that has fewer.",
    "next host": "Where a campaign of one round on a further host of this kind comes out, in 95 of 100 cases.",
    "baseline / JAX": "The time of the fastest other implementation over JAX's, on the same hosts: above 1 JAX is the "
    "faster one. A dash: none was timed.",
    ON_ONE_HOST: "What speaks against a number of one campaign, which is of one host and so never quotable of its kind "
    "of machine; a dash: nothing does.",
    "best / best": "The fastest CPU way's time over the fastest GPU way's, of any implementation.",
}
_CERTIFIED = (
    "Of the CPU side of a speed-up: the fastest other implementation on the same cores surely takes at least "
    f"{CERTIFIED_FROM:g} of JAX's time, and no fewer threads are surely faster."
)
_PRECISIONS: dict[Precision, str] = {
    "float32-highest": "Every product in float32.",
    "framework-default": "Float32 as the framework computes it if nothing is set. On NVIDIA GPUs with TF32, JAX rounds "
    "what it multiplies to TF32; PyTorch does so in convolutions alone.",
    "tf32": "The matrix units of the GPU round what they multiply to TF32.",
    "bfloat16": "Everything but the parameters and the optimizer is in bfloat16.",
}
_ALLOCATORS: dict[Allocator, str] = {
    "tuned-malloc": "The process keeps the memory that it was given, in huge pages where the kernel has them.",
    "default-malloc": "Memory goes back to the system, as it does by default.",
}

_WAYS: dict[tuple[Implementation, str], str] = {
    ("jax", "plain"): "One program, compiled ahead of time and dispatched once a step: the headline's way.",
    ("jax", "nnx-jit"): "As tutorials write it: nnx.jit called once a step.",
    ("jax", "scan"): "A scan over several steps in one program.",
    ("jax", "stacked"): "Several fits of a grid search in one program.",
    ("jax", "resident"): "A whole run with the data on the device, one dispatch an epoch.",
    ("torch", "plain"): "PyTorch without its compiler: each operation is dispatched for itself.",
    ("torch", "compile"): "PyTorch through torch.compile.",
    ("torch", "graph"): "PyTorch's eager step, recorded once and replayed whole as a CUDA graph.",
    ("torch", "compile-graph"): "PyTorch's compiled step, replayed whole as a CUDA graph.",
    ("keras", "plain"): "Keras on TensorFlow, its step a tf.function.",
    ("xgboost", "plain"): "XGBoost, with a thread for each granted core.",
    ("xgboost", "one-thread"): "XGBoost with a single thread.",
    ("openvino", "plain"): "OpenVINO, an engine that only infers, in float32, from PyTorch's network.",
    ("jax", "nnx-loop"): "As written: nnx.jit called once a step with a slice of the host's arrays.",
    ("jax", "nnx-loop-wait"): "The same loop, which reads the loss of each step.",
    ("jax", "resident-loop"): "As written: the examples on the device, an epoch's steps in one call.",
    ("torch", "loop"): "As written: eager, a DataLoader with its defaults, each batch copied, losses added up.",
    ("torch", "loop-wait"): "The same loop, which reads the loss of each step with item().",
}
_FORMER = {new: old for old, new in AXES["allocator"].items()} | {"jax scan": "jax several-steps"}  # in addresses


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: render(PATH, groups=groups(facts.proof), former=_FORMER)}


def groups(parts: Sequence[Part]) -> Mapping[str, Mapping[str, str]]:
    """Return the words and their meanings, by table column; the trust session's parts give the intervals' coverage."""
    return {
        "Scope: what a time is of": {
            **{scope: f"{row.sentence[0].upper()}{row.sentence[1:]}." for scope, row in SCOPES.items()},
            "latency": "Of scope step: one step that is waited for before the next begins. In steady state the next is "
            "handed out before the one before it has ended.",
        },
        "Interval": {INTERVAL: f"{interval(parts)} A speed-up's interval is of its kind of machine, over hosts."},
        "Status: what may be said of a number": {**_STATES},
        "Columns": {**_COLUMNS, "certified": _CERTIFIED},
        "Precision": {**_PRECISIONS},
        "Implementation, and its way of taking a step": {_way(*names): said for names, said in _WAYS.items()}
        | {_way("keras", variant): _of_keras(variant) for variant in WRITTEN["keras"]},
        "Allocator, on the CPU": {**_ALLOCATORS},
    }


def _way(implementation: Implementation, variant: str) -> str:
    case = Case(workload="", backend="gpu", scope="step", batch=1, implementation=implementation, variant=variant)
    return way_of(case)


def _of_keras(variant: str) -> str:
    on = keras_backend(variant)
    return f"As written: Keras' {variant.removesuffix(f'-{on}').replace('-', '_')} on arrays, {on} under it."


def interval(parts: Sequence[Part]) -> str:
    """Return the meaning of an interval, and its coverage in simulations of further rounds."""
    promise = (
        f"Made so that it holds the true value in {100 * COVERAGE:.0f} of 100 such campaigns, as far as the processes "
        "of one campaign tell: a day on another host can differ by more (see: Can the numbers be trusted?)."
    )
    held = [
        one.found for part in parts if part.name == "rounds" for one in part.findings if one.what.startswith(HOLDING)
    ]
    if not held:
        return promise
    low, high = (end(held, key=lambda found: float(found.rstrip("%"))) for end in (min, max))
    return (
        f"{promise} Where rounds were added because it was too wide, it held it in {low} to {high} of simulated cases, "
        "by how much processes differ."
    )
