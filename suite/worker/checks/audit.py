"""The audit of a process after its samples; `results.single.validity` judges it."""

import math
import os
from collections.abc import Sequence

from suite.data import batches as data
from suite.results.records.run import Audit, Replay
from suite.system.load import granted_cores
from suite.worker.checks.pending_work import PendingWork
from suite.worker_api.program import Batch, Program

CALLS = 8  # steps of all replays together; one step may give the same loss for two seeds by chance

_OTHER_SEEDS = 3  # one other seed may give the same mean by chance, once in some hundred


def audit(
    target: Program, inputs: Sequence[Batch], digest: str, seed: int, left: PendingWork | None, replayed: bool
) -> Audit:
    """Return the audit of the program; `digest` is that of the inputs before the program had them.

    A replay restarts the program: measure nothing after it.
    """
    seen = target.jaxpr_cost()
    return Audit(
        cores=usable_cores(),
        platform=target.platform(),
        inputs_kept=data.digest(inputs) == digest,
        unfinished_seconds=left.seconds if left else None,
        awaited_seconds=left.awaited_seconds if left else None,
        program=seen,
        replay=replay(target, inputs, seed) if replayed and seen is not None else None,
    )


def usable_cores() -> int:
    """Return how many cores this process may use: its affinity and the limits on XLA's thread pool."""
    limits = [os.environ.get(name, "") for name in ("NPROC", "PJRT_NPROC")]
    return min([granted_cores(), *(int(limit) for limit in limits if limit.isdecimal() and int(limit) > 0)])


def replay(target: Program, inputs: Sequence[Batch], seed: int) -> Replay:
    """Return the losses of short replays from the start, with the compiled program that was timed.

    Another seed may give the same losses by chance: up to three are tried, and the last one tried is reported.
    """
    call = target.steps_per_call

    def start(batches: Sequence[Batch], seed: int) -> None:
        target.initialise(seed)
        target.put(batches)
        target.block()

    def loss(steps: int) -> float | None:
        target.chain(steps)
        target.block()
        return finite(target.loss())

    alone, other = [inputs[0]] * len(inputs), [inputs[1]] * len(inputs)
    start(inputs, seed)
    first = loss(call)
    start(alone, seed)
    once, state, twice = loss(call), target.state_digest(), loss(call)
    start(alone, seed)
    together = loss(2 * call)
    start(other, seed)
    other_inputs, other_state = loss(call), target.state_digest() != state
    other_seed = other_seed_twice = None
    for number in range(_OTHER_SEEDS):
        start(alone, seed + 1 + number)
        other_seed, other_seed_twice = loss(call), loss(call)
        if (other_seed, other_seed_twice) != (once, twice):
            break
    return Replay(
        first=first,
        once=once,
        twice=twice,
        together=together,
        other_inputs=other_inputs,
        other_state=other_state,
        other_seed=other_seed,
        other_seed_twice=other_seed_twice,
    )


def finite(value: float) -> float | None:
    """Return the value; None if it is not a finite number."""
    return value if math.isfinite(value) else None
