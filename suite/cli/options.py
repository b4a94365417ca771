"""The options of `suite run`: those of a request, made from its table, and those of the command itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from suite.case import Allocator
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
)
from suite.driver.request import OPTIONS, Request
from suite.former import AXES
from suite.variants import NAMES as VARIANTS

# How values are read where the type of their field does not say it.
_READ_AS: dict[str, click.ParamType] = {
    "profile": click.Choice(["smoke", "quick", "standard"]),
    "budget_minutes": Finite(min=0, min_open=True),
    "within": Percent(),
    "cold_starts": ColdStart(),
    "data": click.Choice(["embedded", "tfds"]),
    "variants": Words(VARIANTS, AXES["variant"]),
    "allocators": Words(get_args(Allocator), AXES["allocator"]),
}
_OF_NEW_CAMPAIGNS = {"workloads", "jobs", "job_options", "machine_name"}  # which a stored plan has settled

Command = Callable[..., Any]


def of_request(command: Command) -> Command:
    """Give a command an option for each row of the table of a request, under the name of its field."""
    types, usual = get_type_hints(Request), Request()
    for name, row in reversed(tuple(OPTIONS.items())):
        several = get_origin(types[name]) is tuple
        kind = _READ_AS.get(name) or _read_as(types[name])
        command = click.option(
            row.flag,
            name,
            cls=Several if several else click.Option,
            type=kind,
            is_flag=True if types[name] is bool else None,
            default=getattr(usual, name),
            show_default=row.shows_default,
            metavar=row.metavar,
            help=row.help,
        )(command)
    return command


def _read_as(kind: Any) -> click.ParamType | None:
    """Return how values of a type are read: several words or numbers, a number from 1 up; None for flags and names."""
    if get_origin(kind) is tuple:
        (one, _) = get_args(kind)
        return Counts() if one is int else Words(get_args(one))
    return click.IntRange(min=1) if int in (kind, *get_args(kind)) else None


def of_command(command: Command) -> Command:
    """Give a command the options that say where results lie, what becomes of them, and on which machines it runs."""
    for option in reversed(_OF_COMMAND):
        command = option(command)
    return command


def _gone(most_rounds: str | None) -> None:
    """Raise ValueError for an option of older versions, naming what took its place."""
    if most_rounds is not None:
        raise ValueError(
            "--most-rounds asked for, which is gone: --budget says how long to measure, --within how certain a number "
            "has to be, --rounds exactly how many processes"
        )


_OF_COMMAND = (
    click.option(
        "--most-rounds",
        hidden=True,
        callback=lambda ctx, param, value: _gone(value),
        expose_value=False,
        help="Of older versions; says what took its place.",
    ),
    click.option(
        "--address",
        metavar="HOST:PORT",
        callback=lambda ctx, param, value: None if value is None else address(value),
        help="Of this machine, by which the other --hosts reach it.",
    ),
    click.option(
        "--cluster",
        type=click.Choice(["slurm", "local"]),
        help="Deal the workloads to jobs on many machines, which share --out, and look after them: a lost one is sent "
        "again. local: on this machine, one after another, which shows that it works.",
    ),
    click.option("--jobs", type=click.IntRange(min=1), help="So many, of --cluster. Default: one for each workload."),
    click.option(
        "--job-option",
        "job_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Of sbatch, with --cluster slurm: partition=gpu, gres=gpu:1, time=120 (minutes). May be given several "
        "times.",
    ),
    out_folder,
    click.option(
        "--compile-cache",
        type=click.Path(file_okay=False, writable=True, path_type=Path),
        help="Keep here what is compiled for a GPU and which kernels were chosen, for campaigns to come. Default: "
        "removed at the campaign's end. Where compiling is measured nothing comes from it.",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Resume the newest campaign in --out that has not ended and can be resumed here, as it was planned, with "
        "the same budget again. Options of what to measure do not apply.",
    ),
    click.option("--campaign", metavar="NAME", help="Of --resume: resume this one."),
    click.option(
        "--publish", is_flag=True, help=f"End the campaign with this run, and put its records under {PUBLISHED}."
    ),
    click.option("--report", "site", is_flag=True, help="As suite report does, at the end; in the suite's checkout."),
    click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document, schema run/2, and all else to standard error."
    ),
    click.option("--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: the articles'."),
    click.option(
        "--machine",
        "machine_name",
        callback=lambda ctx, param, value: None if value is None else machine_name(value),
        help="What to call this machine. Default: after its GPUs, else its processor, and its cores.",
    ),
)


def ignored(context: click.Context) -> tuple[str, ...]:
    """Return what the command line has and --resume takes from the stored plan instead, as it is written there."""
    settled = _OF_NEW_CAMPAIGNS | {name for name, row in OPTIONS.items() if not row.with_resume}
    return tuple(
        "WORKLOAD" if isinstance(parameter, click.Argument) else parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in settled and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    )


def request_of(asked: Mapping[str, Any]) -> Request:
    """Return what is to be measured, from the parameters that say it; ValueError for what none can be."""
    if asked["experiment"] is not None and not asked["experiment"].strip():
        raise ValueError("--experiment asked for without a name; suite list --experiments shows them")
    options = {name: asked[name] for name in ("workloads", *OPTIONS)}
    if options["profile"] == "standard":
        options["profile"] = "quick"
    return Request(**options)


def check_contradictions(asked: Mapping[str, Any]) -> None:
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
