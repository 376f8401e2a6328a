"""The Monitor bench on a few ticks: it goes over all of them; how fast is not asserted."""

from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from bench import made_traces, monitor
from bench.__main__ import Bench, app
from rollouts.trace import Trace
from warehouse.domains import Domain
from warehouse.records import TABLES, TRACE_TABLES


def test_made_traces_keep_the_contract_and_are_the_same_each_time(minecraft: Domain) -> None:
    frames = made_traces.make_trace(3, 6000, minecraft)
    assert set(frames) == set(TRACE_TABLES)
    for name, frame in frames.items():
        TABLES[name].schema.validate(frame)
        assert Trace.of(frames).frames()[name].equals(frame), f"{name} is not in stored order"
    assert frames["ticks"].height == 6000
    assert made_traces.make_trace(3, 6000, minecraft)["ticks"].equals(frames["ticks"])


def test_made_traces_have_something_to_find(minecraft: Domain) -> None:
    ticks = pl.concat(made_traces.make_trace(number, 50_000, minecraft)["ticks"] for number in range(2))
    assert 0.02 < (ticks["gui"] != "none").mean() < 0.3  # type: ignore[operator]
    assert 0.3 < (ticks["x"].diff() == 0).mean() < 0.7  # type: ignore[operator]
    assert ticks["health"].min() == 3


def test_a_small_run_measures_both_ways(tmp_path: Path) -> None:
    measured = monitor.measure(tmp_path, ticks=8000, files=2)
    assert measured.monitor.rows_out == pl.read_parquet(tmp_path / "*" / "attempts" / "*.parquet").height
    assert measured.ratio > 0
    assert measured.monitor.peak_mb > 10
    assert monitor.report(measured).row_count == 2


def test_help_shows_examples_and_every_bench_can_be_left_out() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert "python -m bench --skip retrieval" in shown.output
    nothing = CliRunner().invoke(app, [word for each in Bench for word in ("--skip", each.value)])
    assert (nothing.exit_code, nothing.output) == (0, "")
