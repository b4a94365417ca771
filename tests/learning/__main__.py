"""Does every network learn? `python -m learning [--backend cpu|gpu] [NETWORK...]`, with the tests on Python's path.

What is found of each network becomes the site's evidence.
"""

import argparse
import datetime
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax

from learning import losses
from learning import training as gate
from suite import models
from suite.case import Backend
from suite.results.evidence.learning import LearningCheck, LossCheck
from suite.system.counters import granted_cores
from suite.system.machine import cpu_model
from suite.system.software import commit
from suite.workload import LearningTarget

EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"
NETWORKS = tuple(name for name in models.names() if models.load(name).optimizer is not None)


def checks(name: str, backend: Backend, gpu: bool) -> Iterator[LossCheck]:
    """Yield what has to happen to a network's losses."""
    match models.load(name).learning:
        case "halves":
            yield losses.halved(name, backend, gate.SEEDS)
        case "finite":
            yield losses.finite(name, backend)
        case "falls":
            yield losses.falling(name, backend, gate.SEEDS)
        case LearningTarget(gpu_only=True, bound=bound) if backend == "cpu":
            yield LossCheck(expected=f"an accuracy of {bound:g}", found="not tried: needs a GPU", good=None)
    yield losses.agreeing(name, gpu)


def learning_check(name: str, backend: Backend, gpu: bool) -> LearningCheck:
    """Return all that is tried with a network."""
    target, start = models.load(name).learning, time.monotonic()
    here = isinstance(target, LearningTarget) and (backend == "gpu" or not target.gpu_only)
    return LearningCheck(
        network=name,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        machine=cpu_model() if backend == "cpu" else jax.devices("gpu")[0].device_kind,
        cores=granted_cores(),
        backend=backend,
        seeds=gate.SEEDS,
        trained=gate.trained(name, target, gate.SEEDS, backend) if here else None,
        checks=tuple(checks(name, backend, gpu)),
        seconds=round(time.monotonic() - start, 1),
    )


def has_gpu() -> bool:
    """Return whether JAX sees a GPU."""
    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:
        return False


def say(found: LearningCheck) -> None:
    """Print what was found."""
    print(f"{found.network} ({found.seconds:.0f} s)")
    if one := found.trained:
        reached = " ".join(f"{share:.3f}" for share in one.accuracies)
        broken = ", ".join(f"{what} {share:.3f}" for what, share in one.broken.items())
        print(f"  {'' if one.good else 'NOT AS EXPECTED: '}accuracy {reached}, bound {one.bound:g}; {broken}")
    for check in found.checks:
        print(f"  {'NOT AS EXPECTED: ' if check.good is False else ''}{check.expected}: {check.found}")


def main() -> int:
    """Return 0 if all that was tried is as it has to be."""
    asked = argparse.ArgumentParser(prog="python -m learning", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("--backend", choices=("cpu", "gpu"), default="cpu")
    asked.add_argument("networks", nargs="*", metavar="NETWORK", help=f"all: {', '.join(NETWORKS)}")
    given = asked.parse_args()
    for name in given.networks:
        if name not in NETWORKS:
            asked.error(f"no network '{name}'; there are: {', '.join(NETWORKS)}")
    gpu, good = has_gpu(), True
    if given.backend == "gpu" and not gpu:
        asked.error("backend 'gpu' asked for, JAX sees none; install the gpu extra or leave it out")
    for name in given.networks or NETWORKS:
        found = learning_check(name, given.backend, gpu)
        say(found)
        print(f"  written: {found.write(EVIDENCE)}", flush=True)
        good &= found.good
    known = {check.network for check in LearningCheck.read_all(EVIDENCE)}
    if missing := [name for name in NETWORKS if name not in known]:
        print(f"no evidence so far: {', '.join(missing)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
