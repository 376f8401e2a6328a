"""How the command speaks: tables, errors, exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import polars as pl
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rollouts.ingest.protocol import printable

FAILED: Final = 1
MISUSED: Final = 2
PUT_ASIDE: Final = 3

out: Final = Console(highlight=False)
err: Final = Console(stderr=True, highlight=False)


def fail(message: str, code: int = FAILED) -> typer.Exit:
    """Says what went wrong; raise what this returns."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def explained(*errors: type[Exception], code: int = FAILED) -> Iterator[None]:
    """Turns expected errors into their message and an exit code; others keep their traceback."""
    try:
        yield
    except errors as error:
        raise fail(str(error) or type(error).__name__, code) from error


def show(frame: pl.DataFrame, title: str | None = None, limit: int | None = None) -> None:
    """A frame as a table that fits the terminal; nested values in brief."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", expand=False)
    for name, dtype in frame.schema.items():
        table.add_column(
            name.replace("_", " "), justify="right" if dtype.is_numeric() else "left", overflow="fold"
        )
    shown = frame if limit is None else frame.head(limit)
    for row in shown.iter_rows():
        table.add_row(*(escape(brief(value)) for value in row))
    out.print(table)
    if shown.height < frame.height:
        out.print(f"[dim]… {frame.height - shown.height} more rows[/]")


def brief(value: Any) -> str:
    """A value as a table cell: null as a dash, floats to three places, named amounts as `name×count`."""
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
    return printable(str(value))
