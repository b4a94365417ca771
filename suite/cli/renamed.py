"""Renamed commands, options and values: the old name still works, and standard error names the new one."""

from collections.abc import Iterator, Mapping, Sequence

import click

COMMANDS = {"follow": "join", "check-docs": "check-citations", "check": "validate"}
OPTIONS = {"--cache": "--cold-start", "--length": "--epochs-times", "--peer-backend": "--baseline-backend"}


class RenamingCommand(click.Command):
    """A command that accepts old option names; help shows only the new ones."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments after renaming old options."""
        return super().parse_args(ctx, list(_renamed(args)))


def _renamed(args: Sequence[str]) -> Iterator[str]:
    for word in args:
        name, sign, value = word.partition("=")
        yield f"{new_name(name, OPTIONS)}{sign}{value}"


def new_name(name: str, names: Mapping[str, str]) -> str:
    """Return the current name of a command, option or value, and print a note if it was renamed."""
    if name in names:
        click.echo(f"note: {name} is now called {names[name]}", err=True)
    return names.get(name, name)
