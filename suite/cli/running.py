"""Commands that measure, here or on many machines."""

import dataclasses
import os
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import click
from click.core import ParameterSource

from suite.case import Allocator, Augmentation, Backend, Implementation, Layout, Loader, Precision
from suite.cli.renamed import RenamingCommand
from suite.cli.types import (
    PUBLISHED,
    ColdStart,
    Counts,
    Finite,
    Percent,
    Several,
    Words,
    address,
    machine_name,
    out_folder,
    published,
)
from suite.former import AXES
from suite.scopes import Scope
from suite.variants import NAMES as VARIANTS

# Options that still apply with --resume; all others come from the stored plan.
_OF_EVERY_RUN = frozenset(
    {"out", "resume", "campaign", "publish", "site", "prices", "cluster", "hosts", "address", "compile_cache"}
    | {"budget", "within"}
)


@click.command(cls=RenamingCommand, short_help="Run benchmarks and print the results.")
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@click.option("--all", "every_workload", is_flag=True, help="Every workload, not the headline set alone.")
@click.option(
    "--backend", cls=Several, type=Words(get_args(Backend)), default=(), help="Default: every backend that is there."
)
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "standard"]),
    default="quick",
    help="smoke shows that everything runs, and nothing of it is published. quick and standard, of older versions, are "
    "accepted and mean the default.",
)
@click.option(
    "--budget",
    type=Finite(min=0, min_open=True),
    metavar="MINUTES",
    help="Wall time until the prompt is back, the site included. Every workload is measured once, cheapest first; what "
    "is left of the budget goes where a number is least certain. Default: 8, and for more than the headline set at "
    "least twice what one pass takes; with --rounds, an experiment or smoke no limit. Not with --cluster.",
)
@click.option(
    "--within",
    type=Percent(),
    metavar="PERCENT",
    help="Stop when every number is known so well, as a half-width. Default: 10. It is judged by the spread of all "
    "processes of a kind and is no interval to quote.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help="Exactly so many processes a case, instead of as many as the budget has time for.",
)
@click.option(
    "--most-rounds",
    hidden=True,
    callback=lambda ctx, param, value: _gone(value),
    expose_value=False,
    help="Of older versions; says what took its place.",
)
@click.option(
    "--reference",
    is_flag=True,
    help="One reference round, the evidence that numbers for a kind of machine are made of: every workload, JAX and "
    "its chosen baseline, a process a case. First the CPU, then the GPU, last what torch.compile makes. Takes about "
    "half an hour with a GPU and 20 minutes without; --budget cuts it into parts that --resume joins. --backend and "
    "workloads may be named.",
)
@click.option("--batch", type=click.IntRange(min=1), help="Examples a step. Default: each workload's headline batch.")
@click.option(
    "--precision",
    cls=Several,
    type=Words(get_args(Precision)),
    default=("float32-highest",),
    help="Of the GPU side. Default: float32-highest.",
)
@click.option(
    "--scope",
    cls=Several,
    type=Words(get_args(Scope)),
    default=(),
    help="What is timed. Default: the steady step, the step with its batch copied from the host, and the cold start. "
    "epoch: steps with the input pipeline from storage on; input: that pipeline alone; run: the documented whole run, "
    "where there is one; calls: the first four calls of a fresh process; learning: training from storage and the "
    "accuracy that it comes to; serve: latency and rate of single requests to networks that only infer, four always "
    "under way. Of an experiment: those of its cases, all by default.",
)
@click.option(
    "--cold-start",
    "cold_starts",
    cls=Several,
    type=ColdStart(),
    default=("cold",),
    help="Of scope cold. Default: cold. warm-cache: the compile cache holds what another process has compiled.",
)
@click.option(
    "--epochs-times",
    "epochs_times",
    type=click.IntRange(min=1),
    default=1,
    help="So many times the documented epochs of a run.",
)
@click.option(
    "--data",
    type=click.Choice(["embedded", "tfds"]),
    default="embedded",
    show_default=True,
    help="embedded: stand-ins that the project makes; tfds: the published data sets, downloaded once.",
)
@click.option(
    "--workers",
    cls=Several,
    type=Counts(),
    default=(),
    help="Of the input pipeline. Default: as many as granted cores.",
)
@click.option(
    "--loader",
    cls=Several,
    type=Words(get_args(Loader)),
    default=("threads",),
    help="What these workers are. Default: threads. PyTorch's pipeline has processes alone.",
)
@click.option(
    "--augmentation",
    cls=Several,
    type=Words(get_args(Augmentation)),
    default=("host",),
    help="Where scope epoch distorts its examples as documented. Default: host, in the input pipeline.",
)
@click.option(
    "--implementation",
    cls=Several,
    type=Words(get_args(Implementation)),
    default=("jax",),
    help="Default: jax. With torch or keras beside it the CPU side can be certified, that of the boosted trees with "
    "xgboost; each may have a Python of its own, named by SUITE_TORCH_PYTHON and so on.",
)
@click.option(
    "--baseline-backend",
    "baseline_backends",
    cls=Several,
    type=Words(get_args(Backend)),
    default=(),
    help="Where implementations beside JAX are timed. Default: on every backend. cpu: enough to certify the CPU side.",
)
@click.option(
    "--variant",
    cls=Several,
    type=Words(VARIANTS, AXES["variant"]),
    default=(),
    help="How steps are taken. Default: plain for JAX, for baselines every way they have. JAX has plain, nnx-jit (as "
    "tutorials write it), scan (a scan in one call), stacked (of a grid search: as many fits at once as "
    "--batch has headline batches) and, of scope run, resident (the data on the device); "
    "PyTorch has plain, compile, and on the GPU graph and compile-graph; Keras has plain; "
    "XGBoost has plain and, on the CPU, one-thread.",
)
@click.option(
    "--allocator",
    cls=Several,
    type=Words(get_args(Allocator), AXES["allocator"]),
    default=(),
    help="Of the CPU side. Default: beside a baseline both for each implementation, whose better one counts; else the "
    "one that keeps its memory. A cold start and the first calls have by default the system's.",
)
@click.option(
    "--threads",
    cls=Several,
    type=Counts(),
    default=(),
    help="Cores that a process of the CPU side may use, one hardware thread of each core first. Default: all granted "
    "cores.",
)
@click.option(
    "--layout",
    cls=Several,
    type=Words(get_args(Layout)),
    default=("channels-last",),
    help="Of pictures in PyTorch's memory. Default: channels-last.",
)
@click.option(
    "--devices",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Split each batch, or stacked fits, over so many GPUs, or devices made of the CPU's cores. JAX only; "
    "scopes cold, step, transfer and calls, and with variant stacked run.",
)
@click.option(
    "--hosts",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Machines that --devices belong to, each with as many. This one drives; run suite join on the others. "
    "Scopes cold, step and transfer; variants plain and scan.",
)
@click.option(
    "--address",
    metavar="HOST:PORT",
    callback=lambda ctx, param, value: None if value is None else address(value),
    help="Of this machine, by which the other --hosts reach it.",
)
@click.option(
    "--experiment",
    metavar="NAME",
    help="What suite list --experiments shows: it decides on batch, precision, variant and how else a case is timed, "
    "and on the workloads where none is named. --backend, --scope, --profile, --rounds, --budget, --data and --energy "
    "stay yours.",
)
@click.option(
    "--energy/--no-energy",
    default=None,
    help="Whether a case of JAX goes on with its step, once, for the eleven seconds in which counters of the hardware "
    "tell its energy and how busy a GPU is, where there are some. Default: it does; of experiments in those alone that "
    "look at how busy a GPU is.",
)
@click.option(
    "--cluster",
    type=click.Choice(["slurm", "local"]),
    help="Deal the workloads to jobs on many machines, which share --out, and look after them: a lost one is sent "
    "again. local: on this machine, one after another, which shows that it works.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="So many, of --cluster. Default: one for each workload.")
@click.option(
    "--job-option",
    "job_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of sbatch, with --cluster slurm: partition=gpu, gres=gpu:1, time=120 (minutes). May be given several times.",
)
@out_folder
@click.option(
    "--compile-cache",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    help="Keep here what is compiled for a GPU and which kernels were chosen, for campaigns to come. Default: removed "
    "at the campaign's end. Where compiling is measured nothing comes from it.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the newest campaign in --out that has not ended and can be resumed here, as it was planned, with the "
    "same budget again. Options of what to measure do not apply.",
)
@click.option("--campaign", metavar="NAME", help="Of --resume: resume this one.")
@click.option("--publish", is_flag=True, help=f"End the campaign with this run, and put its records under {PUBLISHED}.")
@click.option("--report", "site", is_flag=True, help="As suite report does, at the end; in the suite's checkout.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, schema run/2, and all else to standard error."
)
@click.option("--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: the articles'.")
@click.option(
    "--machine",
    "machine_name",
    callback=lambda ctx, param, value: None if value is None else machine_name(value),
    help="What to call this machine. Default: after its GPUs, else its processor, and its cores.",
)
def run(as_json: bool, **asked: Any) -> None:
    """Run benchmarks (default: the headline set) and print the speed-ups, or an experiment and its answers.

    Every completed process is safe on disk. A spent budget, Ctrl-C and SIGTERM all end with the table, the site and the
    command to resume; a second Ctrl-C ends at once. Exit 1 if nothing has a result that makes sense, or a job of a
    --cluster has left none, 130 after Ctrl-C and 143 after SIGTERM.
    """
    began = time.monotonic()
    context = click.get_current_context()
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        found = _run(_request(asked), context, began)
    if as_json:
        click.echo(found.document, nl=False)
    sys.exit(found.code)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What a run leaves: its exit code and its JSON document, empty for a cluster's jobs."""

    code: int
    document: bytes = b""


def _run(request: Any, context: click.Context, began: float) -> _Found:
    """Measure, print and render what the command line asks; `began` is when the command did, by the monotonic clock."""
    from suite.cli.ending import signals
    from suite.console import terminal
    from suite.results.single import prices as price_list
    from suite.sessions import bench, publishing, resuming

    asked = SimpleNamespace(**context.params)
    out: Path = asked.out
    _check_contradictions(context.params)
    if asked.publish:
        published()  # refuses before anything is measured
    if asked.site:
        publishing.checkout()
    listed = price_list.read(asked.prices or price_list.SHIPPED)
    if asked.resume and (others := given(context, but=_OF_EVERY_RUN)):
        terminal.say(f"note: --resume takes the plan as it was stored and ignores {', '.join(others)}")
    elif request.profile != asked.profile:
        terminal.say("note: --profile standard is now the default way of measuring; --budget and --within narrow it")
    if asked.resume and asked.cluster is None:
        _mention_jobs(out)
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


def _measured(request: Any, asked: Any, began: float) -> tuple[Any, Any]:
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
        _shut_down(request.hosts - 1, asked.address)
    return journal, ending


def _mention_jobs(out: Path) -> None:
    """Say of what is left of a cluster's jobs in a folder that one campaign alone goes on without --cluster."""
    from suite.cluster import plan
    from suite.console import terminal
    from suite.sessions import resuming

    with suppress(RuntimeError):  # a plan that cannot be read keeps no campaign from going on
        for _, left in plan.unended(out):
            words = resuming.resume_words(out, f"run --cluster {left.cluster}")
            terminal.say(f"note: jobs planned together have not ended; resume all of them with {words}")
            return


def _shut_down(others: int, address: str) -> None:
    """Tell the other hosts that there is no more to do; say so of those that have not come to hear it."""
    from suite import units
    from suite.console import terminal
    from suite.multihost import hosts

    if missing := others - hosts.shut_down(others, address):
        terminal.say(f"note: {units.pluralize(missing, 'other host')} did not come to hear that the run has ended")


def _request(asked: dict[str, Any]) -> Any:
    """Return what is to be measured, from the options that say it; ValueError for what none can be."""
    from suite.driver.request import Request

    if asked["experiment"] is not None and not asked["experiment"].strip():
        raise ValueError("--experiment asked for without a name; suite list --experiments shows them")
    fields = {field.name for field in dataclasses.fields(Request)}
    named = {key if key in fields else f"{key}s": value for key, value in asked.items()}
    options = {key: value for key, value in named.items() if key in fields}
    if options["profile"] == "standard":
        options["profile"] = "quick"
    return Request(**options, budget_minutes=asked["budget"])


def _gone(most_rounds: str | None) -> None:
    """Raise ValueError for an option of older versions, naming what took its place."""
    if most_rounds is not None:
        raise ValueError(
            "--most-rounds asked for, which is gone: --budget says how long to measure, --within how certain a number "
            "has to be, --rounds exactly how many processes"
        )


def _check_contradictions(asked: Mapping[str, Any]) -> None:
    """Raise ValueError for options that do not go together, by their parameters' names."""
    alone, several = asked["cluster"] is None, asked["hosts"] > 1
    if asked["reference"] and not alone:
        raise ValueError("--reference asked for with --cluster, and a round is of one host; leave one of the two out")
    if asked["publish"] and not asked["resume"] and asked["profile"] == "smoke":
        raise ValueError(
            "--publish asked for with --profile smoke, which only shows that it runs; leave one of them out"
        )
    if asked["campaign"] is not None and not (asked["resume"] and alone):
        raise ValueError(
            "--campaign names the campaign that --resume resumes on this machine; add --resume, without --cluster"
        )
    if several != (asked["address"] is not None):
        raise ValueError("--hosts above 1 and --address belong together: the other hosts have to find this one")
    if alone and (asked["jobs"] is not None or asked["job_options"]):
        raise ValueError("--jobs or --job-option asked for without --cluster; add --cluster slurm, or leave them out")
    if several and not alone:
        raise ValueError("--hosts asked for with --cluster, whose jobs have a node each; leave one of the two out")
    if asked["as_json"] and not alone:
        raise ValueError("--json asked for with --cluster, whose jobs have a campaign each; leave one of the two out")
    if asked["compile_cache"] is not None and not alone:
        raise ValueError("--compile-cache asked for with --cluster, whose jobs have one each; leave one of the two out")


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


def given(context: click.Context, but: Collection[str]) -> tuple[str, ...]:
    """Return the parameters that the command line has but for those of some names, as it writes them."""
    others = [parameter for parameter in context.command.params if parameter.name not in but]
    there = (p for p in others if context.get_parameter_source(str(p.name)) is ParameterSource.COMMANDLINE)
    return tuple("WORKLOAD" if isinstance(p, click.Argument) else p.opts[0] for p in there)


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
