"""Detect work still running after `block_until_ready` returned, without trusting the program under test."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from suite.results.single.validity import AWAITED_SECONDS, SPINNING_SECONDS
from suite.worker_api.clock import Clock

LONGEST_SECONDS = 2.0  # watched at most this long
_LOOKS = 3
_WATCH_SECONDS = 0.02
_QUIET_SHARE = 0.25  # of one core


@dataclass(frozen=True, kw_only=True)
class PendingWork:
    """Work still running after a sample, in seconds."""

    seconds: float  # until the process was idle
    awaited_seconds: float  # until the last array was ready


def least(again: Callable[[], object] | None, clock: Clock, sleep: Callable[[float], None] = time.sleep) -> PendingWork:
    """Return the least pending work of up to three looks; each further look follows another sample.

    One look is enough if the arrays are ready at once and threads spin no longer than usual before they sleep. Work
    that a program leaves behind shows in every look. Spinning threads and bursts of other load do not.
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
