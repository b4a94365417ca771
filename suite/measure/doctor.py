"""What JAX sees of this machine, and how fit it is to measure."""

from suite.measure import beside, fitness, load, machine, probing
from suite.measure.probe import Offer


def checks_of_this_machine() -> tuple[fitness.Check, ...]:
    """Return what JAX sees and how fit the machine is."""
    here = machine.machine()
    try:
        offer = probing.offer("jax")
    except RuntimeError as error:
        offer = Offer(implementation="jax", problem=str(error))
    with beside.telemetry() as telemetry:
        there = telemetry.counters()
    return fitness.checks(here, offer, load.others_now(2.0), there)
