"""The lies that are planted, each with the check that must catch it; how they are told is in `lying_worker`."""

from dataclasses import dataclass

from suite.case import Backend
from suite.scopes import Scope

TRUE_COST = "true cost"  # no check is needed: the lie is as slow as the truth


@dataclass(frozen=True, kw_only=True)
class Lie:
    """A mistake that makes a number wrong."""

    what: str
    check: str  # of suite.results.single.validity, or TRUE_COST
    workload: str = "mnist_mlp"
    scope: Scope = "step"
    backend: Backend = "cpu"
    needs_gpu: bool = False


LIES = {
    # In the order of the paragraph that asks for them.
    "no_block": Lie(what="no block at the end of a chain", check="unfinished work"),
    "wrapper": Lie(what="a block on an object that is no tree of arrays", check="unfinished work"),
    "first_leaf": Lie(what="a block on the first leaf of the output alone", check=TRUE_COST),
    "unused_result": Lie(what="a step whose results nobody uses", check="FLOP"),
    "closed_over": Lie(what="inputs closed over instead of given", check="batch"),
    "loop_invariant": Lie(what="repeats in a loop that no turn changes", check="FLOP"),
    "cached_output": Lie(what="the stored output of a known input", check="replay"),
    "skipped_layers": Lie(what="a layer left out", check="FLOP"),
    "smaller_batch": Lie(what="half of each batch used", check="FLOP"),
    "bfloat16": Lie(what="bfloat16 inside float32", check="precision"),
    "background": Lie(what="the work in a background thread", check="calibration"),
    "replaced_clock": Lie(what="a clock at half speed", check="stamps"),
    "edited_samples": Lie(what="samples made shorter before they are told", check="stamps"),
    "nan": Lie(what="a loss that is not a number", check="loss"),
    "inputs_in_place": Lie(what="inputs changed in place", check="inputs"),
    "donated_again": Lie(what="a donated buffer used again", check="donation"),
    "compile_inside": Lie(what="a compilation inside the timing", check="compilations"),
    "warm_cache": Lie(
        what="a warm compile cache passed as cold", check="cache", scope="cold", workload="serve_mobilenet_v2"
    ),
    "half_the_cores": Lie(what="half of the threads", check="cores"),
    # The twentieth, a record edited afterwards, needs no worker. Beside them:
    "half_the_steps": Lie(what="a chain of half as many steps", check="replay"),
    "no_advance": Lie(what="a chain that starts every step from the same state", check="replay"),
    "smaller_inputs": Lie(what="half of each batch put on the device", check="batch"),
    "half_the_pool": Lie(what="half of the threads, by NPROC", check="cores"),
    "lower_precision": Lie(what="TF32 allowed inside float32 at highest precision", check="precision"),
    "cached_inference": Lie(what="the stored output of an inference", check="floor", workload="serve_mobilenet_v2"),
    "fallback": Lie(what="a CPU run passed as a GPU's", check="backend", backend="gpu"),
    "no_block_gpu": Lie(  # at most 32 steps run ahead: the queue is full when the samples begin
        what="a step left running on a GPU's stream",
        check=TRUE_COST,
        workload="catdog_cnn_deep",
        backend="gpu",
        needs_gpu=True,
    ),
    "lower_precision_gpu": Lie(
        what="TF32 kernels inside float32 at highest precision", check="precision", backend="gpu", needs_gpu=True
    ),
}
ASKED_FOR = 19  # of them, beside the edited record
