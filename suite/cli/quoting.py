"""Commands that quote numbers in documentation and check the quotations."""

import sys
from pathlib import Path
from typing import Any

import click

from suite.cli.types import KeyName, published


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
    for problem in problems:
        terminal.say(f"note: {problem}")
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

    right = True
    for line, wrong in citing.checked(files, published(), write):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)
