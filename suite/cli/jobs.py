"""Runs over many machines: a cluster's jobs, and the other hosts of one run."""

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
    """Run a cluster's jobs; return whether all of them finished, and the journals of those that did."""
    from suite.cluster import plan, planning, supervisor
    from suite.console import terminal
    from suite.driver.journal import FILE_NAME, Journal

    place = (
        plan.unfinished(out, cluster)
        if resume
        else planning.planned(request, out, cluster, jobs, planning.options(job_options, cluster), machine_name)
    )
    try:
        outcomes = supervisor.watched(place, out)
    except KeyboardInterrupt:
        sys.exit(130)
    terminal.print_table(*supervisor.table(place, outcomes))
    ended = sorted(left.campaign for left in outcomes.values() if isinstance(left, supervisor.Outcome))
    if len(ended) < len(outcomes):
        terminal.say(f"note: run --cluster {cluster} --resume resubmits the failed jobs")
    return len(ended) == len(outcomes), [Journal(out / name / FILE_NAME) for name in ended]


def mention_jobs(out: Path) -> None:
    """Warn if a folder has unfinished jobs of a cluster: without --cluster one campaign alone resumes."""
    from suite.cluster import plan
    from suite.console import terminal
    from suite.sessions import resuming

    with suppress(RuntimeError):  # an unreadable plan must not block the resumed campaign
        for _, left in plan.unended(out):
            words = resuming.resume_words(out, f"run --cluster {left.cluster}")
            terminal.say(f"note: the jobs of one plan have not all ended; resume them with {words}")
            return


def shut_down(others: int, address: str) -> None:
    """Tell the other hosts that the run has ended; warn about those that did not ask."""
    from suite import units
    from suite.console import terminal
    from suite.multihost import hosts

    if missing := others - hosts.shut_down(others, address):
        terminal.say(f"note: {units.pluralize(missing, 'other host')} did not hear that the run has ended")


@click.command(short_help="Join the suite run --hosts at HOST:PORT.")
@click.argument("address", metavar="HOST:PORT", callback=lambda ctx, param, value: address(value))
@click.option(
    "--patience",
    type=Finite(min=0, min_open=True),
    default=10,
    show_default=True,
    metavar="MINUTES",
    help="How long to wait for that host to begin, and between its processes.",
)
def join(address: str, patience: float) -> None:
    """Join the suite run --hosts at HOST:PORT, until it has no more work for this machine."""
    from suite import units
    from suite.console import terminal
    from suite.multihost import follower
    from suite.system import software

    for note in software.notes():
        terminal.say(f"note: {note}")
    count = follower.follow(address, 60 * patience, terminal.say)
    terminal.say(f"took part in {units.pluralize(count, 'process', 'processes')}")
