"""Where worlds are stepped, from the settings to the resource that the assets ask."""

import pytest

from assets.resources import Stepping
from pipeline.command.options import BackendName, where
from pipeline.resources import resources
from pipeline.settings import SettingError, Settings


def test_ray_is_used_only_where_it_is_chosen() -> None:
    def cluster(settings: Settings) -> str | None:
        stepping = resources(settings)["stepping"]
        assert isinstance(stepping, Stepping)
        return stepping.cluster

    assert cluster(Settings()) is None
    assert cluster(Settings(ray_address="head:6379")) is None
    assert cluster(Settings(backend="ray")) == ""
    assert cluster(Settings(backend="ray", ray_address="head:6379")) == "head:6379"


def test_an_option_takes_the_settings_place_and_none_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINEEVOLVE_BACKEND", "ray")
    monkeypatch.setenv("MINEEVOLVE_RAY_ADDRESS", "head:6379")
    left = Settings(**where(None, None))
    assert (left.backend, left.ray_address) == ("ray", "head:6379")
    taken = Settings(**where(BackendName.LOCAL, "other:1"))
    assert (taken.backend, taken.ray_address) == ("local", "other:1")
    with pytest.raises(SettingError, match="MINEEVOLVE_BACKEND=cloud"):
        Settings(backend="cloud")
