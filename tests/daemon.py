"""The parts of Dagster's daemon that make builds, one step at a time and at times that a test names.

    python -m tests.daemon die TIME     a schedule's tick, killed after its run was submitted
    python -m tests.daemon work TIME    the tick, then the queue until the build is made; the first process of
                                        a nightly build is killed once it plays

The data home is MINEEVOLVE_DATA. It prints what it saw as JSON.
"""

import datetime
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
import orjson
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget
from dagster._daemon.auto_run_reexecution.event_log_consumer import EventLogConsumerDaemon
from dagster._daemon.run_coordinator.queued_run_coordinator_daemon import QueuedRunCoordinatorDaemon
from dagster._scheduler.scheduler import launch_scheduled_runs

from pipeline.builds import NIGHTLY
from pipeline.in_process import BUILD_TAG
from pipeline.launch import prepare
from pipeline.settings import Settings

SCHEDULE = "nightly_build_schedule"
STARTED = dg.DagsterRunStatus.STARTED
LOGGER = logging.getLogger("tests.daemon")


@contextmanager
def workspace() -> Iterator[tuple[dg.DagsterInstance, WorkspaceProcessContext]]:
    with dg.DagsterInstance.from_config(str(prepare(Settings()))) as instance:
        target = ModuleTarget("pipeline.definitions", None, None, "mineevolve")
        with WorkspaceProcessContext(instance, target) as context:
            yield instance, context


def tick(context: WorkspaceProcessContext, at: datetime.datetime, dies: bool = False) -> None:
    """Lets the scheduler see the moment before, from which it counts, and then this one."""
    crash = {SCHEDULE: {"RUN_LAUNCHED": signal.SIGKILL}} if dies else None
    for moment in (at - datetime.timedelta(minutes=1), at):
        list(launch_scheduled_runs(context, LOGGER, moment, {}, debug_crash_flags=crash))  # type: ignore[arg-type]


def work(instance: dg.DagsterInstance, context: WorkspaceProcessContext) -> None:
    """Queue and automatic retries, until no run is left to wait for."""
    queue, retries = (
        QueuedRunCoordinatorDaemon(interval_seconds=1),
        EventLogConsumerDaemon(interval_seconds=1),
    )
    list(retries.run_iteration(context))
    killed = False
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        list(queue.run_iteration(context))
        list(retries.run_iteration(context))
        nightly = instance.get_runs(dg.RunsFilter(job_name=NIGHTLY))
        playing = instance.get_runs(dg.RunsFilter(job_name="train_build", statuses=[STARTED]))
        if playing and not killed:
            (worker,) = (run for run in nightly if run.status == STARTED)
            os.kill(_pid(instance, worker.run_id), signal.SIGKILL)
            killed = True
        elif nightly and nightly[0].is_finished and nightly[0].is_success:
            return
        time.sleep(0.2)
    raise TimeoutError(str([(run.job_name, run.status) for run in instance.get_runs()]))


def _pid(instance: dg.DagsterInstance, run_id: str) -> int:
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.get_dagster_event()
        if "pid" in event.event_specific_data.metadata:  # type: ignore[union-attr]
            return int(event.event_specific_data.metadata["pid"].value)  # type: ignore[union-attr,arg-type]
    raise LookupError(f"run {run_id} names no process")


def seen(instance: dg.DagsterInstance) -> list[dict[str, str | None]]:
    """The runs there are, oldest first."""
    return [
        {"job": run.job_name, "status": run.status.value, "build": run.tags.get(BUILD_TAG)}
        for run in reversed(list(instance.get_runs()))
    ]


if __name__ == "__main__":
    asked, at = sys.argv[1], datetime.datetime.fromisoformat(sys.argv[2])
    with workspace() as (of, within):
        tick(within, at, dies=asked == "die")
        if asked == "work":
            work(of, within)
        print(orjson.dumps(seen(of)).decode())
