"""What JAX sees of this machine, and how fit it is to measure."""

from suite.driver import fitness, probing
from suite.system import load, machine, software, variables
from suite.telemetry import windows
from suite.worker_api.protocol import Offer


def checks_of_this_machine() -> tuple[fitness.Check, ...]:
    """Return what JAX sees and how fit the machine is."""
    here = machine.machine()
    try:
        notes = software.notes()
    except ValueError as error:  # of SUITE_COMMIT
        notes = (str(error),)
    notes += variables.spoiling()
    try:
        offer = probing.offer("jax")
    except RuntimeError as error:
        offer = Offer(implementation="jax", problem=str(error))
    here = machine.seen_by(here, offer.backends.get("gpu", ()))
    with windows.telemetry() as telemetry:
        there = telemetry.counters()
    return fitness.checks(here, offer, load.others_now(2.0), there, machine.why_no_gpu(wanted_one=False), notes)
