"""Whether work goes on when a sample says that it is done, seen without asking the program that was timed."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from suite.results.single.validity import AWAITED_SECONDS, SPINNING_SECONDS
from suite.worker_api.clock import Clock

LONGEST_SECONDS = 2.0  # watched at most
_LOOKS = 3
_WATCH_SECONDS = 0.02
_QUIET_SHARE = 0.25  # of one core


@dataclass(frozen=True, kw_only=True)
class PendingWork:
    """What went on after a sample, in seconds."""

    seconds: float  # until the process was quiet
    awaited_seconds: float  # of these, until the last array was there


def least(again: Callable[[], object] | None, clock: Clock, sleep: Callable[[float], None] = time.sleep) -> PendingWork:
    """Return the least of up to three looks, each further one after the steps of another sample.

    The first is enough unless it sees more than threads that look for work before they sleep usually do, or arrays that
    are not there at once. What a program leaves behind is there each time; such threads seldom take that long, and
    hardly ever three times, and other programs on this process's core come in bursts.
    """
    looks = [watch_until_idle(clock, sleep)]
    while again is not None and len(looks) < _LOOKS and _more_than_usual(looks[-1]):
        again()
        looks.append(watch_until_idle(clock, sleep))
    return PendingWork(
        seconds=min(one.seconds for one in looks), awaited_seconds=min(one.awaited_seconds for one in looks)
    )


def _more_than_usual(one: PendingWork) -> bool:
    return one.seconds > SPINNING_SECONDS or one.awaited_seconds > AWAITED_SECONDS


def watch_until_idle(clock: Clock, sleep: Callable[[float], None] = time.sleep) -> PendingWork:
    """Return how long from now on arrays are not there yet or this process is busy, watched for two seconds at most."""
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
    """Wait for every array that a framework of this process has, and for its GPU.

    PyTorch is asked only whether it has begun to use a GPU: looking for one takes tens of milliseconds the first time,
    which would count as work left behind.
    """
    if jax := sys.modules.get("jax"):
        with suppress(RuntimeError):  # an array that is given away meanwhile
            jax.block_until_ready(jax.live_arrays())
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
