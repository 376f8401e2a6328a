"""Worlds in processes: the same bytes whatever their number; nothing lost or left when they are killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psutil
import pytest

from prompts.engines.rules import RulesStandIn
from prompts.language_model import LanguageModel
from prompts.tokens import PieceCounter
from rollouts.agent import Parts, agent_row
from rollouts.attempt import Opening, StageKit
from rollouts.backends import (
    Addressed,
    Done,
    Go,
    InProcess,
    LocalPool,
    Lost,
    Open,
    RolloutBackend,
    WorkerCrashedError,
    local_pool,
    stage_kit,
)
from rollouts.protocols import EpisodeSpec, Executor
from rollouts.recorder import Batch, EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import Crew, crew_of, play, roll_out
from rollouts.worlds.registry import UnknownWorldError, world
from tests.conftest import ROOT
from tests.fake_world import FakeWorld, chop, crew, kit, make_world, spec, task
from warehouse.domains import Domain
from warehouse.tasks import Suite, Task
from warehouse.trace_store import trace_store

EPISODES = 40


def contents(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def until(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.02)):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds:g} s for {what}")


def records(specs: list[EpisodeSpec], backend: RolloutBackend, loop: Crew) -> list[EpisodeRecord]:
    return [each.record for each in play(plan_shards(specs), backend, loop)]


@pytest.fixture(scope="module")
def whole(minecraft: Domain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A batch that was played in one go, in this process."""
    home = tmp_path_factory.mktemp("whole")
    specs = [spec(seed) for seed in range(EPISODES)]
    roll_out([Batch(home, "run", specs)], InProcess(kit(minecraft)), crew(minecraft))
    return home


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_processes_cannot_be_seen_in_a_byte(
    workers: int, whole: Path, tmp_path: Path, minecraft: Domain
) -> None:
    specs = [spec(seed) for seed in range(EPISODES)]
    with local_pool(kit(minecraft), workers) as pool:
        assert pool.side_by_side == workers
        pids = pool.pids
        roll_out([Batch(tmp_path, "run", specs)], pool, crew(minecraft))
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert contents(tmp_path) == contents(whole)


def test_a_batch_that_was_killed_goes_on_to_the_same_result(whole: Path, tmp_path: Path) -> None:
    command = (
        f"from tests.fake_world import main; main({str(tmp_path)!r}, {EPISODES}, workers=1, pause_s=0.01)"
    )
    process = subprocess.Popen([sys.executable, "-c", command], cwd=ROOT)
    try:
        until(lambda: any(tmp_path.rglob("manifest.json")), "the first shard")
        workers = psutil.Process(process.pid).children(recursive=True)
        assert workers
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    committed = list(tmp_path.glob("rollouts/*/*/*/*/manifest.json"))
    assert len(committed) < 3, "the batch was over before it was killed"
    until(lambda: not any(_runs(worker) for worker in workers), "the workers of the killed batch")
    assert trace_store(tmp_path).builds() == []
    subprocess.run([sys.executable, "-c", command.replace("pause_s=0.01", "pause_s=0")], cwd=ROOT, check=True)
    assert contents(tmp_path) == contents(whole)


def _runs(process: psutil.Process) -> bool:
    # A child whose parent is gone may stay a zombie where nothing reaps orphans.
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_worker_that_dies_once_costs_nothing_but_time(tmp_path: Path, minecraft: Domain) -> None:
    specs = [spec(seed) for seed in range(8)]
    fatal = [*specs[:5], spec(5, kill_at=30, kill_once=True, kill_process=str(tmp_path / "mark")), *specs[6:]]
    plain = records(specs, InProcess(kit(minecraft)), crew(minecraft))
    with local_pool(kit(minecraft), 1) as pool:
        first = pool.pids
        survived = records(fatal, pool, crew(minecraft))
        assert pool.pids != first
    assert not psutil.pid_exists(first[0])
    assert max(record.tries for record in survived) == 2
    for name, frame in trace_of(plain).frames().items():
        assert frame.equals(trace_of(survived).frames()[name]), name


def test_a_world_that_always_kills_its_process_is_infrastructure(tmp_path: Path, minecraft: Domain) -> None:
    specs = [spec(0), spec(1, kill_at=30, kill_process=str(tmp_path / "never")), spec(2)]
    with local_pool(kit(minecraft), 1) as pool:
        ended = {each.spec.world_seed: each for each in records(specs, pool, crew(minecraft))}
    lost = ended[1]
    assert (lost.end_reason, lost.tries) == ("infrastructure", 2)
    assert lost.attempts[-1].run.end_reason == "infrastructure"
    assert "exit code -9" in lost.attempts[-1].run.events["text"][0]


def test_a_worker_that_is_killed_between_rounds_is_noticed(minecraft: Domain) -> None:
    with local_pool(kit(minecraft), 1) as pool:
        (opened,) = pool.play([Addressed("s", "e", Open(spec(), task()))])
        assert isinstance(opened.report, Opening)
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        until(lambda: not _runs(psutil.Process(pid)) if psutil.pid_exists(pid) else True, "its end")
        (lost,) = pool.play([Addressed("s", "e", Go(0, chop(1)))])
        assert isinstance(lost.report, Lost)
        (again,) = pool.play([Addressed("s", "e", Open(spec(), task()))])
        assert isinstance(again.report, Opening)


def test_an_error_of_our_own_is_no_infrastructure(minecraft: Domain) -> None:
    broken = StageKit(minecraft, make_world, broken_executor)
    with pytest.raises(ZeroDivisionError):
        records([spec()], InProcess(broken), crew(minecraft))
    with local_pool(broken, 1) as pool, pytest.raises(WorkerCrashedError, match="ZeroDivisionError"):
        records([spec()], pool, crew(minecraft))


def test_an_error_is_told_although_more_orders_wait(minecraft: Domain) -> None:
    broken = StageKit(minecraft, make_world, broken_executor)
    with local_pool(broken, 1) as pool:
        first = pool.play([Addressed("s", "e", Open(spec(), task()))])
        pool.play([Addressed("s", "f", Open(spec(1), task()))])
        with pytest.raises(WorkerCrashedError, match="ZeroDivisionError"):
            list(first)


def test_reports_come_in_the_order_of_the_orders_whatever_waits(minecraft: Domain) -> None:
    with local_pool(kit(minecraft), 1) as pool:
        first = pool.play([Addressed("s", "e", Open(spec(), task()))])
        second = pool.play([Addressed("s", "f", Open(spec(1), task()))])
        assert [each.episode_id for each in first] == ["e"]
        assert [each.episode_id for each in second] == ["f"]


def test_a_death_is_told_to_all_who_wait(minecraft: Domain) -> None:
    with local_pool(kit(minecraft), 1) as pool:
        (opened,) = pool.play([Addressed("s", "e", Open(spec(), task()))])
        assert isinstance(opened.report, Opening)
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        until(lambda: not _runs(psutil.Process(pid)) if psutil.pid_exists(pid) else True, "its end")
        first = pool.play([Addressed("s", "e", Go(0, chop(1)))])
        second = pool.play([Addressed("s", "f", Go(0, chop(1)))])
        lost = [*first, *second]
        assert [each.episode_id for each in lost] == ["e", "f"]
        assert all(isinstance(each.report, Lost) for each in lost)


def broken_executor(spec: EpisodeSpec, domain: Domain) -> Executor:
    raise ZeroDivisionError("a mistake")


def test_a_finished_shard_is_forgotten(minecraft: Domain) -> None:
    for backend in (InProcess(kit(minecraft)), LocalPool(kit(minecraft), 1)):
        (opened,) = backend.play([Addressed("s", "e", Open(spec(), task()))])
        assert isinstance(opened.report, Opening)
        backend.finish(Done("s"))
        (report,) = backend.play([Addressed("s", "e", Go(0, chop(1)))])
        assert isinstance(report.report, Lost)
        if isinstance(backend, LocalPool):
            backend.close()


def test_a_pool_needs_a_worker(minecraft: Domain) -> None:
    with pytest.raises(ValueError, match="needs a worker"):
        LocalPool(kit(minecraft), 0)


def test_worlds_are_found_by_name_and_say_what_can_be_set(minecraft: Domain) -> None:
    assert world("techtree", minecraft, {"ground": "flat"}).name == "techtree"
    with pytest.raises(UnknownWorldError, match=r"no world 'nowhere'; there are: .*techtree"):
        world("nowhere", minecraft, {})
    with pytest.raises(UnknownWorldError, match="techtree has no setting gravity; it has: messages, ground"):
        world("techtree", minecraft, {"gravity": 2})
    assert FakeWorld.name == "fake"


def test_the_built_in_world_gives_the_same_bytes_in_processes(tmp_path: Path, minecraft: Domain) -> None:
    row = agent_row("full")
    parts = Parts.of(row, minecraft, [], PieceCounter())
    logs = Task(
        id="table",
        group="wooden",
        kind="craft",
        instruction="Craft a crafting table",
        horizon_ticks=1200,
        any_of=("crafting_table",),
        count=1,
        verifiable_by="inventory",
        accepted=frozenset({"crafting_table"}),
    )
    suite = Suite(source="test", rule="test", ticks_per_minute=1200, tasks=(logs,))

    @cache
    def model(role: str, seed: int) -> LanguageModel:
        return RulesStandIn(minecraft, seed=seed)

    loop = crew_of(parts, suite, model)
    chosen = row.config_hash("techtree", {})
    specs = [
        EpisodeSpec("b1", "wooden", "table", logs.instruction, "techtree", seed, 0, 1200, None, chosen)
        for seed in range(18)
    ]
    made = stage_kit(minecraft, row.executor)
    roll_out([Batch(tmp_path / "one", "run", specs)], InProcess(made), loop)
    with local_pool(made, 2) as pool:
        roll_out([Batch(tmp_path / "two", "run", specs)], pool, loop)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    episodes = trace_store(tmp_path / "one").scan("episodes").collect()
    assert episodes["success"].any()
