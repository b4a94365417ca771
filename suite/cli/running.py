"""The command that measures, `suite run`: it ends alike by itself, at its budget, by Ctrl-C and by SIGTERM."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import click

from suite.cli.jobs import mention_jobs, run_jobs, shut_down
from suite.cli.options import check_contradictions, ignored, of_command, of_request, request_of
from suite.cli.renamed import RenamingCommand
from suite.cli.types import PUBLISHED, published
from suite.driver.request import Request

_FAILED, _INTERRUPTED, _TERMINATED = 1, 130, 143


@click.command(cls=RenamingCommand, short_help="Run benchmarks and print the results.")
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@of_request
@of_command
def run(as_json: bool, **asked: Any) -> None:
    """Run benchmarks (default: the headline set) and print the speed-ups, or an experiment and its answers.

    Every completed process is safe on disk. A spent budget, Ctrl-C and SIGTERM all end with the table, the site and the
    command to resume; a second Ctrl-C ends at once. Exit 1 if nothing has a result that makes sense, or a job of a
    --cluster has left none, 130 after Ctrl-C and 143 after SIGTERM.
    """
    began = time.monotonic()
    context = click.get_current_context()
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        found = _run(request_of(asked), context, began)
    if as_json:
        click.echo(found.document, nl=False)
    sys.exit(found.code)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What a run leaves: its exit code and its JSON document, empty for a cluster's jobs."""

    code: int
    document: bytes = b""


def _run(request: Request, context: click.Context, began: float) -> _Found:
    """Measure, print and render what the command line asks; `began` is when the command did, by the monotonic clock."""
    from suite.console import terminal
    from suite.results.single import prices as price_list
    from suite.sessions import bench, publishing, resuming

    asked = SimpleNamespace(**context.params)
    out: Path = asked.out
    check_contradictions(context.params)
    if asked.publish:
        published()  # refuses before anything is measured
    if asked.site:
        publishing.checkout()
    listed = price_list.read(asked.prices or price_list.SHIPPED)
    if asked.resume and (others := ignored(context)):
        terminal.say(f"note: --resume takes the plan as it was stored and ignores {', '.join(others)}")
    elif request.profile != asked.profile:
        terminal.say("note: --profile standard is now the default way of measuring; --budget and --within narrow it")
    if asked.resume and asked.cluster is None:
        mention_jobs(out)
    if asked.address is not None:
        from suite.multihost import hosts

        hosts.check_bindable(asked.address)
        os.environ[hosts.ADDRESS] = asked.address
    with signals() as seen:
        if asked.cluster is None:
            journal, ending = _measured(request, asked, began)
            journals, whole = [journal], bench.resulted(journal)
        else:
            ending = "whole"
            whole, journals = run_jobs(
                out, asked.resume, request, asked.cluster, asked.jobs, asked.job_options, asked.machine_name
            )
        _show([journal.header() for journal in journals], out, listed, asked.site)
        for journal in journals if asked.publish and ending != "interrupted" else ():
            for path in publishing.publish(publishing.ended(out, journal.path.parent.name), PUBLISHED):
                terminal.say(f"published {path}")
        index = publishing.report(PUBLISHED, out, True, listed) if asked.site else None
        if index:
            click.echo(f"site: {index}")
        for journal in journals:
            resuming.say_how(journal, out, ending)
        document = bench.document(journals[0], out, index) if asked.as_json else b""
    return _Found(code=seen.code(ending == "interrupted", whole), document=document)


def _measured(request: Request, asked: Any, began: float) -> tuple[Any, Any]:
    """Measure a new campaign or one that is resumed, on this machine; return its journal and how it ended."""
    from suite.driver.deadline import Deadline
    from suite.sessions import bench, publishing, resuming

    reserved = publishing.REPORT_SECONDS if asked.site else 0.0
    new = None
    if not asked.resume:
        new = bench.planned(request, asked.out, asked.machine_name, reserved=reserved, began=began)
    journal = new or resuming.resumed(asked.out, asked.campaign, request.hosts)
    budget = 60 * request.budget_minutes if request.budget_minutes else journal.header().budget_seconds
    deadline = Deadline(budget, reserved, began)
    if new is None:
        bench.check_budget(journal.header(), deadline, journal.done())
    ending = bench.measure(journal, asked.out, asked.compile_cache, deadline, within=request.within)
    if asked.address is not None:
        shut_down(request.hosts - 1, asked.address)
    return journal, ending


def _show(headers: Sequence[Any], out: Path, prices: Sequence[Any], site: bool) -> None:
    """Print what the campaigns with these headers found, machine by machine."""
    from suite.console import printing

    for number, header in enumerate({header.machine.slug: header for header in headers}.values()):
        noted = site or number > 0
        if header.experiment:
            printing.print_answers(header.experiment, (PUBLISHED, out), header.machine, noted)
        else:
            campaigns = {header.campaign for header in headers}
            printing.print_results((PUBLISHED, out), header.machine, prices, campaigns, noted)


@dataclass
class Signals:
    """Which signals have come."""

    terminated: bool = False

    def code(self, interrupted: bool, whole: bool) -> int:
        """Return the exit code; `whole` says whether there is a result that makes sense."""
        if interrupted:
            return _TERMINATED if self.terminated else _INTERRUPTED
        return 0 if whole else _FAILED


@contextmanager
def signals() -> Iterator[Signals]:
    """Let SIGTERM do what Ctrl-C does, once: a SIGTERM after either, such as nox sends after Ctrl-C, does nothing."""
    found = Signals()
    if threading.current_thread() is not threading.main_thread():  # which alone may hear signals
        yield found
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        found.terminated |= number == signal.SIGTERM
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield found
    except KeyboardInterrupt:
        if found.terminated:
            sys.exit(_TERMINATED)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
