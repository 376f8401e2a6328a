"""The loop's bench on two short episodes: both ways play them and store the same. Nothing is timed here."""

from pathlib import Path

import pytest

from bench import loop


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> list[loop.Played]:
    home: Path = tmp_path_factory.mktemp("bench")
    return loop.measure(home, groups=["wooden", "stone"], per_group=1, horizon_cap=120)


def test_the_same_episodes_are_played_without_and_with_workers(ways: list[loop.Played]) -> None:
    assert [way.workers_used for way in ways] == [0, loop.WORKERS]
    assert [way.episodes for way in ways] == [2, 2]


def test_time_is_told_where_it_was_spent(ways: list[loop.Played]) -> None:
    alone, pooled = ways
    assert alone.workers == 0.0
    assert pooled.workers > 0.0
    assert all(0.0 < way.model < way.parent for way in ways)
    assert all(0.0 < way.stepping < way.wall for way in ways)


def test_only_the_pool_has_a_goal(ways: list[loop.Played]) -> None:
    slow = [way._replace(wall=1e6) for way in ways]
    assert [loop.met(way) for way in slow] == [True, False]
    assert "missed" in list(loop.report(slow).columns[2].cells)
    assert "missed" not in list(loop.report(slow).columns[1].cells)
