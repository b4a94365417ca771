"""Compute every network in PyTorch, compare JAX and the stored references with it, and plant the bugs.

`python -m parity [--store] [NAME...]`, with the tests on Python's path and JAX and PyTorch side by side, as `nox -s
parity` has it. Where PyTorch is missing the stored references stand for it, errors are estimates, and both is said. A
run over all networks becomes the site's evidence. --store also writes what each model says of itself to its reference.
"""

import argparse
import contextlib
import datetime
import math
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import reference
import test_parity_keras as keras

from parity import bugs, networks
from parity.comparison import BOUNDS, Computed, errors, store, stored
from parity.jax_side import JaxSide
from suite import models
from suite.results.evidence import parity
from suite.system.machine import cpu_model
from suite.system.software import commit
from suite.workload import Workload

try:
    from parity import torch_side
except ModuleNotFoundError:
    torch_side = None

COLUMNS = ("logits", "loss", "gradients", "steps", "statistics", "float32")
COUNTS = ("parameters", "trainable_parameters", "forward_flop_per_example", "flop_per_example")
PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy", "torch")
EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"


def main() -> int:
    """Return 0 if all that was asked for agrees, and every bug is caught."""
    asked = argparse.ArgumentParser(prog="python -m parity", description=__doc__.splitlines()[0])
    asked.add_argument("--store", action="store_true", help="write the references anew")
    asked.add_argument("names", nargs="*", metavar="NAME", help=f"all: {', '.join((*models.names(), *networks.SMALL))}")
    given = asked.parse_args()
    if torch_side is None:
        if given.store:
            asked.error("--store needs PyTorch, which is not installed here; nox -s parity installs it")
        print("PyTorch is not installed here: JAX is compared with the stored references, and they with nothing")
    print(f"{'network':22}" + "".join(f"{column:>11}" for column in (*COLUMNS, "stored")) + f"{'seconds':>9}")
    for name in (given.names or models.names()) if given.store else ():
        if name not in networks.SMALL:
            store_documented(name)
    found = tuple(compared(name, given.store) for name in networks.names() if name in given.names or not given.names)
    if not given.names:
        found += tuple(served(name) for name in networks.SERVED)
    print(f"{'bound':22}" + "".join(f"{BOUNDS[column]:11.0e}" for column in COLUMNS) + f"{'1':>11}")
    if given.names:
        return 0 if all(network.agrees for network in found) else 1
    caught = tuple(planted(bug) for bug in bugs.BUGS)
    right = sum(one.check is not None for one in caught)
    print(f"{right} of {len(caught)} planted bugs caught")
    evidence = parity.Parity(
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        machine=cpu_model(),
        packages=packages(),
        bounds=BOUNDS,
        networks=found,
        bugs=caught,
    )
    print(f"written: {evidence.write(EVIDENCE)}")
    return 0 if all(network.agrees for network in found) and right == len(caught) else 1


def store_documented(name: str) -> None:
    """Write to a model's reference what its own file says; the steps of `learns` are left as they are, if there.

    Raises LookupError for an unknown model.
    """
    workload = models.load(name)
    trains = workload.optimizer is not None and workload.learning != "finite"
    learns = {"jax": 12, "torch": 20, "keras": 20} if trains else {}
    before = reference.of(name) if name in reference.names() else {}
    about, points = workload.description, workload.description.grid
    grid = {" ".join(map(str, hidden)): counts(workload.network(hidden)) for hidden in points.hidden} if points else {}
    file = reference.store(
        name,
        dataset=about.dataset,
        counts=counts(workload),
        claims=[[c.metric, c.unit, c.cpu_value, c.gpu_value, c.speedup, c.grade] for c in about.claims],
        learns=before.get("learns", learns),
        **({"grid": grid} if grid else {}),
    )
    print(f"written: {file}")


def counts(workload: Workload) -> dict[str, int]:
    """Return the parameters and the FLOP that a workload states."""
    return {field: getattr(workload.description, field) for field in COUNTS}


def compared(name: str, anew: bool) -> parity.Network:
    """Return how far JAX and what is stored are from PyTorch, and print it; `anew` stores what PyTorch computes."""
    start, side = time.monotonic(), JaxSide(name)
    if torch_side is None:
        fresh, against, drift = (reference := stored(name)), reference.source, None
    else:
        fresh, against = torch_side.computed(side, name), torch_side.NAME
        if anew:
            store(name, fresh, against)
        drift = from_stored(name, fresh)
    away = dict(errors(side, fresh))
    network = parity.Network(
        name=name,
        against=against,
        examples=networks.examples(name),
        errors=away,
        stored=drift,
        agrees=all(error <= BOUNDS[check] for check, error in away.items()) and (drift is None or drift <= 1),
    )
    return printed(network, time.monotonic() - start)


def served(name: str) -> parity.Network:
    """Return how far a serving network is from what keras.applications computed, and print it."""
    start, network = time.monotonic(), keras.weighted(name)
    away = {
        "logits": keras.error(network, name),
        "float32": keras.error(models.load(name).served(network), name, np.float32),
    }
    agrees = all(error <= BOUNDS[check] for check, error in away.items())
    return printed(
        parity.Network(name=name, against="keras.applications", examples=2, errors=away, stored=None, agrees=agrees),
        time.monotonic() - start,
    )


def printed(network: parity.Network, seconds: float) -> parity.Network:
    """Return the network after a line about it."""
    figures = "".join(f"{network.errors[c]:11.1e}" if c in network.errors else f"{'-':>11}" for c in COLUMNS)
    figures += f"{'-':>11}" if network.stored is None else f"{network.stored:11.1e}"
    print(f"{network.name:22}{figures}{seconds:9.0f}  {'agrees' if network.agrees else 'DIFFERS'}", flush=True)
    return network


def from_stored(name: str, fresh: Computed) -> float:
    """Return how far any number is from what is stored, as a share of its bound.

    Raises LookupError if there is no reference.
    """
    pairs = [(error, BOUNDS[check]) for check, error in errors(fresh, stored(name)) if error]
    return max((error / bound if bound else math.inf for error, bound in pairs), default=0.0)


def packages() -> dict[str, str]:
    """Return the versions of what computes here."""
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def planted(bug: bugs.Bug) -> parity.Caught:
    """Return what caught a bug, and print it."""
    check = bugs.caught_by(bug.network, bug.planted())
    print(f"{bug.name:56}{bug.network:22}{check or 'NOT CAUGHT'}", flush=True)
    return parity.Caught(bug=bug.name, network=bug.network, check=check)


if __name__ == "__main__":
    sys.exit(main())
