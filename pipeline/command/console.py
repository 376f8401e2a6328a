"""How the command speaks: tables, errors, exit codes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import polars as pl
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rollouts.ingest.protocol import printable

FAILED: Final = 1
MISUSED: Final = 2
PUT_ASIDE: Final = 3
_BREAKABLE: Final = 24  # no word of our vocabularies is longer
_GAP: Final = 2
_EDGE: Final = 1


class Terminal(Console):
    """A console on which text from elsewhere stays text: what would move the cursor, change a colour, open a
    link or turn the writing round is printed as an escape, line breaks alone are kept."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich has it, of the printable form of `text`."""
        return super().render_str("\n".join(map(printable, text.split("\n"))), **options)


# Without emoji=False `:x:` in a name or in what an agent said would be printed as a picture.
out: Final = Terminal(highlight=False, emoji=False)
err: Final = Terminal(stderr=True, highlight=False, emoji=False)


def fail(message: str, code: int = FAILED) -> typer.Exit:
    """Says what went wrong; raise what this returns."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def explained(*errors: type[BaseException], code: int = FAILED) -> Iterator[None]:
    """Turns expected errors into their message and an exit code; others keep their traceback."""
    try:
        yield
    except errors as error:
        raise fail(str(error) or type(error).__name__, code) from error


def show(frame: pl.DataFrame, title: str | None = None, limit: int | None = None) -> None:
    """A frame as a table; where its words do not fit the terminal side by side, row by row."""
    shown = frame if limit is None else frame.head(limit)
    out.print()
    if shown.is_empty() or _narrowest(shown) <= out.width:
        out.print(_across(shown, title))
    else:
        if title:
            out.print(f"[bold]{escape(title)}[/]", soft_wrap=True)
        for row in shown.iter_rows(named=True):
            out.print(_down(row))
    if shown.height < frame.height:
        out.print(f"[dim]… {frame.height - shown.height} more rows[/]")


def _narrowest(frame: pl.DataFrame) -> int:
    """The width below which a table would have to break words (long ids and paths may be broken)."""
    cells = ([printable(name.replace("_", " ")), *map(brief, frame[name])] for name in frame.columns)
    longest = (max((len(word) for cell in column for word in cell.split()), default=1) for column in cells)
    return sum(min(width, _BREAKABLE) + _GAP for width in longest) + _EDGE


def _across(frame: pl.DataFrame, title: str | None) -> Table:
    table = Table(
        title=None if title is None else escape(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name, dtype in frame.schema.items():
        justify: JustifyMethod = "right" if dtype.is_numeric() else "left"
        table.add_column(_header(name), justify=justify, overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(escape(brief(value)) for value in row))
    return table


def _down(row: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(_header(name), escape(brief(value)))
    table.add_row("", "")
    return table


def _header(name: str) -> str:
    return escape(printable(name.replace("_", " ")))


def brief(value: Any) -> str:
    """A value as a table cell: null as a dash, floats to three places, named amounts as `name×count`, text on
    one line."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(brief(item) for item in value)
    if isinstance(value, dict):
        if set(value) == {"name", "count"}:
            return f"{value['name']}×{value['count']}"
        return " ".join(f"{key}={brief(item)}" for key, item in value.items() if item is not None)
    return printable(" ".join(str(value).split()))


def own_terminal() -> Console | None:
    """A way to the terminal of the progress bar's own: Dagster sends a step's output to its log."""
    return Console(file=os.fdopen(os.dup(err.file.fileno()), "w")) if err.is_terminal else None
