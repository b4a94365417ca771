"""Two fixed kernels that tell how fast a host is: `python -m suite.telemetry.kernel THREADS`, in a process of its own.

A float32 matrix product and a copy of memory. They depend on NumPy and its BLAS alone, never on what is measured.
"""

import sys
import threading
from collections.abc import Callable
from functools import partial

import msgspec

from suite.results.records.run import ReferenceKernel
from suite.worker_api.clock import Clock

_SIDE = 2048  # of the matrices: 17 GFLOP a product
_COPIED_BYTES = 2**27  # 128 MiB, and as many written: more than a host's last cache gives one guest
_MATMUL_SECONDS, _COPY_SECONDS = 0.35, 0.25  # at least; a product and a copy are always whole


def main() -> None:
    """Run the kernels with as many threads as the argument says; print what they reached."""
    threads, clock = int(sys.argv[1]), Clock().wall
    began, products, copies = clock(), matmul_flop_per_second(), copy_bytes_per_second(threads)
    reached = ReferenceKernel(matmul_flop_per_second=products, copy_bytes_per_second=copies, seconds=clock() - began)
    print(msgspec.json.encode(reached).decode(), flush=True)


def matmul_flop_per_second(side: int = _SIDE, seconds: float = _MATMUL_SECONDS) -> float:
    """Return the rate of a product of square float32 matrices, repeated for at least so long."""
    import numpy as np

    left, right = (np.linspace(0, 1, side * side, dtype=np.float32).reshape(side, side) for _ in range(2))
    out = np.empty_like(left)
    half = side // 2
    np.matmul(left[:half, :half], right[:half, :half], out=out[:half, :half])  # starts the threads
    products, took = repeated(lambda: np.matmul(left, right, out=out), seconds)
    return 2 * side**3 * products / took


def copy_bytes_per_second(threads: int, copied_bytes: int = _COPIED_BYTES, seconds: float = _COPY_SECONDS) -> float:
    """Return the rate at which threads read and write memory, each a part of its own, for at least so long."""
    import numpy as np

    part = copied_bytes // threads
    rates, gate = [0.0] * threads, threading.Barrier(threads)

    def copy(index: int) -> None:
        source, target = np.ones(part, np.uint8), np.ones(part, np.uint8)  # every page is there
        gate.wait()
        copies, took = repeated(partial(np.copyto, target, source), seconds)
        rates[index] = 2 * part * copies / took

    workers = [threading.Thread(target=copy, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(rates)


def repeated(run: Callable[[], object], seconds: float, clocks: Clock | None = None) -> tuple[int, float]:
    """Call something for at least so long, once at least; return how often, and how long it took."""
    clock = (clocks or Clock()).wall
    began, times = clock(), 0
    while True:
        run()
        times += 1
        if (took := clock() - began) >= seconds:
            return times, took


if __name__ == "__main__":
    main()
