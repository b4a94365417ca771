"""The reference kernels, in a process of their own: `python -m suite.telemetry.kernel THREADS`.

A float32 matrix product and a copy of memory. They depend only on NumPy and its BLAS, never on the measured program.
"""

import sys
import threading
from collections.abc import Callable
from functools import partial

import msgspec

from suite.results.records.run import ReferenceKernel
from suite.worker_api.clock import Clock

_SIDE = 2048  # of the matrices: 17 GFLOP a product
_COPIED_BYTES = 2**27  # 128 MiB read and 128 MiB written: more than a guest's share of the last-level cache
_MATMUL_SECONDS, _COPY_SECONDS = 0.35, 0.25  # at least; products and copies always complete


def main() -> None:
    """Run the kernels with argv[1] threads; print their rates as JSON."""
    threads, clock = int(sys.argv[1]), Clock().wall
    began, products, copies = clock(), matmul_flop_per_second(), copy_bytes_per_second(threads)
    reached = ReferenceKernel(matmul_flop_per_second=products, copy_bytes_per_second=copies, seconds=clock() - began)
    print(msgspec.json.encode(reached).decode(), flush=True)


def matmul_flop_per_second(side: int = _SIDE, seconds: float = _MATMUL_SECONDS) -> float:
    """Return the rate, in FLOP/s, of a product of square float32 matrices, repeated for at least `seconds`."""
    import numpy as np

    left, right = (np.linspace(0, 1, side * side, dtype=np.float32).reshape(side, side) for _ in range(2))
    out = np.empty_like(left)
    half = side // 2
    np.matmul(left[:half, :half], right[:half, :half], out=out[:half, :half])  # starts the threads
    products, took = repeated(lambda: np.matmul(left, right, out=out), seconds)
    return 2 * side**3 * products / took


def copy_bytes_per_second(threads: int, copied_bytes: int = _COPIED_BYTES, seconds: float = _COPY_SECONDS) -> float:
    """Return the rate, in bytes/s read and written, of threads that copy a part each for at least `seconds`."""
    import numpy as np

    part = copied_bytes // threads
    rates, gate = [0.0] * threads, threading.Barrier(threads)

    def copy(index: int) -> None:
        source, target = np.ones(part, np.uint8), np.ones(part, np.uint8)  # touches every page
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
    """Call `run` at least once and for at least `seconds`; return the number of calls and the seconds they took."""
    clock = (clocks or Clock()).wall
    began, times = clock(), 0
    while True:
        run()
        times += 1
        if (took := clock() - began) >= seconds:
            return times, took


if __name__ == "__main__":
    main()
