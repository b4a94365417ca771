"""Commands for data sets: show, prepare, find."""

from typing import Any

import click

from suite.cli.types import published

_kind = click.option(
    "--data",
    "kind",
    type=click.Choice(["embedded", "tfds"]),
    default="embedded",
    show_default=True,
    help="The stand-in that the project makes, or what TensorFlow Datasets publishes.",
)
_size = click.option(
    "--size",
    type=click.Choice(["small", "documented"]),
    default="documented",
    show_default=True,
    help="Of the stand-in: small for steps and tests, or as many examples as the articles have.",
)


@click.group(short_help="Show and prepare the data sets, drawn or published.")
def data() -> None:
    """Show and prepare the data sets: stand-ins that the project makes, or the published ones."""


@data.command("list")
def list_data() -> None:
    """Show the data sets, where they lie and how large they are."""
    from suite.console import terminal
    from suite.data import listing

    terminal.print_table("data sets", listing.COLUMNS, listing.rows())


@data.command("prepare")
@click.argument("name")
@_kind
@_size
def prepare_data(name: str, kind: Any, size: Any) -> None:
    """Make the stand-in of data set NAME, or download the published one, and print where it lies."""
    from suite.console.progress import DataProgress
    from suite.data import listing, store

    edition = listing.edition(name, kind, size)
    with DataProgress() as progress:
        store.prepare(name, kind, edition, progress)
    click.echo(store.path(name, kind, edition))


@data.command("path")
@click.argument("name")
@_kind
@_size
def data_path(name: str, kind: Any, size: Any) -> None:
    """Print where data set NAME lies, or will lie once it is prepared."""
    from suite.data import listing, store

    click.echo(store.path(name, kind, listing.edition(name, kind, size)))


@data.command("gallery")
def data_gallery() -> None:
    """Draw the pictures of the site's page of data anew, from their seeds, and print the files."""
    from suite.cli import gallery

    for file in gallery.draw(published().parent):
        click.echo(file)
