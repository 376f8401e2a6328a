"""What a run in the game's own client may choose."""

from pathlib import Path

import pytest

from rollouts.worlds.client.settings import MineRLSettings, Settings, interpreter
from tests.conftest import ROOT


def test_an_interpreter_is_named_by_a_path_or_as_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert interpreter("", "minestudio") == ROOT / ".venv-minestudio" / "bin" / "python"
    assert interpreter("opt/bin/python", "minerl") == Path("/opt/bin/python"), "wherever a worker is started"
    assert interpreter("python3.9", "minerl") == Path("python3.9")
    assert interpreter("~/bin/python", "minerl").is_absolute()


def test_pairs_come_from_json_as_lists() -> None:
    assert Settings.of({"frame": [64, 48], "games": 2}) == Settings(frame=(64, 48), games=2)
    assert MineRLSettings.of({"environment": "e"}).environment == "e"
    for wrong in (128, [128], [128, 0], [1, 2, 3], ["a", "b"]):
        with pytest.raises(ValueError, match="frame is a width and a height"):
            Settings.of({"frame": wrong})
