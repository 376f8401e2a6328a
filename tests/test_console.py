"""What the command prints."""

import io

import polars as pl
import pytest

from pipeline.command import console

HOSTILE = "\x1b[2J\x1b]8;;http://example.org\x07link\x9b1m \u202egnol [red]x[/red] :x: a\rb"
SHOWN = "\\x1b[2J\\x1b]8;;http://example.org\\x07link\\x9b1m \\u202egnol [red]x[/red] :x: a\\x0db"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What both consoles print, as on a wide terminal."""
    screen = io.StringIO()
    for one in (console.out, console.err):
        monkeypatch.setattr(one, "_file", screen)
        monkeypatch.setattr(one, "_width", 200)
    return screen


def test_text_from_elsewhere_is_no_command_to_the_terminal(screen: io.StringIO) -> None:
    console.fail(HOSTILE)
    console.show(pl.DataFrame({"said": [HOSTILE]}))
    console.out.print(HOSTILE, markup=False)
    assert screen.getvalue().replace("\n", "").count(SHOWN) == 2
    assert all(char.isprintable() or char == "\n" for char in screen.getvalue())


def test_our_own_markup_and_line_breaks_are_kept(screen: io.StringIO) -> None:
    console.out.print("[bold]two[/]\nlines")
    assert screen.getvalue() == "two\nlines\n"
