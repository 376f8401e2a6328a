"""Whole builds on a real instance: the schedule asks for the next one, the job makes it, and neither
doubles it."""

import datetime
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest
from dagster._core.storage.tags import MAX_RETRIES_TAG, SCHEDULE_NAME_TAG, SCHEDULED_EXECUTION_TIME_TAG

from assets.partitions import builds
from pipeline import launch
from pipeline.builds import CURRICULUM_TAG, NIGHTLY, complete, due_order
from pipeline.definitions import definitions
from pipeline.in_process import BUILD_TAG, InProcess
from pipeline.orders import OrderError, is_whole, read_orders, working_on
from pipeline.settings import SettingError, Settings
from rollouts.lineage import TRAINING, episodes_of, stale_builds, usage_of
from tests.conftest import ROOT
from tests.small_curriculum import small_settings
from warehouse import log
from warehouse.curator import CuratorSettings
from warehouse.domains import Domain
from warehouse.fold import curator, rebuild
from warehouse.snapshots import load_snapshot, published_snapshot
from warehouse.trace_store import trace_store

SCHEDULE = "nightly_build_schedule"
NIGHT = datetime.datetime(2024, 5, 2, 2, 0, tzinfo=datetime.UTC)


@contextmanager
def real_instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance:
        yield instance


def evaluated(
    settings: Settings, instance: dg.DagsterInstance, night: datetime.datetime = NIGHT
) -> dg.RunRequest | dg.SkipReason:
    schedule = definitions(settings).resolve_schedule_def(SCHEDULE)
    result = schedule(dg.build_schedule_context(instance, night))
    assert isinstance(result, dg.RunRequest | dg.SkipReason)
    return result


def nightly_run(settings: Settings, instance: dg.DagsterInstance, build: str) -> dg.ExecuteInProcessResult:
    job = definitions(settings).resolve_job_def(NIGHTLY)
    return job.execute_in_process(instance=instance, partition_key=build, raise_on_error=False)


def requested(result: dg.RunRequest | dg.SkipReason) -> dg.RunRequest:
    assert isinstance(result, dg.RunRequest), result
    return result


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Three nights."""
    settings = small_settings(tmp_path_factory.mktemp("made"))
    with real_instance(settings) as instance:
        for night in range(3):
            request = requested(evaluated(settings, instance, NIGHT + datetime.timedelta(days=night)))
            assert request.partition_key == f"{night + 1:04}"
            assert nightly_run(settings, instance, request.partition_key).success
    return settings


def test_each_night_makes_the_next_build_until_the_curriculum_is_at_its_end(made: Settings) -> None:
    assert [order.build for order in read_orders(made.home)] == ["0001", "0002", "0003"]
    assert all(is_whole(made.home, order) for order in read_orders(made.home))
    assert stale_builds(made.home) == []
    with real_instance(made) as instance:
        assert instance.get_dynamic_partitions(str(builds.name)) == ["0001", "0002", "0003"]
        skipped = evaluated(made, instance, NIGHT + datetime.timedelta(days=3))
        assert isinstance(skipped, dg.SkipReason)
        assert "small is at its end" in str(skipped.skip_message)
        tags = [run.tags for run in instance.get_runs(dg.RunsFilter(job_name="train_build"))]
    assert {(each[BUILD_TAG], each[CURRICULUM_TAG]) for each in tags} == {
        (build, "small") for build in ("0001", "0002", "0003")
    }


def test_a_build_plays_the_episodes_that_its_curriculum_deals(made: Settings) -> None:
    for order in read_orders(made.home):
        episodes = episodes_of(made.home, order.build, "wooden", TRAINING)
        counts = dict(episodes.group_by("task_id").len().iter_rows())
        assert counts == order.training["worlds"]
        assert set(episodes["horizon"]) == {600}


def test_a_build_that_is_not_learnt_from_changes_nothing_now_or_later(
    made: Settings, minecraft: Domain
) -> None:
    first, frozen, third = (published_snapshot(made.home, build) for build in ("0001", "0002", "0003"))
    assert first == frozen
    assert load_snapshot(made.home / "snapshots" / str(first)).entries
    assert usage_of(made.home, minecraft, "0002", "wooden", TRAINING)
    assert log.read(made.home, "usage", ["0002"]).is_empty()
    assert log.read(made.home, "candidates", ["0002"]).is_empty()
    assert log.read(made.home, "usage", ["0003"]).height
    rebuilt = rebuild(made.home, curator(minecraft, CuratorSettings()))
    assert rebuilt.snapshot_ids == {"0001": first, "0002": frozen, "0003": third}


def test_a_first_build_that_is_not_learnt_from_publishes_an_empty_store(tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    path = settings.curricula / "small.toml"
    path.write_text(path.read_text().replace("[[builds]]", "[[builds]]\nupdate_store = false", 1))
    order = due_order(settings)
    assert order is not None
    launch.complete_build(settings, order, workers=0)
    snapshot_id = published_snapshot(settings.home, "0001")
    assert load_snapshot(settings.home / "snapshots" / str(snapshot_id)).entries == ()


def test_a_half_done_build_is_completed_and_a_whole_one_left_alone(made: Settings, tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    shutil.copytree(made.home, settings.home, ignore=shutil.ignore_patterns("dagster"))
    (settings.home / "snapshots" / "builds" / "0003.json").unlink()
    order = due_order(settings)
    assert order is not None
    assert order.build == "0003"
    before = {
        build: trace_store(settings.home).sources(build) for build in trace_store(settings.home).builds()
    }
    with real_instance(settings) as instance:
        executor = InProcess(definitions(settings).resolve_job_def, instance)
        assert complete(executor, settings.home, order, workers=0)
        assert not complete(executor, settings.home, order, workers=0)
        jobs = [run.job_name for run in instance.get_runs()]
    assert jobs == ["learn_from_rollouts"]  # it was played already
    assert published_snapshot(settings.home, "0003") == published_snapshot(made.home, "0003")
    assert before == {build: trace_store(settings.home).sources(build) for build in before}


def test_a_tick_that_is_repeated_asks_for_the_same_build(made: Settings, tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    with real_instance(settings) as instance:
        first = requested(evaluated(settings, instance))
        assert requested(evaluated(settings, instance)).run_key == first.run_key == "0001"
        assert [order.build for order in read_orders(settings.home)] == ["0001"]
        assert first.tags[MAX_RETRIES_TAG] == "2"
        # The run is made, and its build is whole before the tick is known to have ended.
        asked = {SCHEDULE_NAME_TAG: SCHEDULE, SCHEDULED_EXECUTION_TIME_TAG: NIGHT.isoformat()}
        job = definitions(settings).resolve_job_def(NIGHTLY)
        instance.create_run_for_job(job, tags=dict(first.tags) | asked | {"dagster/partition": "0001"})
        shutil.copytree(
            made.home, settings.home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("dagster")
        )
        for build in ("0002", "0003"):
            (settings.home / "orders" / f"{build}.json").unlink()
        assert requested(evaluated(settings, instance)).run_key == "0001"
        assert [order.build for order in read_orders(settings.home)] == ["0001"]


def test_a_build_that_is_being_made_is_not_asked_for_again(tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    with real_instance(settings) as instance:
        with working_on(settings.home):
            skipped = evaluated(settings, instance)
        assert isinstance(skipped, dg.SkipReason)
        assert skipped.skip_message == "build 0001 is being made already"
        job = definitions(settings).resolve_job_def(NIGHTLY)
        instance.create_run_for_job(job, tags={"dagster/partition": "0001"})
        assert isinstance(evaluated(settings, instance), dg.SkipReason)


def test_the_schedule_is_off_until_the_settings_switch_it_on(tmp_path: Path) -> None:
    for on, status in ((False, dg.DefaultScheduleStatus.STOPPED), (True, dg.DefaultScheduleStatus.RUNNING)):
        settings = small_settings(
            tmp_path, nightly=on, nightly_cron="30 1 * * *", nightly_timezone="Europe/Oslo"
        )
        schedule = definitions(settings).resolve_schedule_def(SCHEDULE)
        assert (schedule.default_status, schedule.cron_schedule) == (status, "30 1 * * *")
        assert schedule.execution_timezone == "Europe/Oslo"


@pytest.mark.parametrize("wrong", [{"nightly_cron": "at night"}, {"nightly_timezone": "Mars"}])
def test_a_time_that_there_is_not_names_its_setting(tmp_path: Path, wrong: dict[str, str]) -> None:
    [(name, value)] = wrong.items()
    with pytest.raises(SettingError, match=f"MINEEVOLVE_{name.upper()}={value}"):
        definitions(small_settings(tmp_path, **wrong))


def test_a_build_is_completed_by_the_model_that_began_it(tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    assert due_order(settings) is not None
    with pytest.raises(OrderError, match=r"was begun with the model 'rules'.*set MINEEVOLVE_MODEL=rules"):
        due_order(settings.model_copy(update={"model": "other"}))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"backtest": False}, "MINEEVOLVE_BACKTEST=True"),
        ({"reviewer": "rules"}, "MINEEVOLVE_REVIEWER= until"),
    ],
)
def test_a_build_is_completed_under_the_settings_that_it_began_to_learn_with(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    settings = small_settings(tmp_path, backtest=True)
    assert due_order(settings) is not None
    with pytest.raises(OrderError, match=said):
        due_order(settings.model_copy(update=changed))


def test_a_run_by_hand_for_a_build_that_is_not_due_says_which_is(tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    with real_instance(settings) as instance:
        instance.add_dynamic_partitions(str(builds.name), ["0005"])
        result = nightly_run(settings, instance, "0005")
    (failed,) = (event for event in result.all_events if event.is_step_failure)
    assert "build 0005 was not ordered by any curriculum; build 0001 is due" in str(failed.step_failure_data)


def daemon(settings: Settings, asked: str, at: datetime.datetime) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PYTHONPATH": str(ROOT),
        "MINEEVOLVE_DATA": str(settings.home),
        "MINEEVOLVE_CURRICULA": str(settings.curricula),
        "MINEEVOLVE_NIGHTLY": "true",
        "MINEEVOLVE_NIGHTLY_CURRICULUM": "small",
        "MINEEVOLVE_WORKERS": "0",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    command = [sys.executable, "-m", "tests.daemon", asked, at.isoformat()]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def test_a_nightly_tick_through_the_daemon_makes_one_build_whatever_is_killed(tmp_path: Path) -> None:
    """The daemon dies after it submitted the run, and sees its tick again; then the run's process dies at
    play."""
    settings = small_settings(tmp_path)
    assert daemon(settings, "die", NIGHT).returncode == -9
    assert [order.build for order in read_orders(settings.home)] == ["0001"]
    assert not trace_store(settings.home).builds()

    worked = daemon(settings, "work", NIGHT)
    assert worked.returncode == 0, worked.stdout + worked.stderr
    (said,) = (
        line for line in worked.stdout.splitlines() if line.startswith("[{")
    )  # a server logs there too
    runs = orjson.loads(said)
    assert [(run["job"], run["status"]) for run in runs if run["build"] == "0001"] == [
        ("nightly_build", "FAILURE"),
        ("train_build", "FAILURE"),
        ("nightly_build", "SUCCESS"),
        ("train_build", "SUCCESS"),
        ("learn_from_rollouts", "SUCCESS"),
    ]
    (order,) = read_orders(settings.home)
    assert is_whole(settings.home, order)
    assert trace_store(settings.home).builds() == ["0001"]
    assert episodes_of(settings.home, "0001", "wooden", TRAINING).height == 3

    with real_instance(settings) as instance:
        # Seen once more, the tick still asks for the build that it made; the next night's for the one after
        # it. assert requested(evaluated(settings, instance)).run_key == "0001"
        later = requested(evaluated(settings, instance, NIGHT + datetime.timedelta(days=1)))
    assert later.run_key == "0002"
