"""Commands for existing records: publish, report, compare, baselines, threshold, validate, cite, check-citations."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from suite.cli.types import PUBLISHED, Finite, KeyName, RecordPath, out_folder, prices_file, published


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
@prices_file
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


@click.command(short_help="Print the work of a call from which the GPU pays.")
@click.argument("machine", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables: schema threshold/1.")
@out_folder
def threshold(machine: str | None, as_json: bool, out: Path) -> None:
    """Print the work of one call from which the GPU of MACHINE takes less time than its CPU, by way of writing it.

    Work is the FLOP of a dense network's step, of a scan those of all its steps, or the rows times columns of a table
    for boosted trees. MACHINE is a name as in keys, published or local. Default: this machine. Exit 1 if nothing
    was measured; suite run --experiment crossover measures it.
    """
    from suite.console import threshold as printing
    from suite.system import machine as machines

    check_out(out)
    printing.print_thresholds((PUBLISHED, out), machine, machines.machine(), as_json)


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

    _echo(printing.checked(paths))


def _echo(lines: Iterable[tuple[str, bool]]) -> None:
    """Print lines, wrong ones to standard error; exit 1 if there was one."""
    right = True
    for line, wrong in lines:
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)


@click.command(short_help="Print the number of KEY, as documentation quotes it.")
@click.argument("key", type=KeyName(), required=False)
@click.option("--list", "listed", is_flag=True, help="List every key whose number may be quoted; KEY filters the list.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "bibtex", "csl", "badge"]),
    default="text",
    show_default=True,
    help="markdown: a marked quotation for check-citations; csl: CSL-JSON; badge: an SVG picture.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="With --list, print one JSON document, schema cite-list/2; it adds the numbers not to be quoted, and why.",
)
@click.option("--site", metavar="ADDRESS", default="", help="Address of the published site, for links.")
def cite(key: str | None, listed: bool, form: Any, as_json: bool, site: str) -> None:
    """Print the number of KEY, as documentation quotes it, with a key that never changes its meaning.

    KEY is machine/workload/backend/scope/metric: the number that today's records of that kind of machine give. With
    @DIGEST it names one record, or a stored pool. Citing a pool stores it as a line in site/pools.jsonl. Exit 1 if no
    number has the key. Standard error says why a number may not be quoted.
    """
    from suite.console import citing, terminal

    if key is None and not listed:
        raise click.UsageError("name a KEY, or list all with --list")
    if listed and (others := [word for word, is_given in (("--format", form != "text"), ("--site", site)) if is_given]):
        raise click.UsageError(f"{others[0]} applies to one number; leave out {others[0]} or --list")
    if as_json and not listed:
        raise click.UsageError("--json needs --list; for one number use --format csl")
    folder = published()
    numbers, problems = citing.published(folder)
    terminal.notes(problems)
    if key is not None and not listed:
        current = citing.cited(key, numbers, site)
        try:
            cited = citing.pinned(current, folder)
        except RuntimeError as error:
            cited = current
            terminal.say(f"note: the key has no digest, so its number may change later: {error}")
        if cited.key != current.key:
            terminal.say("note: stored in site/pools.jsonl; commit that file together with the quotation")
        if cited.reservation:
            terminal.say(f"note: do not quote: {cited.reservation}")
        click.echo(citing.written(cited, form), nl=form != "badge")
        return
    if as_json:
        click.echo(citing.document(numbers, key or ""), nl=False)
        return
    quotable = citing.listed(numbers, key or "")
    if not quotable and key:
        raise LookupError(
            f"no key with '{key}' in it has a number that may be quoted; --list --json lists the others, and why"
        )
    if not quotable:
        raise LookupError(
            "no published record has a number that may be quoted; suite publish adds a campaign's records"
        )
    for name, number in quotable:
        click.echo(f"{name}  {number}")


@click.command("check-citations", short_help="Compare the quotations in FILES with the published records.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Update quotations whose key is not pinned.")
def check_citations(files: tuple[Path, ...], write: bool) -> None:
    """Compare the marked quotations in FILES with the published records; exit 1 if one is wrong.

    FILES may lie anywhere; run this in the suite's checkout, whose records count.
    """
    from suite.console import citing

    _echo(citing.checked(files, published(), write))
