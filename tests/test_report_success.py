"""Rates, averages, intervals and the verdict on small evaluations whose outcomes are known."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest

from rollouts.evaluation import NOBODY
from rollouts.lineage import TRAINING
from rollouts.rates import Paired, Rate, counted
from rollouts.report import NotEvaluatedError, read_arms
from rollouts.report.arms import unfinished
from rollouts.report.failures import Attempts, Failures
from rollouts.report.success import OVERALL, by_planner_seed, by_task, success
from rollouts.report.usefulness import Usefulness
from rollouts.report.verdict import verdict
from tests.made_evaluation import Played, arms_of, suite, write
from warehouse.trace_store import trace_store

NO_FAILURES = Failures(
    *[Attempts(0, 0, 0, 0, 0, Rate(0, 0), Rate(0, 0))] * 2,
    mix=pl.DataFrame(schema={"failure_type": pl.String, "empty": pl.Int64, "frozen": pl.Int64}),
    ends=pl.DataFrame(),
)
NOT_USED = Usefulness({}, pl.DataFrame(schema={"entry_id": pl.String}), 0)


def test_groups_and_averages_are_counted_by_pairs_and_weighted_by_tasks(tmp_path: Path) -> None:
    arms = arms_of(
        tmp_path,
        wooden=([True, False, False, None], [True, True, False, True]),
        stone=([False, False], [True, True]),
        iron=([True], [False]),
    )
    found = {each.name: each for each in success(arms).all}
    assert list(found) == ["wooden", "stone", "iron", "easy groups", "hard groups", OVERALL]
    assert found["wooden"].pairs == Paired(both=1, only_frozen=1, only_empty=0, neither=1, excluded=1)
    assert (found["wooden"].empty, found["wooden"].frozen) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    # Weights are tasks, the one whose only pair was excluded among them: 4, 2 and 1.
    assert found["easy groups"].frozen == pytest.approx((4 * 2 / 3 + 2 * 1) / 6)
    assert found["easy groups"].members == ("wooden", "stone")
    assert found[OVERALL].empty == pytest.approx((4 * 1 / 3 + 2 * 0 + 1 * 1) / 7)
    assert found[OVERALL].frozen == pytest.approx((4 * 2 / 3 + 2 * 1 + 1 * 0) / 7)
    assert found[OVERALL].pairs == Paired(1, 3, 1, 1, 1)
    for each in found.values():
        assert each.empty is not None
        assert each.frozen is not None
        assert each.gain.share == pytest.approx(each.frozen - each.empty), each.name
    row = found["wooden"].row()
    wilson = binomtest(2, 3).proportion_ci(method="wilson")
    assert (row["frozen_k"], row["pairs"], row["excluded"]) == (2, 3, 1)
    assert (row["frozen_low"], row["frozen_high"]) == (pytest.approx(wilson.low), pytest.approx(wilson.high))
    tasks = by_task(arms)
    assert tasks["task_id"].to_list() == [
        *(f"wooden{n}" for n in range(4)),
        *(f"stone{n}" for n in range(2)),
        "iron0",
    ]
    assert tasks.filter(pl.col("task_id") == "wooden3").select("pairs", "excluded").row(0) == (0, 1)


def test_one_group_needs_no_average(tmp_path: Path) -> None:
    found = success(arms_of(tmp_path, stone=([True], [True])))
    assert [each.name for each in found.all] == ["stone"]
    assert found.overall.name == "stone"
    assert not found.overall.is_average


def test_pairs_have_the_same_task_world_planner_and_configuration(tmp_path: Path) -> None:
    asked = [Played("a", True), Played("a", True, world=3), Played("a", True, seed=1)]
    write(tmp_path, NOBODY, "wooden", asked)
    other = Played("a", False, seed=1, config="another")
    write(tmp_path, "0001", "wooden", [Played("a", False), Played("a", False, world=5), other])
    arms = read_arms(tmp_path, suite([("wooden", "a")]))
    assert counted(arms.pairs) == Paired(both=0, only_frozen=0, only_empty=1, neither=0)


def test_planner_seeds_are_weighted_as_the_average_is(tmp_path: Path) -> None:
    for build, wins in ((NOBODY, {"a", "c"}), ("0001", {"a", "b"})):
        for group, tasks in (("wooden", "ab"), ("stone", "c")):
            episodes = [
                Played(task, (task in wins) is (seed == 0), seed=seed) for task in tasks for seed in (0, 1)
            ]
            write(tmp_path, build, group, episodes)
    arms = read_arms(tmp_path, suite([("wooden", "a"), ("wooden", "b"), ("stone", "c")]))
    rows = by_planner_seed(arms).rows_by_key("planner_seed", named=True, unique=True)
    assert rows[0]["empty"] == pytest.approx((2 * 0.5 + 1 * 1) / 3)
    assert rows[0]["frozen"] == pytest.approx((2 * 1 + 1 * 0) / 3)
    assert rows[1]["difference"] == pytest.approx(-rows[0]["difference"])


@pytest.mark.parametrize(
    ("empty", "frozen", "effect", "said"),
    [
        (8 * [False], 8 * [True], "helped", "Frozen knowledge helped."),
        (8 * [True], 8 * [False], "hurt", "Frozen knowledge hurt."),
        (5 * [False], 5 * [True], "no difference shown", "Only 5 pairs differ"),
        (
            4 * [True] + 4 * [False],
            4 * [False] + 4 * [True],
            "no difference shown",
            "4 to 4 is not uneven enough",
        ),
        (4 * [True], 4 * [True], "no difference shown", "Only 0 pairs differ"),
    ],
)
def test_the_verdict_claims_what_pairs_show_and_says_why_not(
    empty: list[bool | None], frozen: list[bool | None], effect: str, said: str, tmp_path: Path
) -> None:
    arms = arms_of(tmp_path, wooden=(empty, frozen))
    found = verdict(arms, success(arms), NO_FAILURES, NOT_USED)
    assert found.effect == effect
    assert said in f"{found.headline} {found.figures}"
    assert f"Of {len(empty)} pairs" in found.figures


def test_groups_are_judged_one_by_one(tmp_path: Path) -> None:
    arms = arms_of(tmp_path, wooden=(8 * [False], 8 * [True]), stone=([True, False], [True, True]))
    found = verdict(arms, success(arms), NO_FAILURES, NOT_USED)
    wooden, stone = found.groups
    assert wooden.startswith("wooden: helped (0 % → 100 %; 8 of 8 pairs differ)")
    assert stone.startswith("stone: no difference that these episodes can show (50 % → 100 %; 1 of 2")


def nothing(home: Path) -> None:
    del home


def alone(home: Path) -> None:
    write(home, NOBODY, "wooden", [Played("a", True)])


def unlike(home: Path) -> None:
    write(home, NOBODY, "wooden", [Played("a", True)])
    write(home, "0003", "wooden", [Played("a", True, config="another")])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (nothing, "run `mineevolve train --build 0001` and `mineevolve evaluate --build 0001` first"),
        (alone, "no evaluation to report"),
        (unlike, "run `mineevolve evaluate --build 0003` again"),
    ],
)
def test_without_an_evaluation_the_command_to_run_is_named(
    made: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    made(tmp_path)
    with pytest.raises(NotEvaluatedError, match=said):
        read_arms(tmp_path, suite([("wooden", "a")]))


def test_a_trained_build_is_the_one_to_evaluate(tmp_path: Path) -> None:
    empty = arms_of(tmp_path / "other", wooden=([True], [True])).episodes[:0]
    frame = empty.select(pl.all().exclude("arm", "group", "filed_as"))
    for group in ("stone", "wooden"):
        trace_store(tmp_path).write_source("0002", group, TRAINING, {"episodes": frame})
    with pytest.raises(
        NotEvaluatedError, match="run `mineevolve evaluate --build 0002 --group wooden --group st"
    ):
        read_arms(tmp_path, suite([("wooden", "a"), ("stone", "b")]))


def test_what_was_begun_and_not_ended_is_told(tmp_path: Path) -> None:
    arms_of(tmp_path, wooden=([True], [True]))
    for build, source in (("0001", "frozen"), ("0002", "frozen")):
        shard = tmp_path / "evaluation" / "rollouts" / build / "wooden" / source / "0000-ab"
        shard.mkdir(parents=True)
        (shard / "manifest.json").write_text("{}")
    assert unfinished(tmp_path) == [("0002", "wooden", "frozen", 1)]
