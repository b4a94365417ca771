"""Does every network learn? `python -m learning [--backend cpu|gpu] [NETWORK...]`, with the tests on Python's path.

A run of all networks becomes the site's evidence; some of them are only printed.
"""

import argparse
import datetime
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax

from learning import exams, losses, training
from suite.measure.campaign import commit
from suite.measure.load import granted_cores
from suite.measure.machine import cpu_model
from suite.results import learning as evidence
from suite.results.learning import Check, Trained
from suite.workload import Backend

EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"
HALVED = ("cifar10_resnet63", "cifar10_resnet87")
FINITE, FALLING = "catdog_cnn_deep", "dp_linear_mirrored"
NETWORKS = (*(exam.network for exam in exams.EXAMS), *HALVED, FINITE, FALLING)


def checks(wanted: tuple[str, ...], backend: Backend, gpu: bool) -> Iterator[Check]:
    """Yield what has to happen to the losses of the networks."""
    for name in wanted:
        if name in HALVED:
            yield losses.halved(name, backend, exams.SEEDS)
        elif name == FINITE:
            yield losses.finite(name, backend)
        elif name == FALLING:
            yield losses.falling(name, backend, exams.SEEDS)
    for exam in exams.EXAMS:
        if exam.network in wanted and exam.gpu_only and backend == "cpu":
            expected = f"an accuracy of {exam.bound:g}"
            yield Check(network=exam.network, expected=expected, found="not tried: needs a GPU", good=None)
    for name in wanted:
        yield losses.agreeing(name, gpu)


def exam_of(wanted: tuple[str, ...], backend: Backend) -> Iterator[Trained]:
    """Yield what the networks reach that can be trained here."""
    for exam in exams.EXAMS:
        if exam.network in wanted and (backend == "gpu" or not exam.gpu_only):
            yield training.trained(exam, exams.SEEDS, backend)


def has_gpu() -> bool:
    """Return whether JAX sees a GPU."""
    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:
        return False


def told(found: Iterator) -> tuple:
    """Return everything, printing each as it comes."""
    kept = []
    for one in found:
        if isinstance(one, Trained):
            reached = " ".join(f"{share:.3f}" for share in one.accuracies)
            broken = ", ".join(f"{what} {share:.3f}" for what, share in one.broken.items())
            print(f"{one.network}: {reached} (bound {one.bound:g}; {broken})")
        else:
            print(f"{one.network}: {one.expected}: {one.found}")
        if one.good is False:
            print("  NOT AS EXPECTED")
        sys.stdout.flush()
        kept.append(one)
    return tuple(kept)


def main() -> int:
    """Return 0 if all that was tried is as it has to be."""
    asked = argparse.ArgumentParser(prog="python -m learning", description=__doc__.splitlines()[0])
    asked.add_argument("--backend", choices=("cpu", "gpu"), default="cpu")
    asked.add_argument("networks", nargs="*", metavar="NETWORK", help=f"all: {', '.join(NETWORKS)}")
    given = asked.parse_args()
    for name in given.networks:
        if name not in NETWORKS:
            asked.error(f"no network '{name}'; there are: {', '.join(NETWORKS)}")
    wanted, gpu, start = tuple(given.networks) or NETWORKS, has_gpu(), time.monotonic()
    if given.backend == "gpu" and not gpu:
        asked.error("backend 'gpu' asked for, JAX sees none; install the gpu extra or leave it out")
    found = evidence.Learning(
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        machine=cpu_model() if given.backend == "cpu" else jax.devices("gpu")[0].device_kind,
        cores=granted_cores(),
        backend=given.backend,
        seeds=exams.SEEDS,
        trained=told(exam_of(wanted, given.backend)),
        checks=told(checks(wanted, given.backend, gpu)),
        seconds=round(time.monotonic() - start, 1),
    )
    print(f"{found.seconds:.0f} s")
    if wanted == NETWORKS:
        print(f"written: {evidence.write(found, EVIDENCE)}")
    return 0 if found.good else 1


if __name__ == "__main__":
    sys.exit(main())
