"""Success rates as rows: what they say, and how they get to the warehouse and no further."""

from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest

from rollouts.evaluation import Evaluated
from rollouts.success import UnpairedError, success_rows
from tests.test_fold import curate, make_home, tables
from warehouse import log
from warehouse.analysis import publish, query
from warehouse.fold import rebuild
from warehouse.ids import derive_id
from warehouse.log_tables import load_evaluations

TASKS, WORLDS, SEEDS = ("axe", "boat"), (1, 3), (0, 1)
SPLIT = {"easy": ["wooden"], "hard": ["iron"]}


Played = tuple[str, int, int]


def arm(wins: set[Played], snapshot: str | None, lost: Played | None = None) -> pl.DataFrame:
    """The episodes of an arm: those of (task, world, planner seed) in `wins` succeeded, `lost` broke."""
    rows = [
        {
            "episode_id": derive_id("episode", [task, world, seed, snapshot]),
            "task_id": task,
            "world_seed": world,
            "planner_seed": seed,
            "config_hash": "c" * 20,
            "snapshot_id": snapshot,
            "success": (task, world, seed) in wins,
            "end_reason": "infrastructure" if (task, world, seed) == lost else "horizon",
        }
        for task in TASKS
        for world in WORLDS
        for seed in SEEDS
    ]
    return pl.DataFrame(rows, schema_overrides={"snapshot_id": pl.String})


WON = {("axe", 1, 0), ("axe", 3, 0), ("axe", 1, 1), ("boat", 3, 1)}
WON_EMPTY = {("axe", 1, 0), ("boat", 1, 0)}


def evaluated(snapshot: str = "s1", lost: Played | None = ("boat", 1, 0)) -> Evaluated:
    return Evaluated(arm(WON, snapshot), arm(WON_EMPTY, None, lost))


def test_each_level_counts_the_same_whole_pairs() -> None:
    rows = success_rows("b1", "wooden", evaluated(), "easy")
    figures = rows.select("level", "task_id", "planner_seed", "arm", "k", "n", "excluded").rows()
    assert figures == [
        ("group", None, None, "empty", 1, 7, 1),
        ("group", None, None, "frozen", 4, 7, 1),
        ("task", "axe", None, "empty", 1, 4, 0),
        ("task", "axe", None, "frozen", 3, 4, 0),
        ("task", "boat", None, "empty", 0, 3, 1),
        ("task", "boat", None, "frozen", 1, 3, 1),
        ("planner", None, 0, "empty", 1, 3, 1),
        ("planner", None, 0, "frozen", 2, 3, 1),
        ("planner", None, 1, "empty", 0, 4, 0),
        ("planner", None, 1, "frozen", 2, 4, 0),
    ]
    group = rows.row(1, named=True)
    wilson = binomtest(4, 7).proportion_ci(method="wilson")
    assert (group["low"], group["high"]) == (wilson.low, wilson.high)
    assert (group["only_frozen"], group["only_empty"]) == (3, 0)
    assert group["mcnemar_p"] == binomtest(3, 3, 0.5).pvalue
    assert group["difference"] == pytest.approx(3 / 7)
    assert (group["tasks"], group["worlds"], group["planner_seeds"]) == (2, 2, 2)
    assert (group["difficulty"], group["snapshot_id"]) == ("easy", "s1")
    empty = rows.row(0, named=True)
    assert [empty[name] for name in ("snapshot_id", "only_frozen", "mcnemar_p", "difference")] == [None] * 4


def test_an_episode_without_its_counterpart_is_an_error_with_the_command() -> None:
    frozen, empty = evaluated()
    with pytest.raises(UnpairedError, match=r"1 of 8.*`mineevolve evaluate --build b1 --group wooden`"):
        success_rows("b1", "wooden", Evaluated(frozen, empty.tail(-1)))
    with pytest.raises(UnpairedError, match="no counterpart"):
        success_rows("b1", "wooden", Evaluated(frozen.clear(), empty))
    two = pl.concat([frozen.head(4), arm(WON, "s2").tail(4)])
    with pytest.raises(UnpairedError, match="2 snapshots"):
        success_rows("b1", "wooden", Evaluated(two, empty))


def test_another_outcome_is_another_evaluation() -> None:
    one, same = (success_rows("b1", "wooden", evaluated()) for _ in range(2))
    other = success_rows("b1", "wooden", evaluated(lost=None))
    assert one.equals(same)
    assert one["evaluation_id"][0] != other["evaluation_id"][0]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups of one build evaluated, one of them twice, on top of a warehouse that has been folded."""
    home = make_home(tmp_path_factory.mktemp("data"))
    rebuild(home, curate)
    current = tables(home, "builds")["builds"].filter(pl.col("build") == "b1")["snapshot_id"][0]
    of_one_task = Evaluated(*(each.filter(pl.col("task_id") == "axe") for each in evaluated(current)))
    for rows in (
        success_rows("b1", "wooden", evaluated(current), "easy"),
        success_rows("b1", "wooden", of_one_task, "easy"),
        success_rows("b1", "iron", Evaluated(arm(WON_EMPTY, current), arm(WON_EMPTY, None)), "hard"),
    ):
        log.append(home, "evaluations", "b1", rows)
    return home


def test_loading_evaluations_is_what_a_rebuild_does_and_touches_no_knowledge(home: Path) -> None:
    before = tables(home)
    assert load_evaluations(home, "b1") == load_evaluations(home, "b1") == 28
    after = tables(home)
    changed = {name for name, rows in after.items() if not rows.equals(before[name])}
    assert changed == {"evaluations", "shards"}
    rebuild(home, curate)
    anew = tables(home)
    assert {name for name, rows in anew.items() if not rows.equals(after[name])} == set()
    assert anew["evaluations"].height == 28


def test_the_views_show_both_arms_side_by_side(home: Path) -> None:
    rebuild(home, curate)
    publish(home)
    groups = query(
        home,
        "SELECT task_group, tasks, pairs, excluded, empty_k, frozen_k, difference, only_frozen, is_current "
        "FROM success_by_group ORDER BY task_group, tasks",
    )
    assert groups.rows() == [
        ("iron", 2, 8, 0, 2, 2, 0.0, 0, True),
        ("wooden", 1, 4, 0, 1, 3, 0.5, 2, True),
        ("wooden", 2, 7, 1, 1, 4, pytest.approx(3 / 7), 3, True),
    ]
    by_task = query(
        home, "SELECT task_id, empty_k, frozen_k, pairs FROM success_by_task WHERE task_group = 'iron'"
    )
    assert by_task.rows() == [("axe", 1, 1, 4), ("boat", 1, 1, 4)]
    seeds = query(
        home,
        "SELECT planner_seed, frozen_k, pairs FROM success_by_planner "
        "WHERE task_group = 'wooden' AND tasks = 2",
    )
    assert seeds.rows() == [(0, 2, 3), (1, 2, 4)]


def test_groups_are_weighted_by_tasks_and_the_widest_evaluation_counts(home: Path) -> None:
    rebuild(home, curate)
    publish(home)
    overall = query(home, "SELECT level, task_groups, tasks, pairs, empty, frozen FROM success_overall")
    assert overall.rows() == [
        (
            "all",
            ["iron", "wooden"],
            4,
            15,
            pytest.approx((1 / 7 + 2 / 8) / 2),
            pytest.approx((4 / 7 + 2 / 8) / 2),
        ),
        ("easy", ["wooden"], 2, 7, pytest.approx(1 / 7), pytest.approx(4 / 7)),
        ("hard", ["iron"], 2, 8, 0.25, 0.25),
    ]


def test_a_snapshot_that_the_build_no_longer_has_is_not_current(home: Path, tmp_path: Path) -> None:
    other = make_home(tmp_path)
    log.append(other, "evaluations", "b1", success_rows("b1", "wooden", evaluated("superseded")))
    rebuild(other, curate)
    publish(other)
    assert query(other, "SELECT is_current FROM success_by_group").rows() == [(False,)]
