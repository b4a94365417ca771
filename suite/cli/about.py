"""Commands that show workloads, experiments, data sets and the state of this machine."""

import sys
from pathlib import Path
from typing import Any

import click

from suite.cli.types import published, separated


@click.command("list", short_help="Show the workloads, or the experiments and their questions.")
@click.option("--json", "as_json", is_flag=True, help="Print all fields as one JSON list.")
@click.option("--experiments", "questions", is_flag=True, help="Show the experiments and their questions instead.")
def list_workloads(as_json: bool, questions: bool) -> None:
    """Show the workloads: parameters, FLOP, batch and dataset; --json adds title, source, claims and the rest."""
    if questions and as_json:
        raise click.UsageError("--json lists workloads; leave out --json or --experiments")
    if questions:
        from suite import experiments

        names = experiments.names()
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {experiments.load(name).TITLE}")
        return
    from suite.driver import probing
    from suite.results.records.record import to_json

    workloads = probing.offer("jax").workloads
    if as_json:
        click.echo(to_json(workloads), nl=False)
        return
    from suite import units
    from suite.console import terminal

    rows = []
    for about in workloads:
        flop = units.quantity(about.flop_per_example or None, "FLOP")
        rows.append((about.name, units.count(about.parameters), flop, units.count(about.batch), about.dataset))
    terminal.print_table("workloads", ("name", "parameters", "FLOP/example", "batch", "dataset"), rows)


@click.command(short_help="Check what would prevent or distort measuring here.")
def doctor() -> None:
    """Check what would prevent or distort measuring here, each with its remedy; exit 1 if something prevents it.

    First what suite run checks before it plans: code, commit, variables, folders, memory and GPUs. Then what takes
    longer: what JAX and the baselines say, load and counters.
    """
    from suite.console import terminal
    from suite.driver.probing import checks_of_this_machine

    checks = checks_of_this_machine()
    terminal.print_checks(checks)
    if any(check.verdict == "bad" for check in checks):
        sys.exit(1)


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

    terminal.print_table("data sets", listing.COLUMNS, listing.rows(), listing.files())


_names = click.argument(
    "names", nargs=-1, required=True, metavar="NAME...", callback=lambda ctx, param, value: separated(value)
)


@data.command("prepare")
@_names
@_kind
@_size
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="With --data tfds: take the published files from this folder, or this one file, instead of downloading them. "
    "They are found by their content under any name, at any depth, and are not changed. MNIST may be unpacked, "
    "packed anew or Keras' mnist.npz. suite data list names the files.",
)
def prepare_data(names: tuple[str, ...], kind: Any, size: Any, source: Path | None) -> None:
    """Generate the stand-in of each data set NAME, or download the published one, and print its path."""
    from suite.console import terminal
    from suite.console.progress import DataProgress
    from suite.data import listing, store

    if source and kind != "tfds":
        raise click.UsageError("--from takes published files; add --data tfds or leave out --from")
    editions = {name: listing.edition(name, kind, size) for name in names}
    paths = {name: store.path(name, kind, edition) for name, edition in editions.items()}  # before the first is made
    for name, edition in editions.items():
        if source and paths[name].is_dir():
            terminal.notes([f"'{name}' is already prepared; '{source}' was not read"])
        with DataProgress() as progress:
            store.prepare(name, kind, edition, progress, source)
        click.echo(paths[name])


@data.command("path")
@_names
@_kind
@_size
def data_path(names: tuple[str, ...], kind: Any, size: Any) -> None:
    """Print the path of each data set NAME, prepared or not."""
    from suite.data import listing, store

    for name in names:
        click.echo(store.path(name, kind, listing.edition(name, kind, size)))


@data.command("gallery")
def data_gallery() -> None:
    """Redraw the pictures of the site's data page from their seeds, and print the files."""
    from suite.cli import gallery

    for file in gallery.draw(published().parent):
        click.echo(file)
