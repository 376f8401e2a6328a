"""The bench of all worlds, at a small size."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from bench import worlds
from bench.worlds import measure, report
from rollouts.worlds.registry import UnknownWorldError


def test_each_world_is_played_by_one_and_by_two_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(name: str, *_: object) -> object:
        if name == "mineflayer":
            raise UnknownWorldError("it needs Node")
        return object()

    monkeypatch.setattr(worlds, "world", made)
    ways = measure(tmp_path, ["techtree", "mineflayer"], episodes=1)
    played = [way for way in ways if way.per_minute is not None]
    assert [(way.world, way.processes, way.episodes) for way in played] == [
        ("techtree", 1, 2),
        ("techtree", 2, 2),
    ]
    assert {way.world: way.why for way in ways if way.per_minute is None} == {
        "mineflayer": "it needs Node",
        "minerl": "needs the game itself",
        "minestudio": "needs the game itself",
    }
    out = io.StringIO()
    Console(file=out, width=100).print(report(ways))
    assert "1.00" in out.getvalue()
    assert "mineflayer" not in out.getvalue()
