"""The bench of the backends on one short episode: every way stores the same. Nothing is timed here."""

from pathlib import Path

import pytest

from bench import backends


@pytest.mark.ray
def test_the_same_episodes_are_played_every_way(tmp_path: Path) -> None:
    ways = backends.measure(tmp_path, ["stone_00"], worlds=1, horizon_cap=60)
    assert [way[:3] for way in ways] == [("local", 1, 1), ("local", 2, 1), ("ray", 1, 1), ("ray", 2, 1)]
    assert all(way.start_s > 0 and way.play_s > 0 for way in ways)
    assert backends.report(ways).row_count == 4
