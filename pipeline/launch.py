"""Launching the jobs from the command line, on the same Dagster instance that the UI shows."""

import logging
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from itertools import groupby
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG
from dagster_shared.error import SerializableErrorInfo

from assets.partitions import GROUPS, IMPORTED, PLAYED, builds, key_of
from pipeline.definitions import definitions
from pipeline.failures import is_expected
from pipeline.jobs import OF_ROLLOUTS
from pipeline.settings import Settings
from prompts.engines.models import model_row


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
    key = key_of(build, IMPORTED)
    return _launch(settings, "import_traces", build, key, {"imported_trajectories": {"config": config}})


def learn_knowledge(settings: Settings, build: str) -> dg.ExecuteInProcessResult:
    """From a build's feedback to its snapshot."""
    return _launch(settings, "learn_knowledge", build, build)


def train_build(
    settings: Settings, build: str, groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """Plays task groups with the snapshot of the build before and judges them; `config` is ExerciseConfig."""
    return _play(settings, "train_build", "training_rollouts", [build], groups, config)


def learn_from_rollouts(
    settings: Settings, build: str, misconceptions: float | None = None
) -> dg.ExecuteInProcessResult:
    """From a trained build's feedback to its snapshot, with the planner as Inducer; `misconceptions` as in
    the training's ExerciseConfig."""
    # As configuration of the step: a resource that is configured for a run forgets what it was made with.
    ops = {"knowledge_candidates": {"config": OF_ROLLOUTS | {"misconceptions": misconceptions}}}
    return _launch(settings, "learn_from_rollouts", build, build, ops)


def evaluate_snapshot(
    settings: Settings, build: str, groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """A build's snapshot against the empty store in task groups; `config` is ExerciseConfig."""
    return _play(settings, "evaluate_snapshot", "evaluation_rollouts", [build], groups, config)


def evaluate_snapshots(
    settings: Settings, of: Sequence[str], groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """`evaluate_snapshot` of several builds; side by side where Dagster can name them as a range."""
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        known = list(instance.get_dynamic_partitions(str(builds.name)))
    neighbours = ",".join(of) in ",".join(known) and set(of) <= set(known)
    together = [list(of)] if neighbours and set(groups) == set(PLAYED) else [[build] for build in of]
    return [
        result
        for some in together
        for result in _play(settings, "evaluate_snapshot", "evaluation_rollouts", some, groups, config)
    ]


def publish_analysis(settings: Settings) -> dg.ExecuteInProcessResult:
    """Publishes analysis.duckdb."""
    return _launch(settings, "publish_analysis")


def _play(
    settings: Settings,
    job: str,
    asset: str,
    of: Sequence[str],
    groups: Sequence[str],
    config: Mapping[str, Any],
) -> list[dg.ExecuteInProcessResult]:
    """One run for each stretch of neighbouring groups: Dagster knows ranges of partitions, and no sets.
    Several builds have to be neighbours, and their groups all that are played."""
    places = sorted({GROUPS.index(group) for group in groups})
    stretches = [
        [GROUPS[place] for _, place in stretch]
        for _, stretch in groupby(enumerate(places), key=lambda each: each[1] - each[0])
    ]
    ops = {asset: {"config": dict(config)}}
    if job == "evaluate_snapshot" and "suite" in config:
        ops["success_rates"] = {"config": {"suite": config["suite"]}}
    return [
        _launch(
            settings,
            job,
            of,
            ops=ops,
            tags={
                ASSET_PARTITION_RANGE_START_TAG: str(key_of(of[0], stretch[0])),
                ASSET_PARTITION_RANGE_END_TAG: str(key_of(of[-1], stretch[-1])),
            },
        )
        for stretch in stretches
    ]


def write_report(settings: Settings, config: Mapping[str, Any]) -> dg.ExecuteInProcessResult:
    """Writes the report of everything that was evaluated; `config` is ReportConfig."""
    return _launch(settings, "write_report", ops={"loop_report": {"config": dict(config)}})


def _launch(
    settings: Settings,
    job: str,
    build: str | Sequence[str] | None = None,
    partition_key: str | None = None,
    ops: Mapping[str, Any] | None = None,
    tags: Mapping[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    # A failure is said once, by `RunFailedError`; Dagster would print its own frames and every step that was
    # left out for it. All of that stays in the instance, for the UI.
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    if settings.reviewer:
        # Asked for late in a run, and misspelt perhaps: that is told before anything is played.
        model_row(settings.reviewer, settings.models.expanduser())
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        if build is not None:
            instance.add_dynamic_partitions(str(builds.name), [build] if isinstance(build, str) else build)
        result = (
            definitions(settings)
            .resolve_job_def(job)
            .execute_in_process(
                run_config={
                    "ops": dict(ops or {}),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=instance,
                partition_key=partition_key,
                tags=dict(tags or {}),
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
