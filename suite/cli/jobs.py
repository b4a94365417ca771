"""Measuring on many machines from the command line: a cluster's jobs, and the other hosts of a run."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from suite.cli.types import Finite, address


def run_jobs(
    out: Path,
    resume: bool,
    request: Any,
    cluster: Any,
    jobs: int | None,
    job_options: tuple[str, ...],
    machine_name: str | None,
) -> tuple[bool, list[Any]]:
    """Measure on many machines; return whether every job has left its records, and the journals of those that have."""
    from suite.cluster import plan, planning, supervisor
    from suite.console import terminal
    from suite.driver.journal import FILE_NAME, Journal

    place = (
        plan.unfinished(out, cluster)
        if resume
        else planning.planned(request, out, cluster, jobs, planning.options(job_options, cluster), machine_name)
    )
    try:
        found = supervisor.watched(place, out)
    except KeyboardInterrupt:
        sys.exit(130)
    terminal.print_table(*supervisor.table(place, found))
    ended = sorted(left.campaign for left in found.values() if isinstance(left, supervisor.Outcome))
    if len(ended) < len(found):
        terminal.say(f"note: run --cluster {cluster} --resume sends the jobs that failed again")
    return len(ended) == len(found), [Journal(out / name / FILE_NAME) for name in ended]


def mention_jobs(out: Path) -> None:
    """Say of what is left of a cluster's jobs in a folder that one campaign alone goes on without --cluster."""
    from suite.cluster import plan
    from suite.console import terminal
    from suite.sessions import resuming

    with suppress(RuntimeError):  # a plan that cannot be read keeps no campaign from going on
        for _, left in plan.unended(out):
            words = resuming.resume_words(out, f"run --cluster {left.cluster}")
            terminal.say(f"note: jobs planned together have not ended; resume all of them with {words}")
            return


def shut_down(others: int, address: str) -> None:
    """Tell the other hosts that there is no more to do; say so of those that have not come to hear it."""
    from suite import units
    from suite.console import terminal
    from suite.multihost import hosts

    if missing := others - hosts.shut_down(others, address):
        terminal.say(f"note: {units.pluralize(missing, 'other host')} did not come to hear that the run has ended")


@click.command(short_help="Take part in what suite run --hosts measures at HOST:PORT.")
@click.argument("address", metavar="HOST:PORT", callback=lambda ctx, param, value: address(value))
@click.option(
    "--patience",
    type=Finite(min=0, min_open=True),
    default=10,
    show_default=True,
    metavar="MINUTES",
    help="How long to wait for that host to begin, and between its processes. It says when it has no more.",
)
def join(address: str, patience: float) -> None:
    """Take part in what suite run --hosts measures at HOST:PORT, until it has no more for this machine to do."""
    from suite import units
    from suite.console import terminal
    from suite.multihost import follower
    from suite.system import software

    for note in software.notes():
        terminal.say(f"note: {note}")
    count = follower.follow(address, 60 * patience, terminal.say)
    terminal.say(f"took part in {units.pluralize(count, 'process', 'processes')}")
