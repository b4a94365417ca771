"""Parameter types of the command line, its default folders, and renamed words, which still work with a note."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from suite.case import CompileCache
from suite.results.records.files import LOCAL

PUBLISHED = Path("site/records")
MOST_WORKERS = 1024
_CACHES: dict[str, CompileCache] = {"cold": "empty", "warm-cache": "warm"}
_OLD: dict[str, str] = {cache: word for word, cache in _CACHES.items()}

out_folder = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=LOCAL,
    show_default=True,
    help="Folder of local results.",
)
prices_file = click.option(
    "--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: dated list prices of GPUs."
)
COMMANDS = {"follow": "join", "check-docs": "check-citations", "check": "validate"}
OPTIONS = {"--cache": "--cold-start", "--length": "--epochs-times", "--peer-backend": "--baseline-backend"}


def published() -> Path:
    """Return the folder of published records. Raises RuntimeError if it is not below the current folder."""
    if not PUBLISHED.is_dir():
        raise RuntimeError(f"no {PUBLISHED} in '{Path.cwd()}'; run this in the suite's checkout")
    return PUBLISHED


class RecordPath(click.Path):
    """An existing file or folder, or a record in a pack: CAMPAIGN.zip/NAME.json."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fail if it does not exist."""
        from suite.results.records import packs

        return Path(value) if packs.around(Path(value)) else super().convert(value, param, ctx)


class Several(click.Option):
    """An option with several words or numbers, separated by commas or given repeatedly."""

    def __init__(self, *names: Any, **attributes: Any) -> None:
        super().__init__(*names, multiple=True, **attributes)

    def type_cast_value(self, ctx: click.Context, value: Any) -> tuple[Any, ...]:
        """Return all values without duplicates, in order."""
        return tuple(dict.fromkeys(chain.from_iterable(super().type_cast_value(ctx, value))))


def separated(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names in these words, separated by commas or given one by one, without duplicates."""
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))


class Words(click.ParamType):
    """One or several of a closed set of words, separated by commas."""

    name = "words"

    def __init__(self, words: Sequence[str], former: Mapping[str, str] | None = None) -> None:
        self._words = tuple(words)
        self._former = former or {}  # old word: new word

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the choices for help."""
        return "|".join(self._words) + ("[,...]" if len(self._words) > 1 else "")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the words; fail for an unknown one, naming the choices."""
        words = tuple(new_name(word.strip(), self._former) for word in str(value).split(","))
        for word in words:
            if word not in self._words:
                self.fail(f"'{word}' is not one of: {', '.join(self._words)}", param, ctx)
        return words


class ColdStart(Words):
    """The compile cache of a cold start as the axis of a case: cold is 'empty', warm-cache is 'warm'."""

    def __init__(self) -> None:
        super().__init__(tuple(_CACHES))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the caches; fail for an unknown word. Older versions' 'empty' and 'warm' are accepted."""
        words = ",".join(_OLD.get(word.strip(), word) for word in str(value).split(","))
        return tuple(_CACHES[word] for word in super().convert(words, param, ctx))


class Finite(click.FloatRange):
    """A finite number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail if it is out of range or not finite."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class Percent(click.ParamType):
    """A percentage between 0 and 100, with or without '%', as a share."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share, 0.1 for 10. Raises ValueError for anything else."""
        percent = math.nan
        with suppress(ValueError):
            percent = float(str(value).strip().removesuffix("%"))
        if not 0 < percent < 100:
            raise ValueError(f"--within '{value}' is not a percentage between 0 and 100; write, say, --within 10")
        return percent / 100


class Counts(click.ParamType):
    """One or several numbers from 1 up, separated by commas."""

    name = "counts"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the form for help."""
        return "N[,N]..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the numbers; fail if one is not from 1 to MOST_WORKERS."""
        words = [word.strip() for word in value.split(",")]
        if not all(word.isdecimal() and 0 < int(word) <= MOST_WORKERS for word in words):
            self.fail(f"'{value}' is not a list of numbers from 1 to {MOST_WORKERS}, such as 1,2,4", param, ctx)
        return tuple(map(int, words))


def address(text: str) -> str:
    """Return the text if it is HOST:PORT. Raises ValueError otherwise."""
    host, sign, port = text.rpartition(":")
    if not sign or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"address '{text}' asked for; write HOST:PORT, such as node1:9461")
    return text


def machine_name(name: str) -> str:
    """Return the name. Raises ValueError if pages and files cannot carry it."""
    from suite.results.records.machine import slug
    from suite.results.records.record import plain_name

    if not name.isprintable() or not plain_name(slug(name)):
        raise ValueError(
            f"--machine asked for with {name!r}; use small letters, digits, '.', '-', '_', blanks and commas, at most "
            "81 of them"
        )
    return name


class KeyName(click.ParamType):
    """A key of the published numbers, with shell completion."""

    name = "key"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the keys with this prefix."""
        from suite.console import citing

        numbers, _ = citing.published(PUBLISHED)
        return [CompletionItem(key) for key in numbers.pooled if key.startswith(incomplete)]


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
