"""Commands, options and values that have a new name: the old does the same, and standard error says the new one."""

from collections.abc import Iterator, Mapping, Sequence

import click

COMMANDS = {"follow": "join", "check-docs": "check-citations", "check": "validate"}
OPTIONS = {"--cache": "--cold-start", "--length": "--epochs-times", "--peer-backend": "--baseline-backend"}


class RenamingCommand(click.Command):
    """A command that takes options by their old names too; help shows the new ones alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments with their options' new names."""
        return super().parse_args(ctx, list(_renamed(args)))


def _renamed(args: Sequence[str]) -> Iterator[str]:
    for word in args:
        name, sign, value = word.partition("=")
        yield f"{new_name(name, OPTIONS)}{sign}{value}"


def new_name(name: str, names: Mapping[str, str]) -> str:
    """Return what a command, option or value is called now, and say so if that is not what it was called here."""
    if name in names:
        click.echo(f"note: {name} is now called {names[name]}", err=True)
    return names.get(name, name)
