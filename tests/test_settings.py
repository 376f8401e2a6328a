"""What settings say of values that they cannot have."""

from pathlib import Path

import pytest

from pipeline.settings import SettingError, Settings
from rollouts.worlds.registry import Venue


def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINEEVOLVE_WORKERS", "abc")
    monkeypatch.setenv("MINEEVOLVE_NIGHTLY_FRESH_H", "0")
    with pytest.raises(
        SettingError, match=r"MINEEVOLVE_WORKERS=abc: .* integer.*; MINEEVOLVE_NIGHTLY_FRESH_H=0"
    ):
        Settings()


def test_values_may_be_given_in_place_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINEEVOLVE_DATA", "elsewhere")
    assert Settings().data == Path("elsewhere")
    assert Settings(data=Path("here")).data == Path("here")


def test_the_world_is_chosen_by_name_with_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().venue == Venue("techtree")
    monkeypatch.setenv("MINEEVOLVE_WORLD", "mineflayer")
    monkeypatch.setenv("MINEEVOLVE_WORLD_SETTINGS", '{"host": "10.0.0.7", "commands": ["/clear"]}')
    assert Settings().venue == Venue("mineflayer", {"host": "10.0.0.7", "commands": ["/clear"]})
