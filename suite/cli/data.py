"""Commands for data sets: list, prepare, path, gallery."""

from typing import Any

import click

from suite.cli.types import published

_kind = click.option(
    "--data",
    "kind",
    type=click.Choice(["embedded", "tfds"]),
    default="embedded",
    show_default=True,
    help="embedded: generated stand-ins; tfds: the data sets that TensorFlow Datasets publishes.",
)
_size = click.option(
    "--size",
    type=click.Choice(["small", "documented"]),
    default="documented",
    show_default=True,
    help="Size of a stand-in: small for steps and tests, documented for as many examples as the articles use.",
)


@click.group(short_help="Show and prepare the data sets, generated or published.")
def data() -> None:
    """Show and prepare the data sets: generated stand-ins, or the published ones."""


@data.command("list")
def list_data() -> None:
    """Show the data sets, their paths and sizes."""
    from suite.console import terminal
    from suite.data import listing

    terminal.print_table("data sets", listing.COLUMNS, listing.rows())


@data.command("prepare")
@click.argument("name")
@_kind
@_size
def prepare_data(name: str, kind: Any, size: Any) -> None:
    """Generate the stand-in of data set NAME, or download the published one, and print its path."""
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
    """Print the path of data set NAME, prepared or not."""
    from suite.data import listing, store

    click.echo(store.path(name, kind, listing.edition(name, kind, size)))


@data.command("gallery")
def data_gallery() -> None:
    """Redraw the pictures of the site's data page from their seeds, and print the files."""
    from suite.cli import gallery

    for file in gallery.draw(published().parent):
        click.echo(file)
