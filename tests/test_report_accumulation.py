"""The curve over snapshots: only what was played in the same worlds is set side by side."""

from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest

from rollouts.evaluation import EMPTY, NOBODY
from rollouts.report import read_arms
from rollouts.report.accumulation import Accumulation, accumulation
from rollouts.report.success import OVERALL
from tests.made_evaluation import Played, suite, write

SUITE = suite([("wooden", "a"), ("wooden", "b"), ("wooden", "c"), ("stone", "d")])


def shares(found: Accumulation, name: str) -> dict[str, float]:
    return dict(found.points.filter(pl.col("name") == name).select("arm", "share").iter_rows())


def test_points_are_of_the_worlds_that_all_of_a_group_played(tmp_path: Path) -> None:
    write(tmp_path, NOBODY, "wooden", [Played("a", False), Played("b", False), Played("c", True)])
    write(tmp_path, "0001", "wooden", [Played("a", True), Played("b", False), Played("c", None)])
    write(tmp_path, "0002", "wooden", [Played("a", True), Played("b", True), Played("c", True)])
    found = accumulation(read_arms(tmp_path, SUITE))
    assert shares(found, "wooden") == {EMPTY: 0, "0001": 0.5, "0002": 1}
    assert (found.worlds, found.tasks, found.left_out) == (2, 2, ())
    assert found.points["step"].to_list() == [0, 1, 2]
    wilson = binomtest(1, 2).proportion_ci(method="wilson")
    point = found.points.filter(pl.col("arm") == "0001").row(0, named=True)
    assert (point["k"], point["n"]) == (1, 2)
    assert (point["low"], point["high"]) == pytest.approx((wilson.low, wilson.high))
    assert OVERALL not in set(found.points["name"])


def test_overall_is_weighted_by_tasks_and_wants_every_group(tmp_path: Path) -> None:
    for build, won, of_stone in ((NOBODY, False, True), ("0001", True, None), ("0002", True, False)):
        write(tmp_path, build, "wooden", [Played(task, won) for task in "abc"])
        if of_stone is not None:
            write(tmp_path, build, "stone", [Played("d", of_stone)])
    found = accumulation(read_arms(tmp_path, SUITE))
    assert shares(found, "stone") == {EMPTY: 1, "0002": 0}
    assert shares(found, OVERALL) == {EMPTY: 0.25, "0002": 0.75}
    assert found.worlds == 4


def test_a_build_that_was_played_otherwise_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, NOBODY, "wooden", [Played("a", False), Played("b", True)])
    write(tmp_path, "0001", "wooden", [Played("a", True, config="another")])
    write(tmp_path, "0002", "wooden", [Played("a", True), Played("b", True)])
    found = accumulation(read_arms(tmp_path, SUITE))
    assert shares(found, "wooden") == {EMPTY: 0.5, "0002": 1}
    assert found.left_out == ("0001",)


def test_nothing_in_common_gives_no_point(tmp_path: Path) -> None:
    write(tmp_path, NOBODY, "wooden", [Played("a", None)])
    write(tmp_path, "0001", "wooden", [Played("a", True)])
    found = accumulation(read_arms(tmp_path, SUITE))
    assert found.points.is_empty()
    assert found.worlds == 0
