"""The Python side of the world `mineflayer`, over a worker without a game."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest

from rollouts.attempt import StageKit
from rollouts.backends import InProcess
from rollouts.protocols import Action, EpisodeSpec
from rollouts.recorder import EpisodeRecord, plan_shards
from rollouts.rounds import play
from rollouts.worlds.mineflayer.executor import MineflayerExecutor
from rollouts.worlds.mineflayer.settings import Settings
from rollouts.worlds.mineflayer.tables import server_tables
from rollouts.worlds.mineflayer.world import MineflayerWorld
from rollouts.worlds.worker_link import WorkerError
from tests.fake_world import chop, crew, spec, task
from tests.test_worker_link import FAKE, gone
from warehouse.domains import Domain, load_domain


def fake(domain: Domain, *fails: str, silence_s: float = 5.0) -> MineflayerWorld:
    settings = Settings(node=sys.executable, commands=fails, silence_s=silence_s, reply_s=10.0)
    return MineflayerWorld(domain, settings, worker=FAKE)


def make_world(each: EpisodeSpec, domain: Domain) -> MineflayerWorld:
    return fake(domain, *each.settings.get("fails", ()), silence_s=3.0)


def make_executor(each: EpisodeSpec, domain: Domain) -> MineflayerExecutor:
    return MineflayerExecutor(domain, 0)


def played(specs: Sequence[EpisodeSpec]) -> list[EpisodeRecord]:
    domain = load_domain("minecraft")
    backend = InProcess(StageKit(domain, make_world, make_executor), open_at_once=2)
    ended = play(plan_shards(specs), backend, crew(domain, subgoals=[chop(1)], wanted=task(1)))
    return sorted((each.record for each in ended), key=lambda record: record.spec.world_seed)


def test_ticks_are_counted_on_and_told_in_the_words_of_the_contract(minecraft: Domain) -> None:
    world = fake(minecraft)
    first = world.reset(7)
    assert (first.tick, first.x, first.gui, first.busy) == (0, 0.5, "none", False)
    assert first.window is not None
    assert first.window.blocks[2, 2, 2] == first.window.palette.index("oak_log")
    errand = {"kind": "mine", "number": 1, "target": "oak_log"}
    some = world.step(Action(errand=errand), 3)
    rest = world.step(Action(errand=errand), 20)
    assert (some.observation.tick, some.observation.busy) == (3, True)
    assert (rest.observation.tick, rest.observation.busy) == (5, False)
    assert rest.ticks["x"].tolist() == pytest.approx([0.9, 1.0])
    assert rest.ticks["action"].tolist() == ["forward", "forward"]
    assert rest.changes == ((5, "oak_log", 1, 1),)
    assert [(each.tick, each.name) for each in rest.events] == [(5, "mine_block:oak_log")]
    assert rest.observation.window is not None
    assert np.array_equal(rest.observation.window.blocks, first.window.blocks), "it is told once"
    assert rest.observation.window.entities[0].name == "cow"
    world.close()


def test_an_error_of_the_game_becomes_a_message_with_a_signal(minecraft: Domain) -> None:
    world = fake(minecraft)
    world.reset(7)
    done = world.step(Action(errand={"kind": "craft", "number": 1, "target": "chest"}), 20)
    assert [(each.name, each.signal) for each in done.events] == [("crafting_table", "missing_station")]
    world.close()


def test_a_world_wants_to_be_reset_and_at_least_a_tick(minecraft: Domain) -> None:
    world = fake(minecraft)
    with pytest.raises(RuntimeError, match="reset the world first"):
        world.step(Action())
    with pytest.raises(ValueError, match="0 ticks"):
        world.step(Action(), 0)
    with pytest.raises(NotImplementedError):
        world.replay([])
    assert world.truths(0) == ()


def test_a_reset_is_a_new_worker(minecraft: Domain) -> None:
    world = fake(minecraft)
    world.reset(1)
    before = world.pid
    assert before is not None
    assert world.reset(1).tick == 0
    assert world.pid != before
    assert gone(before)
    world.close()
    assert world.pid is None


def test_a_worker_that_fails_twice_ends_its_episode_for_the_infrastructure_alone() -> None:
    bad, good = spec(0, fails=("die 3",)), spec(1)
    ended = played([bad, good])
    assert [each.end_reason for each in ended] == ["infrastructure", "success"]
    assert [each.tries for each in ended] == [2, 1]
    (attempt,) = ended[0].attempts
    assert (attempt.run.end_reason, attempt.run.success) == ("infrastructure", None)
    assert "the last words" in attempt.run.events["text"][0]
    assert not workers()


@pytest.mark.parametrize("how", ["die", "silent", "garbage", "fail"])
def test_a_worker_that_fails_once_is_tried_again(how: str, tmp_path: Path) -> None:
    (ended,) = played([spec(0, fails=(f"{how} 3", f"once {tmp_path / 'mark'}"))])
    assert (ended.end_reason, ended.tries) == ("success", 2)
    assert not workers()


def test_no_more_worlds_are_open_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    most = []
    step = MineflayerWorld.step

    def counted(self: MineflayerWorld, action: Action, ticks: int = 1) -> object:
        most.append(len(workers()))
        return step(self, action, ticks)

    monkeypatch.setattr(MineflayerWorld, "step", counted)
    ended = played([spec(seed) for seed in range(5)])
    assert [each.end_reason for each in ended] == ["success"] * 5
    assert max(most) == 2
    assert not workers()


def test_a_world_that_was_killed_in_mid_episode_says_so(minecraft: Domain) -> None:
    world = fake(minecraft)
    world.reset(1)
    world.step(Action(), 2)
    assert world.pid is not None
    os.kill(world.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="exit code -9"):
        world.step(Action(), 2)


def test_the_server_is_told_the_domains_own_rules(minecraft: Domain) -> None:
    tables = server_tables(minecraft)
    assert tables["drops"]["stone"] == ["cobblestone"]
    assert tables["drops"]["iron_ore"] == ["iron_ore"]
    assert "oak_leaves" not in tables["drops"]
    assert "oak_sapling" in tables["rare"]["oak_leaves"]
    assert "wooden_pickaxe" not in tables["tools"]["iron_ore"]
    assert "stone_pickaxe" in tables["tools"]["iron_ore"]
    assert tables["smelting"]["iron_ore"] == "iron_ingot"


def workers() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [each for each in children if FAKE.name in " ".join(_command(each))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
