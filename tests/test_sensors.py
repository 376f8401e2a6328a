"""The sensors' evaluation functions on a real instance: what is asked for, once, and what is left alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import PARTITION_NAME_TAG

from pipeline import launch
from pipeline.builds import UNATTENDED_TAG, due_order
from pipeline.definitions import definitions
from pipeline.in_process import BUILD_TAG
from pipeline.orders import is_evaluated
from pipeline.sensors import REQUEST_TAG
from pipeline.settings import Settings
from tests.small_curriculum import small_settings
from tests.test_inbox import proposed
from tests.test_pipeline import recordings
from warehouse.analysis import query
from warehouse.database import BusyError
from warehouse.domains import Domain
from warehouse.inbox import hand_in, take_in, waiting
from warehouse.snapshots import load_snapshot, publish_snapshot, published_snapshot
from warehouse.trace_store import trace_store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "watched").mkdir()
    return small_settings(tmp_path, watch=tmp_path / "watched")


@pytest.fixture
def instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance:
        yield instance


def evaluated(
    settings: Settings, instance: dg.DagsterInstance, name: str, cursor: str | None = None
) -> dg.SensorResult:
    repository = definitions(settings).get_repository_def()
    context = dg.build_sensor_context(instance, cursor=cursor, repository_def=repository)
    result = repository.get_sensor_def(name)(context)
    assert isinstance(result, dg.SensorResult)
    return result


def executed(
    settings: Settings, instance: dg.DagsterInstance, job: str, asked: dg.SensorResult
) -> dg.ExecuteInProcessResult:
    """What the daemon does with the one request of a result."""
    (request,) = asked.run_requests or ()
    for new in asked.dynamic_partitions_requests or ():
        instance.add_dynamic_partitions(new.partitions_def_name, new.partition_keys)
    return (
        definitions(settings)
        .resolve_job_def(job)
        .execute_in_process(
            run_config=request.run_config,
            instance=instance,
            partition_key=request.partition_key,
            tags=dict(request.tags),
            raise_on_error=False,
        )
    )


def failed_run(instance: dg.DagsterInstance, request: str, error: Exception | None) -> None:
    """A run of this request that failed with an error of ours, or whose process was lost."""

    @dg.op
    def step() -> None:
        if error is not None:
            raise error

    @dg.job
    def work() -> None:
        step()

    if error is not None:
        work.execute_in_process(instance=instance, tags={REQUEST_TAG: request}, raise_on_error=False)
    else:
        run = instance.create_run_for_job(work, tags={REQUEST_TAG: request})
        instance.report_run_failed(run, "its process is gone")


def test_a_new_snapshot_is_evaluated_once_and_as_its_curriculum_says(
    settings: Settings, instance: dg.DagsterInstance, minecraft: Domain
) -> None:
    sensor = "evaluate_new_snapshots"
    order = due_order(settings)
    assert order is not None
    assert not evaluated(settings, instance, sensor).run_requests  # ordered, and nothing is published yet
    publish_snapshot(settings.home, order.build, ())
    asked = evaluated(settings, instance, sensor)
    (request,) = asked.run_requests or ()
    assert request.run_key == evaluated(settings, instance, sensor).run_requests[0].run_key  # type: ignore[index]
    assert request.tags[BUILD_TAG] == "0001"
    assert request.tags[UNATTENDED_TAG] == "yes"
    config = request.run_config["ops"]["evaluation_rollouts"]["config"]
    assert (config["tasks"], config["episodes"], config["planners"]) == (["wooden_06"], 1, 2)

    assert executed(settings, instance, "evaluate_snapshot", asked).success
    assert is_evaluated(settings.home, order, minecraft)
    assert not evaluated(settings, instance, sensor).run_requests
    # The same without the runs: the store alone says that nothing is to be done.
    other = dg.DagsterInstance.ephemeral()
    assert not evaluated(settings, other, sensor).run_requests


def test_a_snapshot_without_an_order_is_evaluated_as_those_of_the_nightly_curriculum(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    publish_snapshot(settings.home, "0000", ())
    (request,) = evaluated(settings, instance, "evaluate_new_snapshots").run_requests or ()
    assert request.tags[BUILD_TAG] == "0000"
    assert request.run_config["ops"]["evaluation_rollouts"]["config"]["tasks"] == ["wooden_06"]


def test_a_request_is_repeated_for_the_infrastructure_alone_and_not_for_ever(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor = "evaluate_new_snapshots"
    publish_snapshot(settings.home, "0000", ())
    (first,) = evaluated(settings, instance, sensor).run_requests or ()
    request = first.tags[REQUEST_TAG]
    failed_run(instance, request, None)
    (second,) = evaluated(settings, instance, sensor).run_requests or ()
    assert second.run_key == f"{first.run_key}#1"
    assert second.tags[REQUEST_TAG] == request
    failed_run(instance, request, BusyError("kept"))
    (third,) = evaluated(settings, instance, sensor).run_requests or ()
    assert third.run_key == f"{first.run_key}#2"
    failed_run(instance, request, BusyError("kept"))
    assert not evaluated(settings, instance, sensor).run_requests


def test_a_request_that_was_wrong_is_not_repeated(settings: Settings, instance: dg.DagsterInstance) -> None:
    publish_snapshot(settings.home, "0000", ())
    (first,) = evaluated(settings, instance, "evaluate_new_snapshots").run_requests or ()
    failed_run(instance, first.tags[REQUEST_TAG], ValueError("wrong"))
    assert not evaluated(settings, instance, "evaluate_new_snapshots").run_requests


def test_new_recordings_are_imported_into_the_next_build_once_they_have_settled(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor = "import_new_traces"
    assert settings.watch is not None
    publish_snapshot(settings.home, "0003", ())
    assert evaluated(settings, instance, sensor).skip_reason.skip_message == "nothing new"  # type: ignore[union-attr]
    run = recordings(settings.watch / "monday")
    seen = evaluated(settings, instance, sensor)
    assert not seen.run_requests
    assert "still changing" in str(seen.skip_reason)
    asked = evaluated(settings, instance, sensor, seen.cursor)
    (request,) = asked.run_requests or ()
    assert str(request.partition_key) == "0004|imported"
    assert executed(settings, instance, "import_traces", asked).success
    assert trace_store(settings.home).sources("0004") == [("imported", run.name)]
    assert not evaluated(settings, instance, sensor, asked.cursor).run_requests


def test_recordings_that_grow_go_where_they_are_unless_it_was_learnt_from(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor = "import_new_traces"
    assert settings.watch is not None
    recordings(settings.watch / "monday")
    cursor = evaluated(settings, instance, sensor).cursor
    asked = evaluated(settings, instance, sensor, cursor)
    assert executed(settings, instance, "import_traces", asked).success

    def touched() -> str | None:
        some = next(path for path in (settings.watch or Path()).rglob("*") if path.is_file())
        os.utime(some, ns=(some.stat().st_atime_ns, some.stat().st_mtime_ns + 1))
        return evaluated(settings, instance, sensor).cursor

    again = evaluated(settings, instance, sensor, touched())
    (request,) = again.run_requests or ()
    assert str(request.partition_key) == "0001|imported"
    publish_snapshot(settings.home, "0001", ())
    left = evaluated(settings, instance, sensor, touched())
    assert not left.run_requests
    assert "build 0001 has learnt from monday" in str(left.skip_reason)


def test_sensors_are_off_until_the_settings_switch_them_on(tmp_path: Path) -> None:
    off = definitions(small_settings(tmp_path)).get_repository_def()
    assert {sensor.name: sensor.default_status for sensor in off.sensor_defs} == dict.fromkeys(
        ("evaluate_new_snapshots", "take_in_handed_in"), dg.DefaultSensorStatus.STOPPED
    )
    on = definitions(
        small_settings(tmp_path, evaluate_snapshots=True, watch=tmp_path, take_in=True)
    ).get_repository_def()
    assert {sensor.name: sensor.default_status for sensor in on.sensor_defs} == dict.fromkeys(
        ("evaluate_new_snapshots", "import_new_traces", "take_in_handed_in"), dg.DefaultSensorStatus.RUNNING
    )


def test_the_warehouse_is_rebuilt_by_a_job_as_by_the_command(
    settings: Settings, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    launch.import_traces(settings, "0000", [recordings(tmp_path / "run")])
    launch.learn_knowledge(settings, "0000")
    warehouse = settings.home / "warehouse.duckdb"
    warehouse.write_bytes(b"damaged")
    job = definitions(settings).resolve_job_def("rebuild_warehouse")
    result = job.execute_in_process(instance=instance)
    assert list(result.output_for_node("fold_every_shard")) == ["0000"]
    launch.publish_analysis(settings)  # it opens the warehouse


def test_what_is_handed_in_is_taken_in_once_and_published(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor, home = "take_in_handed_in", settings.home
    assert not evaluated(settings, instance, sensor).run_requests
    candidates, facts = proposed(0, 1, build="0001")
    hand_in(home, candidates, facts)
    (home / "inbox" / "0001" / "rumour.txt").write_text("no shard")
    asked = evaluated(settings, instance, sensor)
    (request,) = asked.run_requests or ()
    assert (request.partition_key, request.tags[BUILD_TAG]) == ("0001", "0001")

    result = executed(settings, instance, "take_in_candidates", asked)

    assert result.success
    (taken,) = result.asset_materializations_for_node("handed_in_candidates")
    assert taken.metadata["dagster/row_count"].value == 2
    assert "rumour.txt" in str(taken.metadata["put aside"].value)
    published = load_snapshot(home / "snapshots" / str(published_snapshot(home, "0001")))
    assert {entry.entry_id for entry in published.entries} == {one.entry_id for one in candidates}
    assert waiting(home) == []
    assert not evaluated(settings, instance, sensor).run_requests


def test_the_same_shard_that_is_handed_in_again_is_taken_in_again(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor, home = "take_in_handed_in", settings.home
    for _ in range(2):
        hand_in(home, *proposed(0, build="0001"))
        asked = evaluated(settings, instance, sensor)
        assert executed(settings, instance, "take_in_candidates", asked).success
        assert waiting(home) == []


def test_what_was_taken_in_and_left_undecided_is_asked_for(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    sensor, home = "take_in_handed_in", settings.home
    hand_in(home, *proposed(0, build="0001"))
    take_in(home)  # and killed

    run = instance.create_run_for_job(
        definitions(settings).resolve_job_def("learn_knowledge"),
        tags={PARTITION_NAME_TAG: "0001"},
        status=dg.DagsterRunStatus.STARTED,
    )
    assert not evaluated(settings, instance, sensor).run_requests, "whoever is at it may decide on it yet"
    instance.report_run_failed(run)
    asked = evaluated(settings, instance, sensor)
    (request,) = asked.run_requests or ()
    assert request.partition_key == "0001"

    assert executed(settings, instance, "take_in_candidates", asked).success

    assert published_snapshot(home, "0001") is not None
    assert not evaluated(settings, instance, sensor).run_requests


def test_a_damaged_shard_alone_makes_no_build(settings: Settings, instance: dg.DagsterInstance) -> None:
    home = settings.home
    (shard,) = hand_in(home, *proposed(0, build="0009"))
    shard.path.write_bytes(b"damaged")
    asked = evaluated(settings, instance, "take_in_handed_in")

    assert executed(settings, instance, "take_in_candidates", asked).success

    launch.publish_analysis(settings)
    assert query(home, "SELECT build FROM quarantine")["build"].to_list() == ["0009"]
    assert query(home, "FROM builds").is_empty()
    assert published_snapshot(home, "0009") is None


def test_a_stray_file_is_no_request(settings: Settings, instance: dg.DagsterInstance) -> None:
    stray = settings.home / "inbox" / "0009" / "notes.txt"
    stray.parent.mkdir(parents=True)
    stray.write_text("no shard")
    assert not evaluated(settings, instance, "take_in_handed_in").run_requests
