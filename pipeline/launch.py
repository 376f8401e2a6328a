"""Launching the jobs from the command line, on the same Dagster instance that the UI shows."""

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import dagster as dg

from assets.partitions import builds
from pipeline import in_process
from pipeline.builds import complete
from pipeline.definitions import definitions
from pipeline.in_process import InProcess, RunFailedError
from pipeline.orders import Order
from pipeline.settings import Settings
from prompts.engines.models import model_row

__all__ = [
    "RunFailedError",
    "begin_a_build",
    "complete_build",
    "end_orphans",
    "evaluate_snapshot",
    "evaluate_snapshots",
    "full_study",
    "import_traces",
    "learn_from_rollouts",
    "learn_knowledge",
    "prepare",
    "publish_analysis",
    "take_in_candidates",
    "train_build",
    "write_report",
]


def prepare(settings: Settings) -> Path:
    """The home of Dagster's storage with the project's instance settings in it."""
    home = settings.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    with as_file(files("pipeline") / "dagster.yaml") as source:
        shutil.copyfile(source, home / "dagster.yaml")
    return home


def end_orphans(settings: Settings) -> list[str]:
    """Ends, in the records, the runs that a server left behind when the machine stopped; their ids."""
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        return in_process.end_orphans(instance)


def begin_a_build(settings: Settings) -> None:
    """Names the default build as a partition where there is none, so that there is one to choose in the UI.
    Nothing is made for it: by the store, it is not begun."""
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        name = str(builds.name)
        if not instance.get_dynamic_partitions(name):
            instance.add_dynamic_partitions(name, [settings.build])


def import_traces(
    settings: Settings, build: str, paths: Sequence[Path], format_name: str | None = None
) -> dg.ExecuteInProcessResult:
    """Imports folders into a build and turns them into feedback."""
    with _executor(settings) as executor:
        return executor.import_traces(build, paths, format_name)


def learn_knowledge(settings: Settings, build: str) -> dg.ExecuteInProcessResult:
    """From a build's feedback to its snapshot."""
    with _executor(settings) as executor:
        return executor.learn_knowledge(build)


def train_build(
    settings: Settings, build: str, groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """Plays task groups with the snapshot of the build before and judges them; `config` is ExerciseConfig."""
    with _executor(settings) as executor:
        return executor.train_build(build, groups, config)


def learn_from_rollouts(
    settings: Settings, build: str, misconceptions: float | None = None, workers: int = 0
) -> dg.ExecuteInProcessResult:
    """From a trained build's feedback to its snapshot, with the planner as Inducer; `misconceptions` as in
    the training's ExerciseConfig, and the try-outs with so many `workers`."""
    with _executor(settings) as executor:
        return executor.learn_from_rollouts(build, misconceptions, workers)


def take_in_candidates(settings: Settings, build: str) -> dg.ExecuteInProcessResult:
    """From what was handed in, or imported, for a build to its snapshot."""
    with _executor(settings) as executor:
        return executor.take_in_candidates(build)


def complete_build(settings: Settings, order: Order, workers: int) -> bool:
    """Does what is missing of an ordered build (`builds.complete`); whether anything was."""
    with _executor(settings) as executor:
        return complete(executor, settings.home, order, workers)


def evaluate_snapshot(
    settings: Settings, build: str, groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """A build's snapshot against the empty store in task groups; `config` is ExerciseConfig."""
    with _executor(settings) as executor:
        return executor.evaluate_snapshot(build, groups, config)


def evaluate_snapshots(
    settings: Settings, of: Sequence[str], groups: Sequence[str], config: Mapping[str, Any]
) -> list[dg.ExecuteInProcessResult]:
    """`evaluate_snapshot` of several builds; side by side where Dagster can name them as a range."""
    with _executor(settings) as executor:
        return executor.evaluate_snapshots(of, groups, config)


def full_study(settings: Settings, scale: str, workers: int) -> dg.ExecuteInProcessResult:
    """All studies of a scale and their page."""
    with _executor(settings) as executor:
        return executor.full_study(scale, workers)


def publish_analysis(settings: Settings) -> dg.ExecuteInProcessResult:
    """Publishes analysis.duckdb."""
    with _executor(settings) as executor:
        return executor.publish_analysis()


def write_report(settings: Settings, config: Mapping[str, Any]) -> dg.ExecuteInProcessResult:
    """Writes the report of everything that was evaluated; `config` is ReportConfig."""
    with _executor(settings) as executor:
        return executor.write_report(config)


@contextmanager
def _executor(settings: Settings) -> Iterator[InProcess]:
    # A failure is said once, by `RunFailedError`; Dagster would print its own frames and every step that was
    # left out for it. All of that stays in the instance, for the UI.
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    if settings.reviewer:
        # Asked for late in a run, and misspelt perhaps: that is told before anything is played.
        model_row(settings.reviewer, settings.models.expanduser())
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        yield InProcess(definitions(settings).resolve_job_def, instance)
