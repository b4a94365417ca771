"""`python -m steps.child SIDE WORKLOAD BACKEND` times one side's step in this process and prints seconds a step."""

import statistics
import sys
import time

import jax

from steps import sides
from suite import models

WARM_UP, SAMPLES, SAMPLE_SECONDS, MOST_STEPS = 3, 7, 0.3, 2_000
SIDES = {"copied": sides.Copied, "suite": sides.Suites}


def main() -> None:
    """Print the median over samples, each of as many steps as take a while."""
    which, name, backend = sys.argv[1:]
    jax.config.update("jax_default_matmul_precision", "highest")
    workload = models.load(name)
    examples = workload.description.batch
    side = SIDES[which](name, examples, sides.batches(workload, examples, workload.input_sets), backend)
    side.run(WARM_UP)
    once = timed(side, 1)
    steps = max(1, min(MOST_STEPS, int(SAMPLE_SECONDS / once)))
    side.run(steps)
    print(statistics.median(timed(side, steps) for _ in range(SAMPLES)))


def timed(side: sides.Copied | sides.Suites, steps: int) -> float:
    """Return the seconds of a step, of so many that were waited for together."""
    start = time.perf_counter()
    side.run(steps)
    return (time.perf_counter() - start) / steps


if __name__ == "__main__":
    main()
