"""What an implementation can run here, by its own interpreter, and how fit the machine is to measure."""

import os
from collections.abc import Iterable
from typing import get_args

import msgspec

from suite import experiments
from suite.case import Implementation
from suite.child_imports import PACKAGE
from suite.driver import fitness, preflight
from suite.driver.remedies import remedy
from suite.driver.request import Request
from suite.processes import children
from suite.system import counters, machine, software
from suite.telemetry import windows
from suite.worker_api.protocol import Offer

_PROBE_SECONDS = 180.0


def requested(asked: Request) -> dict[Implementation, Offer]:
    """Return the offers of JAX and of the requested baselines, and of those that an experiment times, usable or not.

    Raises RuntimeError if a requested one cannot run.
    """
    names: dict[Implementation, None] = dict.fromkeys(("jax", *asked.implementations))
    offers: dict[Implementation, Offer] = {name: offer(name) for name in names}
    for name in experiments.baselines(asked.experiment):
        offers.setdefault(name, answered(name))
    return offers


def installed(implementations: Iterable[Implementation]) -> dict[Implementation, Offer]:
    """Return the offers of those implementations that are installed.

    Raises RuntimeError if an interpreter cannot start one, or runs another copy of the suite.
    """
    answers: dict[Implementation, Offer] = {name: answered(name) for name in implementations}
    return {name: _usable(answer) for name, answer in answers.items() if answer.installed}


def offer(implementation: Implementation) -> Offer:
    """Return the offer of an implementation's interpreter: its workloads, backends and versions.

    Raises RuntimeError, with the reason and its remedy, if it lacks a package, does not answer, or runs another copy of
    the suite.
    """
    return _usable(answered(implementation))


def _usable(answer: Offer) -> Offer:
    if answer.problem:
        raise RuntimeError("; ".join(filter(None, (answer.problem, answer.remedy))))
    return answer


def answered(implementation: Implementation) -> Offer:
    """Return the offer of an implementation's interpreter; if it cannot run, an offer of a problem and its remedy."""
    try:
        python = children.interpreter(implementation)
    except RuntimeError as error:  # the variable names no Python
        return Offer(implementation=implementation, problem=str(error))

    def none(problem: str, remedy: str) -> Offer:
        return Offer(implementation=implementation, problem=f"'{python}' {problem}", remedy=remedy)

    all_of_it = f"see all that it prints: {python} -m suite.worker.probe {implementation}"
    env = children.environment(None)
    try:
        with children.child("suite.worker.probe", implementation, python=python, env=env) as child:
            line = child.line(_PROBE_SECONDS)
            if line is None:
                how = child.ended()
                return none(f"cannot start '{implementation}': it {how}", remedy(how, implementation) or all_of_it)
        answer = msgspec.json.decode(line, type=Offer)
    except TimeoutError:
        return none(f"did not say within {_PROBE_SECONDS:.0f} s what '{implementation}' can run", all_of_it)
    except (OSError, msgspec.DecodeError) as error:
        return none(f"does not answer like a Python ({error})", f"set {_variable(implementation)} to one, or unset it")
    if answer.package != str(PACKAGE):
        return none(
            f"imports another suite, from '{answer.package or 'an older version'}', and this one lies in '{PACKAGE}', "
            "so the record would name code that did not run",
            "let it keep PYTHONPATH (no -E or -I), or run its own suite",
        )
    if not answer.installed:
        lacking = "the suite" if implementation == "jax" else "it"
        return Offer(
            implementation=implementation,
            problem=f"implementation '{implementation}' asked for, '{python}' cannot run it: {answer.problem}",
            remedy=f"install {lacking} there, or set {_variable(implementation)} to a Python that has it",
            installed=False,
        )
    if answer.problem:
        return none(
            f"cannot start '{implementation}': {answer.problem}", remedy(answer.problem, implementation) or all_of_it
        )
    return answer


def _variable(implementation: Implementation) -> str:
    return f"SUITE_{implementation.upper()}_PYTHON"


def checks_of_this_machine() -> tuple[fitness.Check, ...]:
    """Return the doctor's checks of this machine: those of the preflight, then what a process has to be asked."""
    first = preflight.checks()
    here, jax = machine.machine(), answered("jax")
    here = machine.seen_by(here, jax.backends.get("gpu", ()))
    with windows.telemetry() as telemetry:
        available = telemetry.counters()
    asked = fitness.checks(here, jax, counters.others_now(2.0), available, machine.why_no_gpu(wanted_one=False))
    return (*first, *asked, *map(fitness.baseline_check, map(answered, _baselines())))


def _baselines() -> tuple[Implementation, ...]:
    """Return the baselines that are installed here or have an interpreter of their own."""
    known = (name for name in get_args(Implementation) if name != "jax")
    return tuple(name for name in known if _variable(name) in os.environ or software.versions(name))
