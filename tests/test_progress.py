"""Progress bars."""

import io

from rich.console import Console

from rollouts.progress import followed, note, progress_on


def test_items_pass_unchanged_with_and_without_a_console() -> None:
    assert list(followed(range(3), "counting")) == [0, 1, 2]
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    with progress_on(terminal):
        assert list(followed(range(3), "counting", total=3)) == [0, 1, 2]
        note("halfway [there]")
    said = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "counting" in said
    assert "3/3" in said
    assert "halfway [there]" in said


def test_nothing_is_shown_where_nobody_looks() -> None:
    file = io.StringIO()
    with progress_on(Console(file=file)):
        assert list(followed("ab", "letters")) == ["a", "b"]
        note("nobody reads this")
    assert file.getvalue() == ""
