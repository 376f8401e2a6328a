"""Jobs executed in this process, one Dagster run each, so that the UI shows them like any other.

    with dg.DagsterInstance.from_config(home) as instance:
        InProcess(definitions(settings).resolve_job_def, instance).learn_knowledge("0001")

The command does it this way (launch.py), and so does the job that makes a whole build (builds.py).

A run in this process has no launcher that would notice its death, and a run that was killed keeps its place
in the pool of the warehouse for ever: the next one would wait without an end. So every run holds a lock
while it lives, and whoever starts one first ends those in the records whose lock nobody holds.
"""

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import dagster as dg
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    GRPC_INFO_TAG,
)
from dagster._core.utils import make_new_run_id
from dagster_shared.error import SerializableErrorInfo

from assets.partitions import GROUPS, IMPORTED, PLAYED, builds, key_of
from assets.studies import PLAY as STUDIES_PLAY
from assets.studies import READ as STUDIES_READ
from pipeline.failures import is_expected, is_infrastructure
from pipeline.jobs import OF_ROLLOUTS
from warehouse.database import BusyError, exclusive

BUILD_TAG: Final = "mineevolve/build"
"""of every run that works on one build"""
_ON_THEIR_WAY: Final = [
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_PATIENCE_S: Final = 5.0


class RunFailedError(RuntimeError):
    """A job did not end well; the message names the step and its error, `traceback` shows where an error came
    from that nobody expected. `infrastructure` is true where the same may go well when it is tried again."""

    def __init__(self, message: str, traceback: str = "", *, infrastructure: bool = False) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.infrastructure = infrastructure


@dataclass(frozen=True)
class InProcess:
    """Executes the project's jobs, found by name, on an instance; `tags` are those of every run."""

    job: Callable[[str], dg.JobDefinition]
    instance: dg.DagsterInstance
    tags: Mapping[str, str] = field(default_factory=dict)

    def import_traces(
        self, build: str, paths: Sequence[Path], format_name: str | None = None
    ) -> dg.ExecuteInProcessResult:
        """Imports folders into a build and turns them into feedback."""
        ops = {"imported_trajectories": {"config": import_config(paths, format_name)}}
        return self.execute("import_traces", build, partition_key=key_of(build, IMPORTED), ops=ops)

    def learn_knowledge(self, build: str) -> dg.ExecuteInProcessResult:
        """From a build's feedback to its snapshot."""
        return self.execute("learn_knowledge", build, partition_key=build)

    def train_build(
        self, build: str, groups: Sequence[str], config: Mapping[str, Any]
    ) -> list[dg.ExecuteInProcessResult]:
        """Plays task groups with the snapshot of the build before and judges them; `config` is
        ExerciseConfig."""
        ops = {"training_rollouts": {"config": dict(config)}}
        return [
            self.execute("train_build", build, ops=ops, tags=tags) for tags in range_tags([build], groups)
        ]

    def learn_from_rollouts(
        self, build: str, misconceptions: float | None = None, workers: int = 0
    ) -> dg.ExecuteInProcessResult:
        """From a trained build's feedback to its snapshot, with the planner as Inducer; `misconceptions` as
        in the training's ExerciseConfig, and the try-outs with so many `workers`."""
        # As configuration of the step: a resource that is configured for a run forgets what it was made with.
        ops = {
            "knowledge_candidates": {"config": OF_ROLLOUTS | {"misconceptions": misconceptions}},
            "candidate_tryouts": {"config": {"workers": workers}},
        }
        return self.execute("learn_from_rollouts", build, partition_key=build, ops=ops)

    def take_in_candidates(self, build: str) -> dg.ExecuteInProcessResult:
        """From what was handed in, or imported, for a build to its snapshot."""
        return self.execute("take_in_candidates", build, partition_key=build)

    def keep_knowledge(self, build: str) -> dg.ExecuteInProcessResult:
        """The snapshot of a build that is not learnt from: what it began with."""
        return self.execute("keep_knowledge", build, partition_key=build)

    def evaluate_snapshot(
        self, build: str, groups: Sequence[str], config: Mapping[str, Any]
    ) -> list[dg.ExecuteInProcessResult]:
        """A build's snapshot against the empty store in task groups; `config` is ExerciseConfig."""
        return self._evaluate([build], groups, config)

    def evaluate_snapshots(
        self, of: Sequence[str], groups: Sequence[str], config: Mapping[str, Any]
    ) -> list[dg.ExecuteInProcessResult]:
        """`evaluate_snapshot` of several builds; side by side where Dagster can name them as a range."""
        known = list(self.instance.get_dynamic_partitions(str(builds.name)))
        neighbours = ",".join(of) in ",".join(known) and set(of) <= set(known)
        together = [list(of)] if neighbours and set(groups) == set(PLAYED) else [[build] for build in of]
        return [result for some in together for result in self._evaluate(some, groups, config)]

    def _evaluate(
        self, of: Sequence[str], groups: Sequence[str], config: Mapping[str, Any]
    ) -> list[dg.ExecuteInProcessResult]:
        ops = evaluation_ops(config)
        return [self.execute("evaluate_snapshot", *of, ops=ops, tags=tags) for tags in range_tags(of, groups)]

    def publish_analysis(self) -> dg.ExecuteInProcessResult:
        """Publishes analysis.duckdb."""
        return self.execute("publish_analysis")

    def write_report(self, config: Mapping[str, Any]) -> dg.ExecuteInProcessResult:
        """Writes the report of everything that was evaluated; `config` is ReportConfig."""
        return self.execute("write_report", ops={"loop_report": {"config": dict(config)}})

    def full_study(self, scale: str, workers: int) -> dg.ExecuteInProcessResult:
        """All studies of a scale (pipeline/study_scales.toml) and their page."""
        which: dict[str, Any] = {"scale": scale}
        plays = {name: {"config": which | {"workers": workers}} for name in STUDIES_PLAY}
        return self.execute("full_study", ops=plays | {name: {"config": which} for name in STUDIES_READ})

    def execute(
        self,
        job: str,
        *of: str,
        partition_key: str | None = None,
        ops: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """One run of a job, on these builds. `RunFailedError` unless it ends well."""
        own = dict(self.tags)
        if of:
            self.instance.add_dynamic_partitions(str(builds.name), list(of))
            own[BUILD_TAG] = ", ".join(of)
        end_dead_runs(self.instance)
        run_id = make_new_run_id()
        with _alive(self.instance, run_id):
            result = self.job(job).execute_in_process(
                run_config={
                    "ops": dict(ops or {}),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=self.instance,
                partition_key=partition_key,
                tags=own | dict(tags or {}),
                raise_on_error=False,
                run_id=run_id,
            )
        if not result.success:
            raise _failure(result, job)
        return result


def range_tags(of: Sequence[str], groups: Sequence[str]) -> list[dict[str, str]]:
    """The tags of the runs that work on these groups of a build, one for each stretch of neighbouring groups:
    Dagster knows ranges of partitions, and no sets. Several builds have to be neighbours, and their groups
    all that are played."""
    places = sorted({GROUPS.index(group) for group in groups})
    stretches = [
        [GROUPS[place] for _, place in stretch]
        for _, stretch in groupby(enumerate(places), key=lambda each: each[1] - each[0])
    ]
    return [
        {
            ASSET_PARTITION_RANGE_START_TAG: str(key_of(of[0], stretch[0])),
            ASSET_PARTITION_RANGE_END_TAG: str(key_of(of[-1], stretch[-1])),
        }
        for stretch in stretches
    ]


def evaluation_ops(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of evaluate_snapshot's steps; `config` is ExerciseConfig."""
    ops: dict[str, Any] = {"evaluation_rollouts": {"config": dict(config)}}
    if "suite" in config:
        ops["success_rates"] = {"config": {"suite": config["suite"]}}
    return ops


def import_config(paths: Sequence[Path], format_name: str | None = None) -> dict[str, Any]:
    """ImportConfig for these folders."""
    config: dict[str, Any] = {"paths": [str(path.resolve()) for path in paths]}
    return config if format_name is None else config | {"format": format_name}


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Records the end of runs that were executed in a process that is gone, and frees the places in pools
    that they kept; their ids."""
    ended = []
    for lock in sorted(_locks(instance).glob("*.lock")):
        try:
            with exclusive(lock, str(lock), wait_s=0):
                run = instance.get_run_by_id(lock.stem)
                if run is not None and not run.is_finished:
                    instance.report_run_failed(run, "The process that executed this run is gone.")
                    ended.append(run.run_id)
                instance.event_log_storage.free_concurrency_slots_for_run(lock.stem)
                lock.unlink(missing_ok=True)
        except BusyError:
            continue  # it lives
    return ended


def end_orphans(instance: dg.DagsterInstance) -> list[str]:
    """Records the end of runs whose code server is gone, as after the machine stopped; their ids. Those of a
    server that still answers are left alone. Dagster's own monitoring does not look for runs that were
    launched on this machine, and they would block what waits for them."""
    ended = []
    for run in instance.get_runs(dg.RunsFilter(statuses=_ON_THEIR_WAY)):
        server = json.loads(run.tags.get(GRPC_INFO_TAG, "{}"))
        if server and not _answers(server):
            instance.report_run_failed(run, "The server that this run was launched on is gone.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            ended.append(run.run_id)
    return ended


def _answers(server: Mapping[str, Any]) -> bool:
    """Whether anything listens at the address of a code server."""
    path = server.get("socket")
    address = path or (server.get("host", "localhost"), server["port"])
    with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as connection:
        connection.settimeout(_PATIENCE_S)
        try:
            connection.connect(address)
        except OSError:
            return False
    return True


@contextmanager
def _alive(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Holds the run's lock; it is free again when this process ends, however it ends."""
    lock = _locks(instance) / f"{run_id}.lock"
    with exclusive(lock, f"run {run_id}"):
        yield
        lock.unlink(missing_ok=True)


def _locks(instance: dg.DagsterInstance) -> Path:
    return Path(instance.root_directory) / "alive"


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
        said = said or error_class
        return RunFailedError(f"{what}: {said}", infrastructure=is_infrastructure(error_class))
    return RunFailedError(f"{what}: {message}", "".join(error.stack))
