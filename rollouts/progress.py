"""Where long work shows how far it is.

An orchestrator may send a step's output to a file, so a progress bar goes to the console that the command
chose before the step began, and nowhere when none was chosen.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

T = TypeVar("T")
_CONSOLE: ContextVar[Console | None] = ContextVar("progress console", default=None)


@contextmanager
def progress_on(console: Console | None) -> Iterator[None]:
    """Progress bars of the block appear on `console`; None: they do not appear."""
    token = _CONSOLE.set(console)
    try:
        yield
    finally:
        _CONSOLE.reset(token)


def note(text: str) -> None:
    """A line between two bars, where a console was chosen."""
    console = _CONSOLE.get()
    if console is not None and console.is_terminal:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def followed(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """`items`, with a bar that counts them where a console was chosen."""
    console = _CONSOLE.get()
    if console is None or not console.is_terminal:
        yield from items
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(description, total=total)
        for item in items:
            yield item
            bar.advance(task)
