"""Commands for numbers in documentation: quote one, and check those that are quoted."""

import sys
from pathlib import Path
from typing import Any

import click

from suite.cli.types import KeyName, published


@click.command(short_help="Print the number that KEY names, as documentation quotes it.")
@click.argument("key", type=KeyName(), required=False)
@click.option(
    "--list", "listed", is_flag=True, help="Show every key whose number may be quoted; KEY then filters them."
)
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
    help="With --list, print one JSON document: schema cite-list/2, with the numbers that may not be quoted and why.",
)
@click.option("--site", metavar="ADDRESS", default="", help="Where the site is published: gives addresses.")
def cite(key: str | None, listed: bool, form: Any, as_json: bool, site: str) -> None:
    """Print the number that KEY names, as documentation quotes it, under a key that means it for ever.

    KEY is machine/workload/backend/scope/metric: what the records of that kind of machine say today. With @DIGEST it
    is that of one record, or of a stored pool. A pool that is cited is stored, a line in site/pools.jsonl. Exit 1 if
    nothing has the key. Standard error says why a number may not be quoted.
    """
    from suite.console import citing, terminal

    if key is None and not listed:
        raise click.UsageError("name a KEY, or give --list to see them all")
    if listed and (others := [word for word, is_given in (("--format", form != "text"), ("--site", site)) if is_given]):
        raise click.UsageError(f"{others[0]} is of one number; leave it or --list out")
    if as_json and not listed:
        raise click.UsageError("--json is of --list; add it, or take --format csl for one number")
    folder = published()
    there, problems = citing.published(folder)
    for problem in problems:
        terminal.say(f"note: {problem}")
    if key is not None and not listed:
        found = citing.cited(key, there, site)
        try:
            cited = citing.pinned(found, folder)
        except RuntimeError as error:
            cited = found
            terminal.say(f"note: the key has no digest, so it means another number later: {error}")
        if cited.key != found.key:
            terminal.say("note: stored in site/pools.jsonl; commit that with the quotation, so that its key is known")
        if cited.reservation:
            terminal.say(f"note: not to be quoted: {cited.reservation}")
        click.echo(citing.written(cited, form), nl=form != "badge")
        return
    if as_json:
        click.echo(citing.document(there, key or ""), nl=False)
        return
    found = citing.listed(there, key or "")
    if not found and key:
        raise LookupError(
            f"no key with '{key}' in it has a number that may be quoted; --list --json has the others, and why"
        )
    if not found:
        raise LookupError("no published record has a number that may be quoted; suite publish adds a campaign's")
    for name, number in found:
        click.echo(f"{name}  {number}")


@click.command("check-citations", short_help="Compare the quotations in FILES with the published records.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Bring quotations whose key is not pinned up to date.")
def check_citations(files: tuple[Path, ...], write: bool) -> None:
    """Compare the marked quotations in FILES with the published records; exit 1 if a number is not its key's.

    FILES may lie anywhere; the records are those of the suite's checkout, where this has to run.
    """
    from suite.console import citing

    right = True
    for line, wrong in citing.checked(files, published(), write):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)
