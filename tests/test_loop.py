"""`mineevolve loop`, from an empty store to figures, and again."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from assets.partitions import PLAYED, key_of
from pipeline import launch
from pipeline.command import app
from pipeline.settings import Settings
from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.lineage import TRAINING, episodes_of
from warehouse.ids import file_digest
from warehouse.snapshots import published_snapshot

SMALL = ["--builds", "2", "--group", "wooden", "--task", "wooden_06", "--task", "wooden_10"]
SMALL += ["--worlds", "2", "--planners", "2", "--horizon-cap", "600", "--workers", "0"]


def called(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["loop", *arguments], env={"MINEEVOLVE_DATA": str(home), "COLUMNS": "100"})


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    home = tmp_path_factory.mktemp("loop")
    return home, called(home, *SMALL)


def shards(home: Path) -> dict[str, str]:
    """Every file of what was played and published, with its hash."""
    return {
        path.relative_to(home).as_posix(): file_digest(path)
        for part in ("traces", "rollouts", "snapshots", "evaluation")
        for path in sorted((home / part).rglob("*"))
        if path.suffix in (".parquet", ".json")
    }


def test_each_snapshot_is_set_against_the_same_empty_store(
    looped: tuple[Path, Result],
) -> None:
    home, result = looped
    assert result.exit_code == 0, result.output
    first, second = (episodes_of(home, build, "wooden", TRAINING) for build in ("0001", "0002"))
    assert first["snapshot_id"].unique().to_list() == [None]
    assert second["snapshot_id"].unique().to_list() == [published_snapshot(home, "0001")]
    empty = episodes_of(evaluation_home(home), NOBODY, "wooden", EMPTY)
    assert empty.height == 4
    key = ["task_id", "world_seed", "planner_seed"]
    for build, worlds in (("0001", 1), ("0002", 2)):
        frozen = episodes_of(evaluation_home(home), build, "wooden", FROZEN)
        assert frozen["snapshot_id"].unique().to_list() == [published_snapshot(home, build)]
        assert frozen.height == 2 * worlds
        assert frozen.join(empty, on=key, how="semi").height == frozen.height


def test_planners_take_turns(looped: tuple[Path, Result]) -> None:
    home, _ = looped
    empty = episodes_of(evaluation_home(home), NOBODY, "wooden", EMPTY)
    per_task = empty.group_by("task_id").agg(pl.col("planner_seed").n_unique(), pl.len())
    assert per_task.select(pl.col("planner_seed", "len").unique()).row(0) == (2, 2)


def test_it_says_what_stands_in_and_how_far_it_is(looped: tuple[Path, Result]) -> None:
    _, result = looped
    assert "stand-ins" in result.output
    assert "2 builds of 2 training episodes, then 4 evaluation episodes each" in result.output.replace(
        "\n", " "
    )
    assert "[1/" in result.output


def test_again_it_plays_nothing_and_changes_nothing(looped: tuple[Path, Result]) -> None:
    home, _ = looped
    before = shards(home)
    assert called(home, *SMALL).exit_code == 0
    assert shards(home) == before


def test_snapshots_are_evaluated_in_one_run_where_dagster_can_name_them_together(
    looped: tuple[Path, Result],
) -> None:
    home, _ = looped
    before = shards(home)
    settings, builds = Settings(data=home), ["0001", "0002"]
    config = {"tasks": ["wooden_06", "wooden_10"], "episodes": 2, "planners": 2, "crossed": False}
    config |= {"horizon_cap": 600, "workers": 0, "frozen_worlds": 1, "in_full": ["0002"]}
    (together,) = launch.evaluate_snapshots(settings, builds, PLAYED, config)
    seen = {each.partition for each in together.asset_materializations_for_node("evaluation_rollouts")}
    assert seen == {str(key_of(build, group)) for build in builds for group in PLAYED}
    assert len(launch.evaluate_snapshots(settings, builds, ["wooden"], config)) == 2
    assert shards(home) == before


def test_a_task_of_another_group_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    result = called(tmp_path / "home", "--group", "wooden", "--task", "iron_00")
    assert result.exit_code == 2
    assert "have no task iron_00" in result.output
    assert not (tmp_path / "home").exists()
