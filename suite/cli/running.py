"""The command `suite run`, which ends alike when done, at its budget, by Ctrl-C and by a signal; and `suite join`."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from suite.cli.ending import Signals
from suite.cli.options import check_contradictions, ignored, of_command, of_request, request_of
from suite.cli.output import lost
from suite.cli.types import PUBLISHED, Finite, RenamingCommand, address, published, separated
from suite.driver.request import Request


@click.command(cls=RenamingCommand, short_help="Run benchmarks and print the results.")
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...", callback=lambda ctx, param, value: separated(value))
@of_request
@of_command
def run(as_json: bool, **asked: Any) -> None:
    """Run benchmarks (default: the headline set) and print the speed-ups, or an experiment and its answers.

    Every completed process is stored on disk. A spent budget, Ctrl-C and a signal such as SIGTERM or SIGHUP all end
    with the table, the site and the command to resume; a second Ctrl-C ends at once. Exit 1 if there is no valid
    result or a job of a --cluster failed, 130 after Ctrl-C, 128 and its number after a signal: 143 after SIGTERM.
    If the output is closed before its end, as by `| head`, the records are still written, and the exit code is 141.
    """
    began = time.monotonic()
    context = click.get_current_context()
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        code, document = _run(request_of(asked), context, began)
    if as_json:
        click.echo(document, nl=False)
    if lost():
        click.echo(f"note: the output was closed before its end; the records are in '{asked['out']}'", err=True)
    sys.exit(code)


def _run(request: Request, context: click.Context, began: float) -> tuple[int, bytes]:
    """Measure, print and render what the command line asks; return the exit code and, with --json, the document.

    `began` is its start by the monotonic clock, in seconds.
    """
    from suite.console import terminal
    from suite.results.single import prices as price_list
    from suite.sessions import bench, publishing, resuming

    asked = SimpleNamespace(**context.params)
    out: Path = asked.out
    check_contradictions(context.params)
    if asked.publish:
        published()  # raises before anything is measured
    if asked.site:
        publishing.checkout()
    listed = price_list.read(asked.prices or price_list.SHIPPED)
    if asked.resume and (others := ignored(context)):
        terminal.say(f"note: --resume uses the stored plan and ignores {', '.join(others)}")
    elif request.profile != asked.profile:
        terminal.say("note: --profile standard is now the default; use --budget and --within for narrower intervals")
    if asked.resume and asked.cluster is None:
        mention_jobs(out)
    if asked.address is not None:
        from suite.multihost import hosts

        hosts.check_bindable(asked.address)
        os.environ[hosts.ADDRESS] = asked.address
    seen = context.ensure_object(Signals)
    if asked.cluster is None:
        journal, ending = _measured(request, asked, began)
        journals, has_result = [journal], bench.resulted(journal)
    else:
        ending = "whole"
        has_result, journals = run_jobs(request, asked, seen)
    _show([journal.header() for journal in journals], out, listed, asked.site)
    for journal in journals if asked.publish and ending != "interrupted" else ():
        for path in publishing.publish(publishing.ended(out, journal.path.parent.name), PUBLISHED):
            terminal.say(f"published {path}")
    index = publishing.report(PUBLISHED, out, True, listed) if asked.site else None
    if index:
        click.echo(f"site: {index}")
    for journal in journals:
        resuming.say_how(journal, out, ending, seen.name)
    document = bench.document(journals[0], out, index) if asked.as_json else b""
    return seen.code(ending == "interrupted", has_result), document


def _measured(request: Request, asked: Any, began: float) -> tuple[Any, Any]:
    """Measure a new or resumed campaign on this machine; return its journal and how it ended."""
    from suite import units
    from suite.console import terminal
    from suite.driver.forecast import Deadline
    from suite.sessions import bench, publishing, resuming

    reserved = publishing.REPORT_SECONDS if asked.site else 0.0
    new = None
    if not asked.resume:
        new = bench.planned(
            request,
            asked.out,
            asked.machine_name,
            reserved=reserved,
            began=began,
            compile_cache=asked.compile_cache,
            published=PUBLISHED,
        )
    journal = new or resuming.resumed(asked.out, asked.campaign, request.hosts, asked.compile_cache)
    budget = 60 * request.budget_minutes if request.budget_minutes else journal.header().budget_seconds
    deadline = Deadline(budget, reserved, began)
    if new is None:
        bench.check_budget(journal.header(), deadline, journal.done())
    with bench.kept_if_begun(new) if new else nullcontext():
        ending = bench.measure(journal, asked.out, asked.compile_cache, deadline, within=request.within)
    if asked.address is not None:
        from suite.multihost import hosts

        others = request.hosts - 1
        if missing := others - hosts.shut_down(others, asked.address):
            terminal.say(f"note: {units.pluralize(missing, 'other host')} did not hear that the run has ended")
    return journal, ending


def _show(headers: Sequence[Any], out: Path, prices: Sequence[Any], site: bool) -> None:
    """Print the results of the campaigns with these headers, machine by machine."""
    from suite.console import printing

    for number, header in enumerate({header.machine.slug: header for header in headers}.values()):
        noted = site or number > 0
        if header.experiment:
            printing.print_answers(header.experiment, (PUBLISHED, out), header.machine, noted)
        else:
            campaigns = {header.campaign for header in headers}
            printing.print_results((PUBLISHED, out), header.machine, prices, campaigns, noted)


def run_jobs(request: Request, asked: Any, seen: Signals) -> tuple[bool, list[Any]]:
    """Run a cluster's jobs; return whether all of them finished, and the journals of those that did."""
    from suite.cluster import plan, planning, supervisor
    from suite.console import terminal
    from suite.driver.journal import FILE_NAME, Journal

    out, cluster = asked.out, asked.cluster
    if asked.resume:
        place = plan.unfinished(out, cluster)
    else:
        options = planning.options(asked.job_options, cluster)
        place = planning.planned(request, out, cluster, asked.jobs, options, asked.machine_name)
    try:
        outcomes = supervisor.watched(place, out)
    except KeyboardInterrupt:
        sys.exit(seen.code(interrupted=True, has_result=False))
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
    from suite.driver import preflight
    from suite.multihost import follower

    terminal.notes(preflight.passed(preflight.of_a_follower()))
    count = follower.follow(address, 60 * patience, terminal.say)
    terminal.say(f"took part in {units.pluralize(count, 'process', 'processes')}")
