"""The command line: parses, calls, prints."""

import errno
from typing import Any

import click

from suite import __version__
from suite.cli.about import data, doctor, list_workloads
from suite.cli.ending import signals
from suite.cli.output import outlasting
from suite.cli.records import baselines, check_citations, cite, compare, publish, report, threshold, validate
from suite.cli.running import join, run
from suite.cli.types import COMMANDS, new_name

_OF_A_PLACE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.ENAMETOOLONG}


class Group(click.Group):
    """A group that turns user errors and interrupts into one line and a failing exit code."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command; the first argument may be an old name."""
        return super().resolve_command(ctx, [new_name(args[0], COMMANDS), *args[1:]])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line, whose output may be closed before its end."""
        with outlasting():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            with signals() as ctx.obj:
                return super().invoke(ctx)
        except (LookupError, ValueError, RuntimeError, FileExistsError) as error:
            if type(error) not in (LookupError, ValueError, RuntimeError, FileExistsError):
                raise  # a subclass is a bug and keeps its traceback
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno not in _OF_A_PLACE:
                raise
            place = f"'{error.filename}'" if error.filename else "the output folder"
            raise click.ClickException(f"cannot use {place}: {error.strerror}") from error


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="suite")
def main() -> None:
    """Time documented models on CPU and GPU, and publish the results."""


_OF_RECORDS = (publish, report, compare, baselines, threshold, validate, cite, check_citations)
for command in (list_workloads, run, *_OF_RECORDS, data, join, doctor):
    main.add_command(command)
