"""The checks of a process after its samples: its audit, and its pending work; `results.single.validity` judges."""

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from suite.data import batches as data
from suite.results.records.run import Audit, Replay
from suite.results.single.validity import AWAITED_SECONDS, SPINNING_SECONDS
from suite.system.counters import granted_cores
from suite.worker_api.clock import Clock
from suite.worker_api.program import Batch, ConstantWeights, Program, ReadBack

LONGEST_SECONDS = 2.0  # watched at most this long
_LOOKS = 3
_WATCH_SECONDS = 0.02
_QUIET_SHARE = 0.25  # of one core
CALLS = 10  # steps of all replays together; one step may give the same loss for two seeds by chance
_OTHER_SEEDS = 3  # one other seed may give the same mean by chance, once in some hundred


@dataclass(frozen=True, kw_only=True)
class PendingWork:
    """Work still running after a sample, in seconds."""

    seconds: float  # until the process was idle
    awaited_seconds: float  # until the last array was ready

    @property
    def more_than_usual(self) -> bool:
        """Whether it exceeds what idle threads and finished arrays show."""
        return self.seconds > SPINNING_SECONDS or self.awaited_seconds > AWAITED_SECONDS


def least(again: Callable[[], object] | None, clock: Clock, sleep: Callable[[float], None] = time.sleep) -> PendingWork:
    """Return the least pending work of up to three looks; each further look follows another sample.

    One look is enough if the arrays are ready at once and threads spin no longer than usual before they sleep. Work
    that a program leaves behind shows in every look. Spinning threads and bursts of other load do not.
    """
    looks = [watch_until_idle(clock, sleep)]
    while again is not None and len(looks) < _LOOKS and looks[-1].more_than_usual:
        again()
        looks.append(watch_until_idle(clock, sleep))
    return PendingWork(
        seconds=min(one.seconds for one in looks), awaited_seconds=min(one.awaited_seconds for one in looks)
    )


def watch_until_idle(clock: Clock, sleep: Callable[[float], None] = time.sleep) -> PendingWork:
    """Return how long arrays are not ready and how long this process stays busy, watched for two seconds at most."""
    start = clock.wall()
    drain()
    awaited = clock.wall() - start
    while clock.wall() - start < LONGEST_SECONDS:
        began, used = clock.wall(), clock.process()
        sleep(_WATCH_SECONDS)
        if clock.process() - used < _QUIET_SHARE * _WATCH_SECONDS:
            return PendingWork(seconds=began - start, awaited_seconds=awaited)
    return PendingWork(seconds=clock.wall() - start, awaited_seconds=awaited)


def drain() -> None:
    """Wait for all arrays of the frameworks in this process, and for its GPU.

    Ask PyTorch only if it has begun to use a GPU: the first search for one takes tens of milliseconds, which would
    count as pending work.
    """
    if jax := sys.modules.get("jax"):
        with suppress(RuntimeError):  # an array may be donated meanwhile
            jax.block_until_ready(jax.live_arrays())
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def audit(
    target: Program,
    inputs: Sequence[Batch],
    digest: str,
    seed: int,
    left: PendingWork | None,
    replayed: bool,
    loss_seconds: float | None = None,
) -> Audit:
    """Return the audit of the program; `digest` is that of the inputs before the program had them.

    A replay restarts the program: measure nothing after it.
    """
    seen = target.jaxpr_cost()
    return Audit(
        cores=usable_cores(),
        platform=target.platform(),
        inputs_kept=data.digest(inputs) == digest,
        inputs_on_device=target.holds(inputs) if isinstance(target, ReadBack) else None,
        examples_differ=data.examples_differ(inputs),
        unfinished_seconds=left.seconds if left else None,
        awaited_seconds=left.awaited_seconds if left else None,
        loss_seconds=loss_seconds,
        program=seen,
        replay=replay(target, inputs, seed) if replayed and seen is not None else None,
    )


def usable_cores() -> int:
    """Return how many cores this process may use: its affinity and the limits on XLA's thread pool."""
    limits = [os.environ.get(name, "") for name in ("NPROC", "PJRT_NPROC")]
    return min([granted_cores(), *(int(limit) for limit in limits if limit.isdecimal() and int(limit) > 0)])


def replay(target: Program, inputs: Sequence[Batch], seed: int) -> Replay:
    """Return the losses of short replays from the start, with the compiled program that was timed.

    Another seed may give the same losses by chance: up to three are tried, and the last one tried is reported. None is
    tried if the program holds its weights, since it would be compiled anew: that would test a program nobody timed.
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
    together = loss(2 * call), target.state_digest()
    start(inputs, seed)
    rotated = loss(2 * call), target.state_digest()
    start(other, seed)
    other_inputs, other_state = loss(call), target.state_digest() != state
    other_seed = other_seed_twice = None
    held = isinstance(target, ConstantWeights) and target.weights_are_constants()
    for number in range(0 if held else _OTHER_SEEDS):
        start(alone, seed + 1 + number)
        other_seed, other_seed_twice = loss(call), loss(call)
        if (other_seed, other_seed_twice) != (once, twice):
            break
    return Replay(
        first=first,
        once=once,
        twice=twice,
        together=together[0],
        other_inputs=other_inputs,
        other_state=other_state,
        other_seed=other_seed,
        other_seed_twice=other_seed_twice,
        rotated=rotated != together,
    )


def finite(value: float) -> float | None:
    """Return the value; None if it is not a finite number."""
    return value if math.isfinite(value) else None
