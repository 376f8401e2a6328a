"""Launching the jobs from the command line, on the same Dagster instance that the UI shows."""

import logging
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import dagster as dg

from assets.partitions import IMPORTED, builds
from pipeline.definitions import definitions
from pipeline.settings import Settings


class RunFailedError(RuntimeError):
    """A job did not end well; the message names the step and its error."""


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


def publish_analysis(settings: Settings) -> dg.ExecuteInProcessResult:
    """Publishes analysis.duckdb."""
    return _launch(settings, "publish_analysis")


def _launch(
    settings: Settings,
    job: str,
    build: str | None = None,
    partition_key: str | None = None,
    ops: Mapping[str, Any] | None = None,
) -> dg.ExecuteInProcessResult:
    logging.getLogger("dagster").setLevel(logging.ERROR)
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        if build is not None:
            instance.add_dynamic_partitions(str(builds.name), [build])
        result = (
            definitions(settings)
            .resolve_job_def(job)
            .execute_in_process(
                run_config={
                    "ops": dict(ops or {}),
                    "loggers": {"console": {"config": {"log_level": "ERROR"}}},
                },
                instance=instance,
                partition_key=partition_key,
                raise_on_error=False,
            )
        )
    if not result.success:
        raise RunFailedError(_failure(result, job))
    return result


def _failure(result: dg.ExecuteInProcessResult, job: str) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            while error is not None and error.cause is not None:
                error = error.cause
            said = (error.message if error else "no error was recorded").strip()
            return f"{job} failed in {event.step_key}: {said}"
    return f"{job} failed"
