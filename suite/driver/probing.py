"""What an implementation can run here, by its own interpreter, and how fit the machine is to measure."""

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from suite.case import Implementation
from suite.child_imports import PACKAGE
from suite.driver import fitness
from suite.processes import children
from suite.system import counters, machine, software, variables
from suite.telemetry import windows
from suite.worker_api.protocol import Offer

_PROBE_SECONDS = 180.0


class NotInstalledError(RuntimeError):
    """An implementation's interpreter lacks a package."""


def installed(implementations: Iterable[Implementation]) -> dict[Implementation, Offer]:
    """Return the offers of those implementations that are installed.

    Raises RuntimeError if an interpreter does not answer, or runs another copy of the suite.
    """
    offers: dict[Implementation, Offer] = {}
    for name in implementations:
        with suppress(NotInstalledError):
            offers[name] = offer(name)
    return offers


def offer(implementation: Implementation) -> Offer:
    """Return the offer of an implementation's interpreter: its workloads, backends and versions.

    Raises NotInstalledError if it lacks a package, RuntimeError if it does not answer or runs another copy of the
    suite.
    """
    python = children.interpreter(implementation)
    env = children.environment(None)
    try:
        with children.child("suite.worker.probe", implementation, python=python, env=env) as child:
            line = child.line(_PROBE_SECONDS)
            if line is None:
                raise RuntimeError(f"'{python}' could not say what it can run: it {child.ended()}; see suite doctor")
        answer = msgspec.json.decode(line, type=Offer)
    except TimeoutError:
        raise RuntimeError(
            f"'{python}' did not say within {_PROBE_SECONDS:.0f} s what it can run; see suite doctor"
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise RuntimeError(f"'{python}' does not answer like a Python ({error}); see suite doctor") from None
    if answer.package != str(PACKAGE):
        raise RuntimeError(
            f"'{python}' imports another suite, from '{answer.package or 'an older version'}', and this one lies in "
            f"'{PACKAGE}', so the record would name code that did not run; let it keep PYTHONPATH (no -E or -I), or "
            "run its own suite"
        )
    if answer.problem:
        raise NotInstalledError(
            f"implementation '{implementation}' asked for, '{python}' cannot run it: {answer.problem}; install it "
            f"there, or set SUITE_{implementation.upper()}_PYTHON to a Python that has it"
        )
    return answer


def checks_of_this_machine() -> tuple[fitness.Check, ...]:
    """Return the doctor's checks of this machine."""
    here = machine.machine()
    try:
        notes = software.notes()
    except ValueError as error:  # of SUITE_COMMIT
        notes = (str(error),)
    notes += variables.spoiling()
    try:
        jax = offer("jax")
    except RuntimeError as error:
        jax = Offer(implementation="jax", problem=str(error))
    here = machine.seen_by(here, jax.backends.get("gpu", ()))
    with windows.telemetry() as telemetry:
        available = telemetry.counters()
    return fitness.checks(here, jax, counters.others_now(2.0), available, machine.why_no_gpu(wanted_one=False), notes)
