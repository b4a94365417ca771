"""The glossary's words and their meanings, for its page and for the tooltips of all pages."""

from collections.abc import Mapping, Sequence
from functools import cache

from suite import units
from suite.case import Allocator, Case, Implementation, Precision
from suite.results.evidence.trust import HOLDING, Part
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.stats.state import MAX_HALF_WIDTH, State
from suite.results.stats.statistics import COVERAGE
from suite.results.views.table import INTERVAL, ON_ONE_HOST
from suite.scopes import SCOPES
from suite.variants import WRITTEN, keras_backend, way_of

_STATES: dict[State, str] = {
    "quotable": f"It may be quoted for its kind of machine: at least {FEWEST_HOSTS} hosts timed it by the method in "
    f"use, the half-width of its interval is at most {units.percent(MAX_HALF_WIDTH)}, and a speed-up of a step is "
    "certified.",
    "open": "It may not be quoted yet, and its reason is shown: too few hosts, too wide an interval, an earlier method "
    "of timing, or an open certificate.",
    "not certified": f"Another way surely beats JAX on this CPU: a baseline takes less than {CERTIFIED_FROM:g} of "
    "JAX's time, or JAX with fewer threads takes any less.",
    "invalid": "A check shows that the number cannot be true, or that CPU and GPU computed different things.",
}
_COLUMNS = {
    "gaps": "The part of a step's wall time in which the GPU waits for the next launch. A step is launch-bound if its "
    "gaps are surely more than 10 %.",
    "slope": "The change of a step's log time per change of a reference kernel's log speed.",
    "hosts": "The number of hosts that measured a speed-up, on the side that has fewer.",
    "slow CPU": "Another CPU with fewer cores surely takes less time for this step; beside that one a GPU gains less.",
    "next host": "The range of one process on a further host of this kind, in 95 of 100 cases.",
    "baseline / JAX": "The time of the fastest other implementation over JAX's, on the same hosts: above 1 JAX is "
    "faster. A dash: none was timed.",
    ON_ONE_HOST: "The reasons against one campaign's number, which is never quotable for its kind of machine; a dash: "
    "none.",
    "best / best": "The fastest CPU way's time over the fastest GPU way's, of any implementation. It is the speed-up "
    "times the CPU way's time over JAX's, divided by the GPU way's over JAX's, each on the hosts that timed both.",
}
_METHOD = {  # marked in sentences too
    "speed-up": "CPU time over GPU time of the same step, on one kind of machine: above 1 the GPU is faster.",
    "host": "One computer, or one boot of it. A kind of machine has many; they differ in speed.",
    "scope": "How much of the work is timed: a step, a step with its copy, a cold start, an epoch, a run or a request.",
    "cold start": "Lowering, compiling and the first step, with no compile cache.",
    "kind of machine": "The CPU's family and model, the granted cores, whether it is virtual, and the GPUs.",
    "campaign": "All rounds of one command on one host, with one plan.",
    "round": "One process for each case of a question: CPU, GPU and baselines, in random order.",
    "pool": "All records of one case and equal code on one kind of machine, by host.",
    "record": "One case in one campaign, with every raw sample; it is never edited.",
    "method of timing": "Each way to time a scope has a number, raised if the way changes; that of a step is now "
    f"{SCOPES['step'].method}. Times of different methods do not pool, and those of an earlier one may not be quoted.",
    "baseline": "Another implementation of the same step, such as PyTorch's.",
    "certificate": "The check that no other implementation uses the same CPU much better than JAX.",
    "half-width": "How far an interval reaches: its upper end over its value, less 1. Its value over its lower end is "
    "the same.",
    "key": "The name of one number; with @ and a digest it means the same number for ever.",
    "stand-in": "A data set that this project draws in the format of a published one.",
    "MFU": "Model FLOP utilisation: a step's FLOP/s over the highest rate of matrix products measured on the machine.",
    "floor": "The least time of a step on this machine, by its FLOP and bytes.",
}
_WORDS = {  # of the field, marked in sentences too
    "geometric mean": "The n-th root of the product of n ratios: 2x and 8x have the mean 4x.",
    "virtual core": "What a virtual machine calls a core: often one of the two hardware threads of a core.",
    "steady state": "The time after warm-up, in which each step takes as long as the one before.",
    "lowering": "JAX's translation of a Python function into the compiler's input, before it is compiled.",
    "CUDA graph": "Many launches of GPU work that are recorded once and then started by one call.",
    "surely": "The whole 95 % interval lies on that side.",
}
_COMMON = {  # in tables and on the method's pages; too common to be marked in sentences
    f"1 host of {FEWEST_HOSTS}": f"One host has measured it; a number that may be quoted needs {FEWEST_HOSTS}.",
    "process": "One program run of one case: it warms up, takes several samples and ends.",
    "case": "What one process times: a model on the CPU or GPU, with scope, batch, precision and way.",
    "way": "How a step is written and called, such as nnx.jit once a step, or many steps in one call.",
    "dispatch": "Handing a compiled step to the device; the program goes on while the device works.",
    "backend": "The side that computes: CPU or GPU.",
    "pinned": "A key with @ and a digest; it means the same number for ever.",
    "headline batch": "The batch of the article; a model's headline number has it.",
    "clock ladder": "The speed-up of a model as more of the work is timed, from a step to a whole run.",
    "documented": "Written in an article: reported. A number that follows from reported ones is derived.",
}
_CERTIFIED = (
    "A speed-up's CPU side is fair: the fastest other implementation on the same cores surely takes at least "
    f"{CERTIFIED_FROM:g} of JAX's time, and no fewer threads are surely faster."
)
_PRECISIONS: dict[Precision, str] = {
    "float32-highest": "Every product in float32.",
    "framework-default": "Float32 as the framework computes it if nothing is set. On NVIDIA GPUs with TF32, JAX rounds "
    "its inputs to TF32; PyTorch does so in convolutions alone.",
    "tf32": "The GPU's matrix units round their inputs to TF32.",
    "bfloat16": "Everything but the parameters and the optimizer is in bfloat16.",
}
_ALLOCATORS: dict[Allocator, str] = {
    "tuned-malloc": "The process keeps its memory, in huge pages if the kernel has them.",
    "default-malloc": "The system's own allocator, which returns memory.",
}

_WAYS: dict[tuple[Implementation, str], str] = {
    ("jax", "plain"): "One program, compiled ahead of time and dispatched once a step: the headline's way.",
    ("jax", "nnx-jit"): "As tutorials write it: nnx.jit called once a step.",
    ("jax", "scan"): "A scan over several steps in one program.",
    ("jax", "stacked"): "Several fits of a grid search in one program.",
    ("jax", "resident"): "A whole run with the data on the device, one dispatch an epoch.",
    ("torch", "plain"): "PyTorch without its compiler: each operation is dispatched by itself.",
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


def groups(parts: Sequence[Part]) -> Mapping[str, Mapping[str, str]]:
    """Return the words and their meanings, by table column; the trust session's parts give the intervals' coverage."""
    return {
        "Method: how a number comes about": {**_METHOD},
        "Plain words": {**_WORDS, **_COMMON},
        "Scope: what is timed": {
            **{scope: f"{row.sentence[0].upper()}{row.sentence[1:]}." for scope, row in SCOPES.items()},
            "latency": "One blocking step: the next begins after it has ended. In steady state the next is dispatched "
            "earlier.",
        },
        "Interval": {
            INTERVAL: "A pooled number's interval holds the mean over all hosts of its kind of machine, in 95 of 100 "
            f"cases. The interval of one campaign is of one host. {interval(parts)}"
        },
        "Status: whether a number may be quoted": {**_STATES},
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
        f"It holds the true value in {100 * COVERAGE:.0f} of 100 campaigns, as far as the processes of one campaign "
        "tell. Another host can differ by more (see: Can the numbers be trusted?)."
    )
    held = [
        one.found for part in parts if part.name == "rounds" for one in part.findings if one.what.startswith(HOLDING)
    ]
    if not held:
        return promise
    low, high = (end(held, key=lambda found: float(found.rstrip("%"))) for end in (min, max))
    return (
        f"{promise} If rounds were added by the spread of their kind, it held the value in {low} to {high} of "
        "simulated cases."
    )


def tooltips() -> Mapping[str, str]:
    """Return each word with its meaning in one sentence, for a tooltip."""
    return {
        word: meaning.partition(". ")[0].rstrip(".") for words in groups(()).values() for word, meaning in words.items()
    }


@cache
def _explained() -> frozenset[str]:
    return frozenset(word.lower() for word in tooltips())


def is_explained(column: str) -> bool:
    """Return whether the glossary explains a column's name, such as 'GPU: baseline / JAX'."""
    return column.rpartition(": ")[2].lower() in _explained()


def in_sentences() -> Sequence[str]:
    """Return the words that mean the same in any sentence; the others, such as `open`, are marked in tables alone."""
    states = (word for word in _STATES if word not in ("open", "invalid"))
    return *_METHOD, *_WORDS, *states, "certified", "next host", "best / best"
