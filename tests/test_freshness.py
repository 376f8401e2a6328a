"""When the UI says that what it shows is old."""

from datetime import timedelta
from pathlib import Path

import dagster as dg

from pipeline import launch
from pipeline.definitions import definitions
from pipeline.freshness import KEPT_FRESH
from pipeline.settings import Settings


def policies(settings: Settings) -> dict[str, dg.FreshnessPolicy]:
    specs = definitions(settings).resolve_all_asset_specs()
    return {
        spec.key.to_user_string(): spec.freshness_policy
        for spec in specs
        if spec.freshness_policy is not None
    }


def test_what_is_read_from_ages_in_a_week_and_is_old_in_a_month(tmp_path: Path) -> None:
    expected = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=30), warn_window=timedelta(days=7))
    assert policies(Settings(data=tmp_path)) == dict.fromkeys(KEPT_FRESH, expected)


def test_every_night_brings_a_snapshot_where_the_nightly_build_is_on(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, nightly=True, nightly_fresh_h=30)
    expected = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=30))
    assert policies(settings) == dict.fromkeys(KEPT_FRESH, expected)


def test_there_is_a_build_to_choose_and_none_is_added_to_those_that_are(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, build="0007")

    def known() -> list[str]:
        with dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance:
            return list(instance.get_dynamic_partitions("build"))

    launch.begin_a_build(settings)
    assert known() == ["0007"]
    launch.begin_a_build(Settings(data=tmp_path, build="0008"))
    assert known() == ["0007"]
