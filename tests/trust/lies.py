"""The lies that are planted, each with the check that must catch it; how they are told is in `lying_worker`."""

from collections.abc import Mapping
from dataclasses import dataclass

from suite.case import Backend
from suite.scopes import Scope

TRUE_COST = "true cost"  # no check is needed: the lie is as slow as the truth


@dataclass(frozen=True, kw_only=True)
class Lie:
    """A mistake that makes a number wrong."""

    what: str
    checks: Mapping[Backend, str]  # where it can be told: a name of suite.results.single.validity, or TRUE_COST
    workload: str = "mnist_mlp"
    scope: Scope = "step"
    passed_as: Backend | None = None  # the backend of its case, if another than its process is given


def on_both(check: str) -> Mapping[Backend, str]:
    """Return the check of a lie that is the same everywhere."""
    return {"cpu": check, "gpu": check}


# A step is dispatched on a CPU long before it runs. A GPU's queue is short, and full when the samples begin.
NOT_WAITED_FOR: Mapping[Backend, str] = {"cpu": "unfinished work", "gpu": TRUE_COST}

LIES = {
    # In the order of the paragraph that asks for them.
    "no_block": Lie(what="no block at the end of a chain", checks=NOT_WAITED_FOR),
    "wrapper": Lie(what="a block on an object that is no tree of arrays", checks=NOT_WAITED_FOR),
    "first_leaf": Lie(what="a block on the first leaf of the output alone", checks=on_both(TRUE_COST)),
    "unused_result": Lie(what="a step whose results nobody uses", checks=on_both("FLOP")),
    "closed_over": Lie(what="inputs closed over instead of given", checks=on_both("batch")),
    "loop_invariant": Lie(what="repeats in a loop that no turn changes", checks=on_both("FLOP")),
    "cached_output": Lie(what="the stored output of a known input", checks=on_both("replay")),
    "skipped_layers": Lie(what="a layer left out", checks=on_both("FLOP")),
    "smaller_batch": Lie(what="half of each batch used", checks=on_both("FLOP")),
    "bfloat16": Lie(what="bfloat16 inside float32", checks=on_both("precision")),
    "background": Lie(what="the work in a background thread", checks=on_both("calibration")),
    "replaced_clock": Lie(what="a clock at half speed", checks=on_both("stamps")),
    "edited_samples": Lie(what="samples made shorter before they are told", checks=on_both("stamps")),
    "nan": Lie(what="a loss that is not a number", checks=on_both("loss")),
    "inputs_in_place": Lie(what="inputs changed in place", checks=on_both("inputs")),
    "donated_again": Lie(what="a donated buffer used again", checks=on_both("donation")),
    "compile_inside": Lie(what="a compilation inside the timing", checks=on_both("compilations")),
    "warm_cache": Lie(what="a warm compile cache passed as cold", checks=on_both("cache"), scope="cold"),
    "half_the_cores": Lie(what="half of the threads", checks={"cpu": "cores"}),
    # The twentieth, a record edited afterwards, needs no worker. Beside them:
    "half_the_steps": Lie(what="a chain of half as many steps", checks=on_both("replay")),
    "no_advance": Lie(what="a chain that starts every step from the same state", checks=on_both("replay")),
    "smaller_inputs": Lie(what="half of each batch put on the device", checks=on_both("batch")),
    "half_the_pool": Lie(what="half of the threads, by NPROC", checks={"cpu": "cores"}),
    "lower_precision": Lie(what="TF32 allowed inside float32 at highest precision", checks=on_both("precision")),
    "cached_inference": Lie(
        what="the stored output of an inference", checks=on_both("replay"), workload="serve_mobilenet_v2"
    ),
    "fallback": Lie(what="a CPU run passed as a GPU's", checks={"cpu": "backend"}, passed_as="gpu"),
    "one_batch": Lie(what="the same batch in every step, which stays in the cache", checks=on_both("replay")),
    "one_batch_inference": Lie(
        what="the same picture in every inference, which stays in the cache",
        checks=on_both("replay"),
        workload="serve_mobilenet_v2",
    ),
    "one_batch_put": Lie(what="one batch put on the device in place of each", checks=on_both("inputs on the device")),
    "constant_inputs": Lie(
        what="one constant picture put on the device in place of each", checks=on_both("inputs on the device")
    ),
    "constant_batches": Lie(what="batches made of one constant picture", checks=on_both("examples")),
    "lazy_object": Lie(what="a result whose own block does nothing", checks=NOT_WAITED_FOR),
    "deferred": Lie(what="steps computed when their loss is read", checks=on_both("calibration")),
    "half_deferred": Lie(what="half of the steps computed when their loss is read", checks=on_both("unfinished work")),
    # The last one: its network compiles for long on a GPU.
    "no_block_long": Lie(
        what="no block at the end of a chain of long steps", checks={"gpu": TRUE_COST}, workload="catdog_cnn_deep"
    ),
}
ASKED_FOR = 19  # of them, beside the edited record


def told_on(backend: Backend) -> dict[str, Lie]:
    """Return the lies that a process on that backend can tell."""
    return {name: lie for name, lie in LIES.items() if backend in lie.checks}
