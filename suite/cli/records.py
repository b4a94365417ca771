"""Commands for records that there are: publish, render, compare, validate."""

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from suite.cli.types import PUBLISHED, Finite, RecordPath, out_folder, published


@click.command(short_help="Put a CAMPAIGN's records among those of the site.")
@click.argument("campaign")
@click.option(
    "--incomplete",
    is_flag=True,
    help="Of a campaign that cannot go on, such as one whose machine is gone, what was completed. Cases that lack "
    "rounds are called incomplete, and the campaign has ended.",
)
@out_folder
def publish(campaign: str, incomplete: bool, out: Path) -> None:
    """Put the records of a CAMPAIGN into its pack in site/records, from where the site takes its evidence.

    It is the name of a folder in --out, or a path to one, or to a pack: CAMPAIGN.zip. The records that somebody sent
    need no journal. A pack that is there gets what it lacks and keeps the rest, byte for byte. The headline's numbers
    are stored in site/pools.jsonl as they are by then, so that their pinned keys mean them for ever.
    """
    from suite.console import terminal
    from suite.sessions import publishing

    target = published()  # before the campaign is ended
    for path in publishing.publish(publishing.ended(out, campaign, incomplete), target):
        terminal.say(f"published {path}")


@click.command(short_help="Render all records into the site, and print its path.")
@out_folder
@click.option("--build/--no-build", default=True, show_default=True, help="Build the HTML with MkDocs.")
@click.option("--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: the articles'.")
def report(out: Path, build: bool, prices: Path | None) -> None:
    """Render all records, published and local, into the site, and print the table and the site's path."""
    from suite.console import printing
    from suite.results.single import prices as price_list
    from suite.sessions import publishing
    from suite.system import machine

    listed = price_list.read(prices or price_list.SHIPPED)
    check_out(out)
    built = publishing.report(PUBLISHED, out, build, listed)
    printing.print_results((PUBLISHED, out), machine.machine(), listed, noted=True)
    if built is not None:
        click.echo(f"site: {built}")


@click.command(short_help="Say of each case whether SECOND is faster than FIRST.")
@click.argument("first")
@click.argument("second")
@click.option(
    "--band",
    type=Finite(min=0),
    metavar="PERCENT",
    help="A difference that does not matter. "
    "Default: by how much processes of one and the same case differ on these machines, at least 1.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table: schema compare/2.")
@out_folder
def compare(first: str, second: str, band: float | None, as_json: bool, out: Path) -> None:
    """Say of each case that FIRST and SECOND both have whether the SECOND is faster, slower, or the same.

    Each is a record's file, a folder or pack of them, a campaign, a machine, or a version such as jax==0.12.0.1.
    """
    from suite.console import printing

    check_out(out)
    printing.compare(first, second, (PUBLISHED, out), None if band is None else band / 100, as_json)


@click.command(short_help="Say of each of JAX's steps how long the fastest baseline takes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables: schema baselines/1.")
@out_folder
def baselines(as_json: bool, out: Path) -> None:
    """Say of each of JAX's steps how long the fastest baseline takes over JAX's time: above 1 JAX is faster.

    A table for each machine and backend, of all records, published and local, with the ways that were not timed.
    """
    from suite.console import printing

    check_out(out)
    printing.baselines((PUBLISHED, out), as_json)


def check_out(out: Path) -> None:
    """Raise ValueError if the folder named with --out is not there; without the option nothing needs to be."""
    named = click.get_current_context().get_parameter_source("out") is ParameterSource.COMMANDLINE
    if named and not out.is_dir():
        raise ValueError(f"--out asked for with '{out}', which is no folder; name one that suite run has written to")


@click.command(short_help="Say of each record in PATHS whether it can be read.")
@click.argument("paths", nargs=-1, required=True, type=RecordPath())
def validate(paths: tuple[Path, ...]) -> None:
    """Say of each record in PATHS what it is and whether it can be read as it was written.

    Each is a record's file, a pack of them, CAMPAIGN.zip, a record in one, CAMPAIGN.zip/NAME.json, or a folder of files
    and packs.

    Exit 1 if one cannot, if the site would leave one out because of where it lies in a folder, or if there is none. An
    invalid result is counted in the last line and is no error: its record can be read, and the site shows it as
    invalid.
    """
    from suite.console import printing

    right = True
    for line, wrong in printing.checked(paths):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)
