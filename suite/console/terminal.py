"""Printing to the terminal: lines of guidance, tables, checks."""

import os
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from suite.driver.fitness import Check

WIDEST, _GAP = 1_000, 2  # of a line in a file, and between columns, in characters
_MARKS = {"good": "[green]ok[/]", "remark": "[yellow]note[/]", "bad": "[red]no[/]"}


def say(line: str) -> None:
    """Print one line to standard error, apart from the results."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(line)


def notes(lines: Iterable[str]) -> None:
    """Print each line as a note to standard error."""
    for line in lines:
        say(f"note: {line}")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> None:
    """Print a table, its first column left-aligned and the others right-aligned; full width if not on a terminal.

    If the terminal is too narrow for its words, print each row as a list.
    """
    console, listed = Console(), list(rows)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDEST
    widths = fitting(list(zip(columns, *listed, strict=True)), console.width - _GAP * (len(columns) - 1))
    if widths is None:
        _print_lists(console, title, columns, listed)
    else:
        table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 0, 0, _GAP - 1),
                      show_edge=False, pad_edge=False)  # fmt: skip
        for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
            table.add_column(escape(column), justify="left" if index == 0 else "right", width=width)
        for row in listed:
            table.add_row(*map(escape, row))
        console.print(table)
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print()


def fitting(columns: Sequence[Sequence[str]], space: int) -> list[int] | None:
    """Return column widths that fit into `space` characters without breaking a word; None if impossible."""
    widths = [max(map(cell_len, texts)) for texts in columns]
    words = [max((cell_len(word) for text in texts for word in text.split()), default=0) for texts in columns]
    while sum(widths) > space:
        loose = [index for index, (width, word) in enumerate(zip(widths, words, strict=True)) if width > word]
        if not loose:
            return None
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _print_lists(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print each row as a list: a line for each column's name and cell."""
    console.print(title, style="table.title", markup=False, highlight=False)
    for row in rows:
        console.print()
        grid = Table(box=None, show_header=False, pad_edge=False)
        for column, cell in zip(columns, row, strict=True):
            grid.add_row(escape(column), escape(cell))
        console.print(grid)


def print_checks(checks: Iterable[Check]) -> None:
    """Print the doctor's checks, each followed by its advice."""
    table = Table(show_header=False, show_edge=False, box=None)
    for check in checks:
        table.add_row(_MARKS[check.verdict], check.name, escape(check.found))
        if check.advice:
            table.add_row("", "", f"[bold]{escape(check.advice)}[/]")
    Console().print(table)
