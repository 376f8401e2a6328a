"""Launching the jobs from the command line, on the same Dagster instance that the UI shows."""

import logging
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from assets.partitions import IMPORTED, builds
from pipeline.definitions import definitions
from pipeline.failures import is_expected
from pipeline.jobs import ROLLOUT_RESOURCES
from pipeline.settings import Settings


class RunFailedError(RuntimeError):
    """A job did not end well; the message names the step and its error, `traceback` shows where an error came
    from that nobody expected."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


def prepare(settings: Settings) -> Path:
    """The home of Dagster's storage with the project's instance settings in it."""
    home = settings.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    with as_file(files("pipeline") / "dagster.yaml") as source:
        shutil.copyfile(source, home / "dagster.yaml")
    return home


def import_traces(
    settings: Settings, build: str, paths: Sequence[Path], format_name: str | None = None
) -> dg.ExecuteInProcessResult:
    """Imports folders into a build and turns them into feedback."""
    config: dict[str, Any] = {"paths": [str(path.resolve()) for path in paths]}
    if format_name is not None:
        config["format"] = format_name
    key = dg.MultiPartitionKey({"build": build, "group": IMPORTED})
    return _launch(settings, "import_traces", build, key, {"imported_trajectories": {"config": config}})


def learn_knowledge(settings: Settings, build: str) -> dg.ExecuteInProcessResult:
    """From a build's feedback to its snapshot."""
    return _launch(settings, "learn_knowledge", build, build)


def train_build(
    settings: Settings, build: str, group: str, config: Mapping[str, Any]
) -> dg.ExecuteInProcessResult:
    """Plays a task group with the knowledge of the build before and judges it; `config` is ExerciseConfig."""
    key = dg.MultiPartitionKey({"build": build, "group": group})
    return _launch(settings, "train_build", build, key, {"training_rollouts": {"config": dict(config)}})


def learn_from_rollouts(settings: Settings, build: str) -> dg.ExecuteInProcessResult:
    """From a trained build's feedback to its snapshot, with the planner as Inducer."""
    return _launch(settings, "learn_from_rollouts", build, build, resources=ROLLOUT_RESOURCES)


def evaluate_snapshot(
    settings: Settings, build: str, group: str, config: Mapping[str, Any]
) -> dg.ExecuteInProcessResult:
    """A build's snapshot against the empty store in a task group; `config` is ExerciseConfig."""
    key = dg.MultiPartitionKey({"build": build, "group": group})
    ops = {"evaluation_rollouts": {"config": dict(config)}}
    return _launch(settings, "evaluate_snapshot", build, key, ops)


def publish_analysis(settings: Settings) -> dg.ExecuteInProcessResult:
    """Publishes analysis.duckdb."""
    return _launch(settings, "publish_analysis")


def _launch(
    settings: Settings,
    job: str,
    build: str | None = None,
    partition_key: str | None = None,
    ops: Mapping[str, Any] | None = None,
    resources: Mapping[str, Any] | None = None,
) -> dg.ExecuteInProcessResult:
    # A failure is said once, by `RunFailedError`; Dagster would print its own frames and every step that was
    # left out for it. All of that stays in the instance, for the UI.
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        if build is not None:
            instance.add_dynamic_partitions(str(builds.name), [build])
        result = (
            definitions(settings)
            .resolve_job_def(job)
            .execute_in_process(
                run_config={
                    "ops": dict(ops or {}),
                    "resources": dict(resources or {}),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=instance,
                partition_key=partition_key,
                raise_on_error=False,
            )
        )
    if not result.success:
        raise _failure(result, job)
    return result


def _failure(result: dg.ExecuteInProcessResult, job: str) -> RunFailedError:
    for event in result.all_events:
        if event.is_step_failure:
            return _explained(f"{job} failed in {event.step_key}", event.step_failure_data.error)
    return RunFailedError(f"{job} failed before its first step: see run {result.run_id} in `mineevolve ui`")


def _explained(what: str, error: SerializableErrorInfo | None) -> RunFailedError:
    # Only Dagster's own wrapping is taken off: what lies behind our error (say, behind the one that names the
    # damaged file) is its cause and says less.
    while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
        error = error.cause
    if error is None:
        return RunFailedError(f"{what}, and no error was recorded")
    message = error.message.strip()
    error_class, _, said = message.partition(": ")
    if is_expected(error_class):
        return RunFailedError(f"{what}: {said or error_class}")
    return RunFailedError(f"{what}: {message}", "".join(error.stack))
