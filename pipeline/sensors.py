"""What happens by itself, once it is switched on: frozen evaluation of new snapshots, import of recordings,
taking in what other machines handed in.

What is asked for is decided by the store: a sensor asks for what is not there. That a request was made is
known by the runs with its key, so a tick that is repeated asks for nothing twice.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import dagster as dg
import orjson
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster_shared.error import SerializableErrorInfo

from assets.partitions import IMPORTED, builds, key_of
from pipeline.builds import RETRIES, UNATTENDED_TAG
from pipeline.curricula import find_curriculum
from pipeline.failures import is_infrastructure
from pipeline.in_process import BUILD_TAG, end_dead_runs, evaluation_ops, import_config, range_tags
from pipeline.jobs import evaluate_snapshot, import_traces, take_in_candidates
from pipeline.orders import Order, is_evaluated, next_build, order_of, read_order
from pipeline.settings import Settings
from rollouts.evaluation import stored
from rollouts.ingest.protocol import printable
from warehouse.database import BusyError
from warehouse.domains import load_domain
from warehouse.ids import derive_id
from warehouse.inbox import is_named_as_one, waiting
from warehouse.log import LogShard
from warehouse.log_tables import unlisted
from warehouse.snapshots import published_snapshot
from warehouse.trace_store import trace_store

REQUEST_TAG: Final = "mineevolve/request"
"""of the runs of one request: the first, and those that follow it when its infrastructure failed"""
_EVERY_S: Final = 30


def sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """The sensors for these settings. A folder is watched only where the settings name one."""
    found = [evaluate_new_snapshots(settings), take_in_handed_in(settings)]
    return found if settings.watch is None else [*found, import_new_traces(settings, settings.watch)]


def evaluate_new_snapshots(settings: Settings) -> dg.SensorDefinition:
    """Asks for the evaluation of snapshots that are published and not evaluated."""

    @dg.sensor(
        name="evaluate_new_snapshots",
        job=evaluate_snapshot,
        minimum_interval_seconds=_EVERY_S,
        default_status=_status(settings.evaluate_snapshots),
        description="Frozen evaluation of every snapshot that a build publishes, as its curriculum says "
        "(a build without an order: as the nightly curriculum does).",
    )
    def evaluate_new_snapshots(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        requests = []
        for order in _unevaluated(settings):
            snapshot_id = published_snapshot(settings.home, order.build)
            config = order.evaluation | {"workers": settings.workers}
            key = derive_id("evaluation request", [order.build, snapshot_id, order.asked, order.evaluation])
            for place, tags in enumerate(range_tags([order.build], order.asked)):
                if run_key := _run_key(context, f"evaluate {order.build} {key}.{place}"):
                    requests.append(
                        dg.RunRequest(
                            run_key=run_key,
                            run_config={"ops": evaluation_ops(config)},
                            tags=_tags(run_key, order.build) | tags,
                        )
                    )
        if not requests:
            return dg.SensorResult(skip_reason="every published snapshot is evaluated, or is being evaluated")
        asked = sorted({request.tags[BUILD_TAG] for request in requests})
        return dg.SensorResult(requests, dynamic_partitions_requests=[builds.build_add_request(asked)])

    return evaluate_new_snapshots


def _unevaluated(settings: Settings) -> Iterator[Order]:
    """What is to be evaluated, oldest build first."""
    home, domain = settings.home, load_domain(settings.domain)
    for build in sorted(path.stem for path in (home / "snapshots" / "builds").glob("*.json")):
        order = read_order(home, build)
        if order is None:
            order = _as_every_night(settings, build)
            snapshot_id = published_snapshot(home, build)
            # Somebody evaluated it by hand, in a way of their own.
            if any(
                snapshot_id in stored(home, build, group).frozen["snapshot_id"].to_list()
                for group in order.asked
            ):
                continue
        if not is_evaluated(home, order, domain):
            yield order


def _as_every_night(settings: Settings, build: str) -> Order:
    """An order that was never given, for how a build of the nightly curriculum is evaluated."""
    curriculum = find_curriculum(
        settings.nightly_curriculum, settings.curricula, load_domain(settings.domain)
    )
    first = curriculum.build(1)
    assert first is not None
    return order_of(curriculum, first, build, settings.model)


def take_in_handed_in(settings: Settings) -> dg.SensorDefinition:
    """Asks for a curation of each build that a shard in the inbox is for, or that candidates were taken in
    for which nobody decided on."""

    @dg.sensor(
        name="take_in_handed_in",
        job=take_in_candidates,
        minimum_interval_seconds=_EVERY_S,
        default_status=_status(settings.take_in),
        description="What other machines handed in (`mineevolve knowledge hand-in`) is taken from the inbox "
        "and decided on, a run for each build.",
    )
    def take_in_handed_in(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        lying: dict[str, list[tuple[str, int]]] = {}
        for path in filter(is_named_as_one, waiting(settings.home)):
            # The same shard that is handed in again later is asked for again.
            lying.setdefault(path.parent.name, []).append((path.name, path.stat().st_mtime_ns))
        for shard in _undecided(settings.home, context.instance):
            lying.setdefault(shard.build, []).append((shard.path.name, shard.path.stat().st_mtime_ns))
        keys = {
            build: _run_key(context, f"take in {build} {derive_id('inbox', lying[build])}") for build in lying
        }
        requests = [
            dg.RunRequest(run_key=key, partition_key=build, tags=_tags(key, build))
            for build, key in sorted(keys.items())
            if key is not None
        ]
        if not requests:
            return dg.SensorResult(skip_reason="the inbox is empty, or is being taken in")
        asked = [builds.build_add_request(sorted(build for build, key in keys.items() if key))]
        return dg.SensorResult(requests, dynamic_partitions_requests=asked)

    return take_in_handed_in


def _undecided(home: Path, instance: dg.DagsterInstance) -> list[LogShard]:
    """The shards of candidates in the log that no curation has seen, of builds that no run works on."""
    try:
        shards = unlisted(home, "candidates", wait_s=0)
    except BusyError:
        return []  # perhaps they are being decided on; the next tick knows
    if shards:
        end_dead_runs(instance)
    at_work = {
        run.tags.get(PARTITION_NAME_TAG)
        for run in instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES))
    }
    return [shard for shard in shards if shard.build not in at_work]


def import_new_traces(settings: Settings, folder: Path) -> dg.SensorDefinition:
    """Asks for the import of each folder in `folder` that is new or changed, and no longer written to."""
    watched = folder.expanduser().resolve()

    @dg.sensor(
        name="import_new_traces",
        job=import_traces,
        minimum_interval_seconds=_EVERY_S,
        default_status=_status(True),
        description=f"Recordings that appear in {folder.name}, a folder each, are imported into the next "
        "build once they have stopped changing.",
    )
    def import_new_traces(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        before = orjson.loads(context.cursor) if context.cursor else {}
        now = {child.name: _fingerprint(child) for child in _recordings(watched)}
        requests, left = [], []
        for name, fingerprint in now.items():
            if before.get(name) != fingerprint:
                left.append(f"{name} is still changing")
                continue
            run_key = _run_key(context, f"import {name} {fingerprint}")
            if run_key is None:
                continue
            held = _build_of(settings.home, printable(name))
            if held is not None and published_snapshot(settings.home, held) is not None:
                left.append(
                    f"build {held} has learnt from {name}: import it by hand "
                    f"(mineevolve ingest --build {held}), or give new recordings a folder of their own"
                )
                continue
            build = held or next_build(settings.home)
            requests.append(
                dg.RunRequest(
                    run_key=run_key,
                    partition_key=key_of(build, IMPORTED),
                    run_config={
                        "ops": {"imported_trajectories": {"config": import_config([watched / name])}}
                    },
                    tags=_tags(run_key, build),
                )
            )
        cursor = orjson.dumps(now, option=orjson.OPT_SORT_KEYS).decode()
        if not requests:
            return dg.SensorResult(skip_reason="; ".join(left) or "nothing new", cursor=cursor)
        asked = sorted({request.tags[BUILD_TAG] for request in requests})
        return dg.SensorResult(
            requests, cursor=cursor, dynamic_partitions_requests=[builds.build_add_request(asked)]
        )

    return import_new_traces


def _recordings(watched: Path) -> list[Path]:
    if not watched.is_dir():
        return []
    return sorted(
        child
        for child in watched.iterdir()
        if child.is_dir() and not child.is_symlink() and not child.name.startswith(".")
    )


def _fingerprint(folder: Path) -> str:
    """Changes when a file below the folder comes, goes, grows or is written to."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    stats = [(path, path.stat()) for path in files]
    return derive_id(
        "folder",
        [[path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns] for path, stat in stats],
    )


def _build_of(home: Path, source: str) -> str | None:
    """The build that a source was imported into; the last, where several have one of the name."""
    store = trace_store(home)
    held = [build for build in store.builds() if (IMPORTED, source) in store.sources(build)]
    return held[-1] if held else None


def _tags(run_key: str, build: str) -> dict[str, str]:
    return {REQUEST_TAG: run_key.partition("#")[0], BUILD_TAG: build, UNATTENDED_TAG: "yes"}


def _run_key(context: dg.SensorEvaluationContext, request: str) -> str | None:
    """The key under which a request has to be made now: none while a run of it is on its way, once one went
    well, and once one failed for another reason than its infrastructure, or often enough for that."""
    runs = context.instance.get_runs(dg.RunsFilter(tags={REQUEST_TAG: request}))
    if not runs:
        return request
    if len(runs) > RETRIES or not all(run.status == dg.DagsterRunStatus.FAILURE for run in runs):
        return None
    return f"{request}#{len(runs)}" if _was_infrastructure(context.instance, runs[0].run_id) else None


def _was_infrastructure(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a failed run had no step that failed (its process died), or only such as may go well again."""
    failed = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    for entry in failed:
        error: SerializableErrorInfo | None = entry.get_dagster_event().step_failure_data.error
        while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
            error = error.cause
        if error is None or not is_infrastructure(error.message.strip().partition(": ")[0]):
            return False
    return True


def _status(switched_on: bool) -> dg.DefaultSensorStatus:
    return dg.DefaultSensorStatus.RUNNING if switched_on else dg.DefaultSensorStatus.STOPPED
