"""Runs in this process: one that was killed must neither block the next nor look alive."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import GRPC_INFO_TAG

from pipeline import launch
from pipeline.definitions import definitions
from pipeline.in_process import InProcess, RunFailedError, end_dead_runs
from pipeline.settings import Settings
from tests.conftest import ROOT
from tests.test_pipeline import recordings
from warehouse.database import BusyError
from warehouse.snapshots import published_snapshot

DIES_WHILE_IT_HOLDS_THE_POOL = """
import os, sys
from pathlib import Path
import assets.curated_knowledge
from pipeline import launch
from pipeline.settings import Settings
assets.curated_knowledge.fold_build = lambda *_: os._exit(9)
launch.learn_knowledge(Settings(data=Path(sys.argv[1])), "0000")
"""


def test_a_killed_run_is_ended_and_gives_its_place_in_the_pool_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = Settings(data=home)
    launch.import_traces(settings, "0000", [recordings(tmp_path / "run")])
    command = [sys.executable, "-c", DIES_WHILE_IT_HOLDS_THE_POOL, str(home)]
    assert subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode == 9
    launch.learn_knowledge(settings, "0000")  # it waited for ever
    assert published_snapshot(home, "0000") is not None
    with dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance:
        runs = instance.get_runs(dg.RunsFilter(job_name="learn_knowledge"))
        assert [run.status.value for run in runs] == ["SUCCESS", "FAILURE"]
        assert end_dead_runs(instance) == []


def test_a_run_is_ended_whose_server_is_gone_and_no_other(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "home")
    job = definitions(settings).resolve_job_def("publish_analysis")
    started = dg.DagsterRunStatus.STARTED

    def launched(server: dict[str, str | int]) -> str:
        tags = {GRPC_INFO_TAG: json.dumps(server)} if server else {}
        return instance.create_run_for_job(job, tags=tags, status=started).run_id

    with (
        dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        gone = [launched({"host": "localhost", "socket": str(tmp_path / "none")})]
        alive = [launched({"host": "127.0.0.1", "port": server.getsockname()[1]}), launched({})]
        assert launch.end_orphans(settings) == gone
        status = {run.run_id: run.status.value for run in instance.get_runs()}
    assert status == dict.fromkeys(gone, "FAILURE") | dict.fromkeys(alive, "STARTED")


@pytest.mark.parametrize(
    ("error", "infrastructure"),
    [(BusyError("kept"), True), (ConnectionResetError("gone"), True), (FileNotFoundError("x"), False),
     (ValueError("wrong"), False)],
)  # fmt: skip
def test_only_a_failure_of_the_infrastructure_is_called_one(error: Exception, infrastructure: bool) -> None:
    @dg.op
    def fails() -> None:
        raise error

    @dg.job
    def failing() -> None:
        fails()

    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(RunFailedError) as failed:
        InProcess(lambda _: failing, instance).execute("failing")
    assert failed.value.infrastructure is infrastructure
    assert str(error) in str(failed.value)
