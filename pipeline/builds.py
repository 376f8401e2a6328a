"""Whole builds, made by themselves: the job nightly_build and the schedule that asks for it.

    schedule tick -> order for the next build (orders.py) -> partition of `build` -> run of nightly_build

A build spans partitions of two kinds (build × group, and build), which no single asset run may have, so the
job has one step of its own that executes the jobs for its parts one after the other in its process. Each of
them is a run in the records, with the tag mineevolve/build, and only what is missing is executed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import dagster as dg
from dagster._core.storage.tags import (
    MAX_RETRIES_TAG,
    PARTITION_NAME_TAG,
    SCHEDULE_NAME_TAG,
    SCHEDULED_EXECUTION_TIME_TAG,
)

from assets.partitions import builds
from pipeline.curricula import find_curriculum
from pipeline.in_process import BUILD_TAG, InProcess, RunFailedError, end_dead_runs
from pipeline.orders import (
    Order,
    OrderError,
    due,
    is_trained,
    is_whole,
    read_order,
    working_on,
)
from pipeline.settings import SettingError, Settings
from warehouse.database import BusyError
from warehouse.domains import load_domain

NIGHTLY: Final = "nightly_build"
UNATTENDED_TAG: Final = "mineevolve/unattended"
"""of runs that nobody asked for by hand: one of them at a time (dagster.yaml)"""
CURRICULUM_TAG: Final = "mineevolve/curriculum"
RETRIES: Final = 2
"""of a run whose infrastructure failed; what fails otherwise would fail again"""
_PAUSE_S: Final = 60
_WAITING: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
]


def complete(executor: InProcess, home: Path, order: Order, workers: int) -> bool:
    """Does what is missing of a build: play and judge, then learn (or keep what it began with) and publish.
    Whether anything was missing. `BusyError` while another process makes a build of this home."""
    with working_on(home):
        if is_whole(home, order):
            return False
        if not is_trained(home, order):
            executor.train_build(order.build, order.groups, order.training | {"workers": workers})
        if order.update_store:
            executor.learn_from_rollouts(order.build, workers=workers)
        else:
            executor.keep_knowledge(order.build)
        return True


def due_order(settings: Settings) -> Order | None:
    """The order that the nightly build is to work on; None when its curriculum is at its end."""
    domain = load_domain(settings.domain)
    curriculum = find_curriculum(settings.nightly_curriculum, settings.curricula, domain)
    order = due(settings.home, curriculum, settings.model, settings.learning)
    if order is not None:
        refuse_other_settings(order, settings)
    return order


def refuse_other_settings(order: Order, settings: Settings) -> None:
    """`OrderError` where a build was begun with another model, or is to learn under other settings: half of
    it would be of each."""
    now = {"model": settings.model, **settings.learning}
    for name, begun in {"model": order.model, **(order.learning or {})}.items():
        if now[name] != begun:
            raise OrderError(
                f"build {order.build} was begun with the {name} {begun!r} and cannot be completed with "
                f"{now[name]!r}: set MINEEVOLVE_{name.upper()}={begun} until it is whole"
            )


def nightly_build(settings: Settings, job: Callable[[str], dg.JobDefinition]) -> dg.JobDefinition:
    """The job; `job` finds those for a build's parts by name."""

    @dg.op(
        name="complete_build",
        description="Plays, judges, learns and publishes what is missing of the partition's build, as it was "
        "ordered. Resumable: what is whole is not done again.",
    )
    def complete_build(context: dg.OpExecutionContext) -> None:
        build = context.partition_key
        order = read_order(settings.home, build) or _order_by_hand(settings, build)
        refuse_other_settings(order, settings)
        context.log.info(f"build {build} is number {order.number} of the curriculum {order.curriculum}")
        executor = InProcess(job, context.instance, {CURRICULUM_TAG: order.curriculum})
        try:
            done = complete(executor, settings.home, order, settings.workers)
            executor.publish_analysis()
        except (RunFailedError, BusyError) as error:
            if isinstance(error, BusyError) or error.infrastructure:
                raise dg.RetryRequested(RETRIES, seconds_to_wait=_PAUSE_S) from error
            raise dg.Failure(str(error), allow_retries=False) from error
        context.log.info("done" if done else "it was whole already")

    @dg.job(
        name=NIGHTLY,
        partitions_def=builds,
        description="One whole build of the curriculum in the settings: played, judged, learnt from, "
        "published. A build that was interrupted is completed.",
    )
    def whole_build() -> None:
        complete_build()

    return whole_build


def _order_by_hand(settings: Settings, build: str) -> Order:
    """For a run that a person started: the order that is due, if it is for this build."""
    order = due_order(settings)
    if order is not None and order.build == build:
        return order
    which = f"build {order.build} is due" if order else f"and {settings.nightly_curriculum} is at its end"
    raise OrderError(f"build {build} was not ordered by any curriculum; {which}")


def nightly_schedule(settings: Settings, job: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Asks for the next build, or for the one that is not whole yet. `SettingError` where the settings name
    no time for it."""
    try:
        return _nightly_schedule(settings, job)
    except dg.DagsterInvalidDefinitionError as error:
        raise SettingError(
            f"MINEEVOLVE_NIGHTLY_CRON={settings.nightly_cron} "
            f"MINEEVOLVE_NIGHTLY_TIMEZONE={settings.nightly_timezone}: {error}"
        ) from error


def _nightly_schedule(settings: Settings, job: dg.JobDefinition) -> dg.ScheduleDefinition:
    @dg.schedule(
        job=job,
        cron_schedule=settings.nightly_cron,
        execution_timezone=settings.nightly_timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING
        if settings.nightly
        else dg.DefaultScheduleStatus.STOPPED,
        description=f"The next build of the curriculum {settings.nightly_curriculum}. A build that was begun "
        "and is not whole is completed first. Switched on here, or by MINEEVOLVE_NIGHTLY=true.",
    )
    def nightly_build_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        instance = context.instance
        # A tick that was interrupted is evaluated anew. Its build may be whole by now, and it asks for no
        # other.
        asked = {
            SCHEDULE_NAME_TAG: "nightly_build_schedule",
            SCHEDULED_EXECUTION_TIME_TAG: context.scheduled_execution_time.isoformat(),
        }
        for run in instance.get_runs(dg.RunsFilter(tags=asked), limit=1):
            return _request(run.tags[PARTITION_NAME_TAG], run.tags[CURRICULUM_TAG])
        end_dead_runs(instance)
        order = due_order(settings)
        if order is None:
            return dg.SkipReason(
                f"curriculum {settings.nightly_curriculum} is at its end: name another in "
                "MINEEVOLVE_NIGHTLY_CURRICULUM"
            )
        if _is_waiting(instance, order.build) or _is_worked_on(settings.home):
            return dg.SkipReason(f"build {order.build} is being made already")
        instance.add_dynamic_partitions(str(builds.name), [order.build])
        return _request(order.build, order.curriculum)

    return nightly_build_schedule


def _request(build: str, curriculum: str) -> dg.RunRequest:
    tags = {
        BUILD_TAG: build,
        CURRICULUM_TAG: curriculum,
        UNATTENDED_TAG: "yes",
        MAX_RETRIES_TAG: str(RETRIES),
    }
    return dg.RunRequest(run_key=build, partition_key=build, tags=tags)


def _is_waiting(instance: dg.DagsterInstance, build: str) -> bool:
    of_build = dg.RunsFilter(job_name=NIGHTLY, tags={PARTITION_NAME_TAG: build}, statuses=_WAITING)
    return instance.get_runs_count(of_build) > 0


def _is_worked_on(home: Path) -> bool:
    """Whether any process makes a build. A run that has started by the records may be dead; a lock is not."""
    try:
        with working_on(home, wait_s=0):
            return False
    except BusyError:
        return True
