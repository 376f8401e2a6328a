"""The studies' tables, from episodes whose outcomes are written down."""

from pathlib import Path

import polars as pl
import pytest

from rollouts.evaluation import NOBODY
from rollouts.rates import Rate
from rollouts.studies import success
from rollouts.studies.overhead import mean_over
from rollouts.studies.page import shown
from rollouts.studies.plan import WITHOUT, Checkpoint, Course, StudyPlan, filed_as
from tests.made_evaluation import Played, suite, write

HARD = (*(f"i{n}" for n in range(6)), "s0")
SUITE = suite([*(("iron", task) for task in HARD[:6]), ("stone", "s0")])


def checkpoint(build: str, episodes: int) -> Checkpoint:
    return Checkpoint(build=build, episodes=episodes, snapshot_id=f"s{episodes}", skills=1, remedies=2)


def course(name: str, tasks: tuple[str, ...], *points: Checkpoint) -> Course:
    return Course(name=name, doc="-", tasks=tasks, worlds=2, checkpoints=points)


ACCUMULATION = course("accumulation", HARD, checkpoint("0001", 5), checkpoint("0002", 10))
MIXED = course("mixed", ("i0", "i1"), checkpoint("0001", 4), checkpoint("0002", 8))
OTHER = course("diamond_only", ("i0", "i1"), checkpoint("0001", 4), checkpoint("0002", 8))
PLAN = StudyPlan(
    scale="small",
    doc="A test.",
    suite="-",
    agent="full",
    seed=0,
    horizon_cap=None,
    planners=1,
    accumulation=ACCUMULATION,
    compared=(OTHER, MIXED),
)


def played(own: Path, filed: str, won: dict[str, list[bool | None]], config: str = "c") -> None:
    """An arm: task -> its worlds' outcomes."""
    for group in SUITE.groups:
        episodes = [
            Played(task, outcome, world, config=config)
            for task, outcomes in won.items()
            if SUITE.task(task).group == group
            for world, outcome in enumerate(outcomes)
        ]
        if episodes:
            write(own, filed, group, episodes)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Iron succeeds at M = 10 and not before. The empty store has one world more, and the infrastructure
    ended one episode of M = 5."""
    iron = HARD[:6]
    played(tmp_path, NOBODY, {task: [False, False, True] for task in iron} | {"s0": [False, True]})
    first, second = ACCUMULATION.checkpoints
    played(
        tmp_path,
        filed_as(ACCUMULATION, first),
        {task: [False, False] for task in iron} | {"i0": [None, False], "s0": [False, True]},
    )
    played(
        tmp_path,
        filed_as(ACCUMULATION, second),
        {task: [True, True] for task in iron} | {"s0": [False, False]},
    )
    played(
        tmp_path,
        filed_as(ACCUMULATION, second, WITHOUT),
        {task: [True, False] for task in iron} | {"s0": [False, False]},
        config="another agent",
    )
    for each, outcome in ((OTHER, False), (MIXED, True)):
        for point in each.checkpoints:
            played(tmp_path, filed_as(each, point), {task: [outcome, False] for task in ("i0", "i1")})
    return tmp_path


def test_every_point_of_the_accumulation_is_of_the_same_worlds(own: Path) -> None:
    rows = success.accumulation(own, PLAN, SUITE)
    assert rows["excluded"].unique().to_list() == [1]
    iron = rows.filter(name="iron")
    assert iron.select("episodes", "build", "k", "n").rows() == [
        (0, None, 0, 11),
        (5, "0001", 0, 11),
        (10, "0002", 11, 11),
    ]
    assert (iron["low"][2], iron["high"][2]) == pytest.approx(Rate(11, 11).interval)
    assert iron["difference"].to_list() == [None, 0.0, 1.0]
    assert iron["effect"].to_list() == [None, "no difference shown", "helped"]
    assert (iron["only_first"][2], iron["only_second"][2]) == (11, 0)
    whole = rows.filter(name=success.TOGETHER)
    assert whole.select("k", "n").rows() == [(1, 13), (1, 13), (11, 13)]
    # weighted by tasks: six of iron, one of stone
    assert whole["share"].to_list() == pytest.approx([0.5 / 7, 0.5 / 7, 6 / 7])
    assert whole["difference"][2] == pytest.approx((6 * 1.0 + 1 * -0.5) / 7)
    # Tasks are drawn again within their group, and within each they are all alike.
    assert whole["difference_low"][2] == pytest.approx(whole["difference"][2])


def test_curricula_are_set_against_the_cold_start_and_each_other(own: Path) -> None:
    rows = success.curricula(own, PLAN, SUITE)
    assert rows.select("curriculum", "progress", "k", "n").rows() == [
        ("cold_start", 0.5, 0, 4),
        ("cold_start", 1.0, 0, 4),
        ("diamond_only", 0.5, 0, 4),
        ("diamond_only", 1.0, 0, 4),
        ("mixed", 0.5, 2, 4),
        ("mixed", 1.0, 2, 4),
    ]
    assert rows["difference"].to_list() == [None, None, 0.0, 0.0, 0.5, 0.5]
    two = success.endings(own, PLAN, SUITE)
    assert two.select("curriculum", "other", "of", "k", "other_k", "n").rows() == [
        ("diamond_only", "cold_start", "all checkpoints", 0, 0, 8),
        ("mixed", "cold_start", "all checkpoints", 4, 0, 8),
        ("diamond_only", "mixed", "the last one", 0, 2, 4),
        ("diamond_only", "cold_start", "the last one", 0, 0, 4),
        ("mixed", "cold_start", "the last one", 2, 0, 4),
    ]
    # Two pairs that differ are too few to say anything.
    assert set(two["effect"]) == {"no difference shown"}
    said = shown("curricula", rows, two).said
    assert said[4].startswith("mixed against cold_start, the last one: 2 of 4 (50 %) against 0 of 4")
    assert said[4].endswith("no difference shown, too few pairs differ.")


def test_remedies_are_compared_over_two_agents(own: Path) -> None:
    rows = success.remedies(own, PLAN, SUITE)
    assert rows.select("name", "k", "other_k", "n", "only_first", "only_second").rows() == [
        (success.TOGETHER, 12, 6, 14, 6, 0),
        ("iron", 12, 6, 12, 6, 0),
        ("stone", 0, 0, 2, 0, 0),
    ]
    assert rows["effect"].to_list() == ["helped", "helped", "no difference shown"]
    assert "6 pairs are won only with them and 0 only without" in shown("remedies", rows).said[1]


def test_a_mean_has_an_interval_over_tasks() -> None:
    values = {"a": [1, 3], "b": [2], "c": [9, 9, 9]}
    rows = pl.DataFrame([{"task_id": task, "value": each} for task, own in values.items() for each in own])
    mean, low, high = mean_over(rows, "task_id")
    assert mean == pytest.approx(33 / 6)
    assert low is not None
    assert high is not None
    # The least and the most that three draws of three tasks can give.
    assert 2 <= low < mean < high <= 9
    assert mean_over(rows.reverse(), "task_id") == (mean, low, high)
    assert mean_over(rows.filter(task_id="a"), "task_id") == (2.0, None, None)
