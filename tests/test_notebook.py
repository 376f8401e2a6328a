"""The notebook: every standard plot draws what there is, and the whole runs without a browser."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from pipeline.command import notebook as command
from pipeline.notebook.plots import PLOTS
from tests.test_command import call, words
from tests.test_fold import curate, make_home
from warehouse.analysis import publish, query
from warehouse.fold import rebuild


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_home(tmp_path_factory.mktemp("data"))
    rebuild(made, curate)
    publish(made)
    return made


@pytest.mark.parametrize("name", sorted(set(PLOTS) - {"success_by_group"}))
def test_a_plot_draws_every_row(home: Path, name: str) -> None:
    rows = query(home, PLOTS[name].sql)
    assert rows.height

    drawn = PLOTS[name].draw(rows).to_dict()

    (data,) = drawn["datasets"].values()
    assert len(data) >= rows.height
    assert set(rows.columns) & set(data[0])


def test_the_evaluation_is_drawn_with_both_arms_for_every_build_and_group() -> None:
    shares = {f"{arm}{end}": [0.5, 0.25] for arm in ("empty", "frozen") for end in ("", "_low", "_high")}
    rows = pl.DataFrame({"build": ["1", "2"], "task_group": ["a", "a"], "pairs": [4, 4], **shares})

    drawn = PLOTS["success_by_group"].draw(rows).to_dict()

    (data,) = drawn["datasets"].values()
    assert [(row["build"], row["arm"]) for row in data] == [
        (build, arm) for arm in ("empty store", "frozen knowledge") for build in ("1", "2")
    ]


def test_the_notebook_runs_headless_and_shows_every_question(home: Path, tmp_path: Path) -> None:
    page = tmp_path / "plots.html"

    result = call(home, "notebook", "--export", str(page))

    assert result.exit_code == 0, result.output
    shown = page.read_text()
    for plot in PLOTS.values():
        assert plot.question.removesuffix("?") in shown
    assert "Nothing yet" in shown, "nothing was evaluated here"
    assert "vega" in shown


def test_without_marimo_one_line_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    result = call(home, "notebook")
    assert result.exit_code == 2
    assert "pip install 'mineevolve[notebook]'" in words(result)
    assert len(result.output.strip().splitlines()) == 1


def test_before_the_first_run_it_says_what_to_do(tmp_path: Path) -> None:
    result = call(tmp_path, "notebook", "--export", str(tmp_path / "x.html"))
    assert result.exit_code == 2
    assert "mineevolve run" in words(result)


def test_a_copy_of_ones_own_is_never_written_over(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[list[str]] = []
    monkeypatch.setattr(command, "attended", lambda asked, environment: served.append(list(asked)) or 0)
    own = tmp_path / "mine" / "analysis.py"
    assert call(home, "notebook", "--edit", str(own)).exit_code == 0
    assert own.read_bytes() == command.STANDARD.read_bytes()
    own.write_text("changed")
    assert call(home, "notebook", "--edit", str(own), "--port", "2999").exit_code == 0

    assert own.read_text() == "changed"
    assert all("edit" in asked and asked[-1] == str(own) for asked in served)
    assert "2999" in served[1]


def test_harlequin_opens_the_published_file(home: Path) -> None:
    """In a terminal of its own; it shows a view's name in its catalog and ends with its process."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"MINEEVOLVE_DATA": str(home), "TERM": "xterm-256color", "COLUMNS": "100"}
    run = "from pipeline.command import app; app()"
    process = subprocess.Popen(
        [sys.executable, "-c", run, "sql"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    try:
        shown, deadline = b"", time.monotonic() + 120
        while b"analysis" not in shown and time.monotonic() < deadline and process.poll() is None:
            if select.select([ours], [], [], 0.2)[0]:
                shown += os.read(ours, 65536)
        assert b"analysis" in shown, shown[-500:]
    finally:
        os.write(ours, b"\x11")
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(ours)
        os.close(theirs)
