"""Random streams of the stand-ins, and threads whose results come in order."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

SPLITS = ("train", "test")  # a split's index is part of each stream's seed


def ahead(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """Yield function(item) in the order of the items, computed by `threads` threads, each at most one result ahead."""
    with ThreadPoolExecutor(threads) as pool:
        left = iter(items)
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in islice(left, 2 * threads))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(left, 1))
