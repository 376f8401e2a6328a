"""`mineevolve study`: the same evaluation under several conditions, each in a data home of its own."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from pipeline.command import app
from rollouts.evaluation import stored
from tests.test_training_rollouts import GROUP, config
from warehouse.analysis import query
from warehouse.ids import file_digest


def call(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"MINEEVOLVE_DATA": str(home), "COLUMNS": "100"})


def small(folder: Path) -> list[str]:
    """One task in short episodes."""
    suite = config(folder)["suite"]
    return ["--group", GROUP, "--suite", suite, "--task", "table", "--workers", "0", "--horizon-cap", "300"]


def played(home: Path) -> dict[str, str]:
    """The stored episodes and their logs of all studies, with their hashes."""
    files = (path for part in ("rollouts", "log") for path in (home / "studies").rglob(f"{part}/**/*"))
    return {str(path.relative_to(home)): file_digest(path) for path in sorted(files) if path.is_file()}


def test_each_share_of_misconceptions_has_a_home_and_two_rows(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked = ["study", "misconceptions", *small(tmp_path), "--episodes", "1", "--planners", "1", "--shares"]
    result = call(home, *asked, "0.5,0")
    assert result.exit_code == 0, result.output
    assert "stand-ins" in result.output
    rows = pl.read_parquet(home / "studies" / "misconceptions.parquet")
    assert rows.columns == ["misconceptions", "group", "arm", "k", "n", "low", "high"]
    conditions = [(share, GROUP, arm, 1) for share in (0.0, 0.5) for arm in ("empty", "frozen")]
    assert rows.select("misconceptions", "group", "arm", "n").rows() == conditions
    homes = {share: next((home / "studies" / "misconceptions" / share).iterdir()) for share in ("0", "0.5")}
    planners = {share: stored(own, "0001", GROUP).frozen["planner"][0] for share, own in homes.items()}
    assert planners["0"] != planners["0.5"]
    for share, own in homes.items():
        row = rows.filter(misconceptions=float(share), arm="frozen")
        assert row["k"][0] == stored(own, "0001", GROUP).frozen["success"].sum()
    assert not (home / "traces").exists()
    assert not (home / "snapshots").exists()

    before = played(home)
    again = call(home, *asked, "0,0.5")
    assert again.exit_code == 0, again.output
    assert played(home) == before
    assert pl.read_parquet(home / "studies" / "misconceptions.parquet").equals(rows)


def test_agents_play_on_the_same_seeds(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked = ["--episodes", "1", "--planners", "1", "--agents", "full,no_repair"]
    result = call(home, "study", "agents", *small(tmp_path), *asked)
    assert result.exit_code == 0, result.output
    rows = pl.read_parquet(home / "studies" / "agents.parquet")
    assert rows["agent"].to_list() == ["full", "full", "no_repair", "no_repair"]
    arms = {
        name: stored(next((home / "studies" / "agents" / name).iterdir()), "0001", GROUP).empty
        for name in ("full", "no_repair")
    }
    assert {name: arm["agent"][0] for name, arm in arms.items()} == {name: name for name in arms}
    seeds = [arm.select("task_id", "world_seed", "planner_seed").rows() for arm in arms.values()]
    assert seeds[0] == seeds[1]


def test_ways_to_take_knowledge_in_are_compared_pair_by_pair(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked = ["--episodes", "1", "--planners", "1", "--ways", "checks,tryouts"]
    result = call(home, "study", "curation", *small(tmp_path), *asked)
    assert result.exit_code == 0, result.output
    rows = pl.read_parquet(home / "studies" / "curation.parquet")
    assert rows["curation"].to_list() == ["checks", "checks", "tryouts", "tryouts"]
    homes = {name: next((home / "studies" / "curation" / name).iterdir()) for name in ("checks", "tryouts")}
    trained = {name: query(own, "SELECT task_id, world_seed FROM episodes") for name, own in homes.items()}
    assert trained["checks"].equals(trained["tryouts"])
    assert not (homes["checks"] / "log" / "tryouts").exists()
    said = " ".join(result.output.split())
    assert "Frozen snapshots against that of curation checks" in said
    assert "What each way left" in said


def test_planner_seeds_are_shown_one_by_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    trained = call(home, "train", "--build", "0001", *small(tmp_path), "--episodes", "1")
    assert trained.exit_code == 0, trained.output
    asked = ["study", "planners", "--build", "0001", *small(tmp_path), "--episodes", "1", "--planners", "2"]
    result = call(home, *asked)
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for part in ("95 % bootstrap over planner seeds", "by planner seed", "Of 2 planner seeds", "at least 5"):
        assert part in said
    assert stored(home, "0001", GROUP).frozen["planner_seed"].sort().to_list() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["misconceptions", "--shares", "0,2"], "between 0 and 1, not 2"),
        (["misconceptions", "--shares", "some"], "some"),
        (["misconceptions", "--shares", ","], "--shares names nothing"),
        (["agents", "--agents", "full,nobody"], "no row [nobody]"),
        (["agents", "--group", "nether"], "no group nether"),
        (["curation", "--ways", "checks,hope"], "no way hope; there are: checks, backtest, tryouts, both"),
    ],
)
def test_what_cannot_be_studied_ends_the_command_before_it_starts(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    result = call(tmp_path / "home", "study", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not (tmp_path / "home").exists()
