"""What both arms used: calls, episodes of those planned, horizons."""

from pathlib import Path

import polars as pl

from rollouts.budget import REPAIRS
from rollouts.evaluation import NOBODY, evaluation_home
from rollouts.recorder import BUDGETS, kept_beside
from rollouts.report import read_arms
from rollouts.report.effort import effort
from tests.made_evaluation import Played, episode_id, suite, write
from warehouse.shards import write_manifest, write_shard

SUITE = suite([("wooden", "a"), ("wooden", "b"), ("stone", "c")])


def keep(home: Path, build: str, source: str, shard: str, *rows: tuple[str, int, int, int]) -> None:
    """Budgets of (task, repairs, diagnoses, tries)."""
    folder = evaluation_home(home) / "rollouts" / build / "wooden" / source / shard
    own = [
        {
            "episode_id": episode_id(build, Played(task, None)),
            "plans": 1,
            "repairs": repairs,
            "retries": 0,
            "diagnoses": diagnoses,
            "used": 1 + repairs,
            "remaining": REPAIRS - repairs,
            "tries": tries,
        }
        for task, repairs, diagnoses, tries in rows
    ]
    frame = pl.DataFrame(own, schema=BUDGETS)
    write_manifest(folder, {"beside": {"budgets": write_shard(folder / "budgets", frame)}})


def test_calls_are_of_the_episodes_that_are_compared(tmp_path: Path) -> None:
    write(tmp_path, NOBODY, "wooden", [Played(task, False) for task in "abz"])
    write(tmp_path, "0001", "wooden", [Played("a", True), Played("b", True, horizon=1200)])
    # An episode that two batches played has its calls in both, and counts once.
    keep(tmp_path, NOBODY, "empty", "0000-aa", ("a", 8, 4, 1), ("b", 2, 1, 2), ("z", 7, 7, 1))
    keep(tmp_path, NOBODY, "empty", "0000-bb", ("a", 8, 4, 1))
    keep(tmp_path, "0001", "frozen", "0000-cc", ("a", 1, 0, 1))
    found = effort(read_arms(tmp_path, SUITE))
    empty, frozen = found.arms.rows(named=True)
    assert (empty["episodes"], empty["planned"], empty["recorded"]) == (2, 2, 2)
    assert (empty["plans"], empty["repairs"], empty["diagnoses"], empty["used"]) == (2, 10, 5, 12)
    assert (empty["used_mean"], empty["used_most"], empty["allowed"]) == (6, 9, 9)
    assert (empty["spent"], empty["tried_again"]) == (1, 1)
    assert (frozen["episodes"], frozen["recorded"], frozen["used"]) == (2, 1, 2)


def test_what_was_planned_is_the_whole_grid_and_horizons_are_held_against_the_suite(tmp_path: Path) -> None:
    episodes = [
        *(Played("a", True, world=world, seed=seed) for world in (1, 3) for seed in (0, 1)),
        Played("b", True, world=5, horizon=1200),
    ]
    for build in (NOBODY, "0001"):
        write(tmp_path, build, "wooden", episodes)
    found = effort(read_arms(tmp_path, SUITE))
    group = found.groups.row(0, named=True)
    assert (group["tasks"], group["suite_tasks"], group["worlds"], group["planner_seeds"]) == (2, 2, 2, 2)
    assert (group["episodes"], group["planned"]) == (5, 8)
    assert (group["horizon_low"], group["horizon_high"], group["capped"]) == (1200, 2400, 1)
    assert found.scope == "Played: 2 of the suite’s 3 tasks (wooden), 2 worlds for each, 2 planner seeds."
    assert found.is_crossed
    assert found.arms["recorded"].to_list() == [0, 0]
    assert found.arms["used_mean"].to_list() == [None, None]


def test_planners_that_take_turns_are_no_grid(tmp_path: Path) -> None:
    for build in (NOBODY, "0001"):
        write(
            tmp_path, build, "wooden", [Played("a", True, world=world, seed=world % 2) for world in range(4)]
        )
    found = effort(read_arms(tmp_path, SUITE))
    assert found.groups.select("planner_seeds", "per_world", "worlds", "planned").row(0) == (2, 1, 4, 4)
    assert found.scope.endswith("4 worlds for each, 2 planner seeds in turn.")


def test_what_was_never_kept_is_an_empty_table(tmp_path: Path) -> None:
    assert kept_beside(tmp_path, "b", "g", "s", "budgets").schema == BUDGETS
