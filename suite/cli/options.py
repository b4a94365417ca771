"""The options of `suite run`: those of the request table, and those of the command itself."""

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
    prices_file,
)
from suite.driver.request import OPTIONS, Request
from suite.former import AXES
from suite.variants import NAMES as VARIANTS

# Parameter types that do not follow from the type of the field.
_READ_AS: dict[str, click.ParamType] = {
    "profile": click.Choice(["smoke", "quick", "standard"]),
    "budget_minutes": Finite(min=0, min_open=True),
    "within": Percent(),
    "cold_starts": ColdStart(),
    "data": click.Choice(["embedded", "tfds"]),
    "variants": Words(VARIANTS, AXES["variant"]),
    "allocators": Words(get_args(Allocator), AXES["allocator"]),
}
_OF_NEW_CAMPAIGNS = {"workloads", "jobs", "job_options", "machine_name"}  # fixed by a stored plan

Command = Callable[..., Any]


def of_request(command: Command) -> Command:
    """Add an option for each row of the request table, named after its field."""
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
    """Return the parameter type of a field: words, counts or a number from 1 up; None for flags and names."""
    if get_origin(kind) is tuple:
        (one, _) = get_args(kind)
        return Counts() if one is int else Words(get_args(one))
    return click.IntRange(min=1) if int in (kind, *get_args(kind)) else None


def of_command(command: Command) -> Command:
    """Add the options for folders, publishing, output and machines."""
    for option in reversed(_OF_COMMAND):
        command = option(command)
    return command


def _gone(most_rounds: str | None) -> None:
    """Raise ValueError for a removed option, naming its replacements."""
    if most_rounds is not None:
        raise ValueError(
            "--most-rounds asked for, which was removed: --budget sets the time, --within the half-width to reach, "
            "--rounds the number of processes"
        )


_OF_COMMAND = (
    click.option(
        "--most-rounds",
        hidden=True,
        callback=lambda ctx, param, value: _gone(value),
        expose_value=False,
        help="Removed; the error names its replacements.",
    ),
    click.option(
        "--address",
        metavar="HOST:PORT",
        callback=lambda ctx, param, value: None if value is None else address(value),
        help="Address at which the other --hosts reach this machine.",
    ),
    click.option(
        "--cluster",
        type=click.Choice(["slurm", "local"]),
        help="Split the workloads into jobs on machines that share --out, and supervise them: a lost job is submitted "
        "again. local: on this machine, one after another, to try it out.",
    ),
    click.option(
        "--jobs", type=click.IntRange(min=1), help="Number of jobs of --cluster. Default: one for each workload."
    ),
    click.option(
        "--job-option",
        "job_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Option of sbatch, with --cluster slurm: partition=gpu, gres=gpu:1, time=120 (minutes). Repeatable.",
    ),
    out_folder,
    click.option(
        "--compile-cache",
        type=click.Path(file_okay=False, writable=True, path_type=Path),
        help="Keep compiled GPU programs and autotuned kernels here for later campaigns. Default: removed when the "
        "campaign ends. Measurements of compile time do not read it.",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Resume the newest unfinished campaign in --out that can be resumed here, with its stored plan and the "
        "same budget again. Options of what to measure do not apply.",
    ),
    click.option("--campaign", metavar="NAME", help="With --resume: resume this campaign."),
    click.option(
        "--publish", is_flag=True, help=f"End the campaign after this run, and put its records under {PUBLISHED}."
    ),
    click.option(
        "--report",
        "site",
        is_flag=True,
        help="Render the site at the end, as suite report does; in the suite's checkout.",
    ),
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print one JSON document, schema run/2; all other output goes to standard error.",
    ),
    prices_file,
    click.option(
        "--machine",
        "machine_name",
        callback=lambda ctx, param, value: None if value is None else machine_name(value),
        help="Name of this machine. Default: its GPUs, else its processor, and its cores.",
    ),
)


def ignored(context: click.Context) -> tuple[str, ...]:
    """Return the options on the command line that --resume takes from the stored plan instead."""
    settled = _OF_NEW_CAMPAIGNS | {name for name, row in OPTIONS.items() if not row.with_resume}
    return tuple(
        "WORKLOAD" if isinstance(parameter, click.Argument) else parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in settled and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    )


def request_of(asked: Mapping[str, Any]) -> Request:
    """Return the request that the parameters describe. Raises ValueError for a blank experiment."""
    if asked["experiment"] is not None and not asked["experiment"].strip():
        raise ValueError("--experiment asked for without a name; suite list --experiments shows them")
    options = {name: asked[name] for name in ("workloads", *OPTIONS)}
    if options["profile"] == "standard":
        options["profile"] = "quick"
    return Request(**options)


def check_contradictions(asked: Mapping[str, Any]) -> None:
    """Raise ValueError for options that contradict each other, given the parameters by name."""
    alone, several = asked["cluster"] is None, asked["hosts"] > 1
    if asked["reference"] and not alone:
        raise ValueError(
            "--reference asked for with --cluster, but a reference round runs on one host; leave one of the two out"
        )
    if asked["publish"] and not asked["resume"] and asked["profile"] == "smoke":
        raise ValueError("--publish asked for with --profile smoke, which is never published; leave one of them out")
    if asked["campaign"] is not None and not (asked["resume"] and alone):
        raise ValueError("--campaign asked for, it needs --resume and excludes --cluster")
    if several != (asked["address"] is not None):
        raise ValueError("--hosts above 1 needs --address, and --address needs --hosts: the other hosts connect to it")
    if alone and (asked["jobs"] is not None or asked["job_options"]):
        raise ValueError("--jobs or --job-option asked for without --cluster; add --cluster slurm, or leave them out")
    if several and not alone:
        raise ValueError("--hosts asked for with --cluster, whose jobs run on one node each; leave one of the two out")
    if asked["as_json"] and not alone:
        raise ValueError("--json asked for with --cluster, whose jobs are separate campaigns; leave one of the two out")
    if asked["compile_cache"] is not None and not alone:
        raise ValueError(
            "--compile-cache asked for with --cluster, whose jobs have their own; leave one of the two out"
        )
