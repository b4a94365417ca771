"""Commands for existing records: publish, report, compare, baselines, validate."""

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from suite.cli.types import PUBLISHED, Finite, RecordPath, out_folder, published


@click.command(short_help="Add a CAMPAIGN's records to the site.")
@click.argument("campaign")
@click.option(
    "--incomplete",
    is_flag=True,
    help="End a campaign that cannot be resumed, such as one whose machine is gone, and publish what it completed. "
    "Cases that lack rounds are marked incomplete.",
)
@out_folder
def publish(campaign: str, incomplete: bool, out: Path) -> None:
    """Add the records of a CAMPAIGN to its pack in site/records, the evidence behind the site.

    CAMPAIGN is the name of a folder in --out, or a path to a folder or a pack, CAMPAIGN.zip. Records that somebody
    sent need no journal. An existing pack gains only the missing records and keeps the others byte for byte. The
    headline numbers are stored in site/pools.jsonl, so that their pinned keys keep their meaning.
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


@click.command(short_help="Compare the cases that FIRST and SECOND share.")
@click.argument("first")
@click.argument("second")
@click.option(
    "--band",
    type=Finite(min=0),
    metavar="PERCENT",
    help="Differences below this count as the same. Default: how much processes of one case differ on these machines, "
    "at least 1.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table: schema compare/2.")
@out_folder
def compare(first: str, second: str, band: float | None, as_json: bool, out: Path) -> None:
    """Compare the cases that FIRST and SECOND share: is SECOND faster, slower or the same?

    Each is a record's file, a folder or pack of records, a campaign, a machine, or a version such as jax==0.12.0.1.
    """
    from suite.console import printing

    check_out(out)
    printing.compare(first, second, (PUBLISHED, out), None if band is None else band / 100, as_json)


@click.command(short_help="Compare each JAX step with its fastest baseline.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables: schema baselines/1.")
@out_folder
def baselines(as_json: bool, out: Path) -> None:
    """Print the fastest baseline's time over JAX's time for each JAX step: above 1 JAX is faster.

    There is a table for each machine and backend, of all records, published and local. It lists the ways that were
    not timed.
    """
    from suite.console import printing

    check_out(out)
    printing.baselines((PUBLISHED, out), as_json)


def check_out(out: Path) -> None:
    """Raise ValueError if --out was given and is not a folder; the default may be missing."""
    named = click.get_current_context().get_parameter_source("out") is ParameterSource.COMMANDLINE
    if named and not out.is_dir():
        raise ValueError(f"--out asked for with '{out}', which is not a folder; name one that suite run has written to")


@click.command(short_help="Check that the records in PATHS can be read.")
@click.argument("paths", nargs=-1, required=True, type=RecordPath())
def validate(paths: tuple[Path, ...]) -> None:
    """Identify each record in PATHS and check that it can be read as it was written.

    A path is a record's file, a pack (CAMPAIGN.zip), a record in a pack (CAMPAIGN.zip/NAME.json), or a folder of files
    and packs.

    Exit 1 if a record cannot be read, if the site would skip one because of its place in a folder, or if there is no
    record. An invalid result is no error: the last line counts it, and the site shows it as invalid.
    """
    from suite.console import printing

    right = True
    for line, wrong in printing.checked(paths):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)
