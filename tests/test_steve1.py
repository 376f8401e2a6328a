"""STEVE-1 with random weights in MineStudio's real simulator, whose game is a model on a loopback port. It
shows that pictures, texts, states and keys go through, and nothing of how well anybody plays."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rollouts.backends import InProcess, stage_kit
from rollouts.protocols import Action, EpisodeSpec, Keys, Subgoal
from rollouts.recorder import EpisodeRecord, plan_shards
from rollouts.rounds import play
from rollouts.worlds.client.settings import Settings
from rollouts.worlds.client.steve1.policy import Policy, PolicySettings
from rollouts.worlds.client.world import ClientWorld
from rollouts.worlds.worker_link import WorkerError
from tests.conftest import ROOT
from tests.fake_world import crew, task
from tests.malmo_game import Meadow, served
from tests.screen_game import ScreenGame
from warehouse.domains import Domain
from warehouse.knowledge import Check

pytestmark = pytest.mark.steve1

WEIGHTS = ROOT / ".venv-minestudio" / "steve1-random"
SETTINGS = PolicySettings(str(WEIGHTS), device="cpu")
TEXTS = ("mine log", "kill cow", "mine log", "dig down")
STEPS = 200


def in_the_simulator(policy: Policy, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[Keys]]:
    """What four episodes are played with, each for so many ticks in a simulator of its own, side by side."""
    with ExitStack() as stack:
        worlds = []
        for number in range(len(TEXTS)):
            game = stack.enter_context(served(Meadow(yaw=-90.0 + 30 * number)))
            for name, value in game.environment(folder).items():
                monkeypatch.setenv(name, value)
            worlds.append(ClientWorld("minestudio", Settings()))
            stack.callback(worlds[-1].close)
            worlds[-1].reset(number)

        def episode(number: int) -> list[Keys]:
            world, done = worlds[number], []
            now = world.step(Action()).observation
            for step in range(STEPS):
                assert now.frame is not None
                done.append(policy.act(f"e{number}", TEXTS[number], 100 + number, step, now.frame))
                now = world.step(Action(keys=done[-1])).observation
            policy.forget(f"e{number}")
            return done

        with ThreadPoolExecutor(len(TEXTS)) as threads:
            return list(threads.map(episode, range(len(TEXTS))))


@pytest.fixture(scope="module")
def policy() -> Iterator[Policy]:
    made = Policy(SETTINGS)
    yield made
    made.close()


def test_four_episodes_in_batches_are_played_as_one_by_one(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = in_the_simulator(policy, tmp_path, monkeypatch)
    one_by_one = Policy(replace(SETTINGS, batch=1))
    alone = in_the_simulator(one_by_one, tmp_path, monkeypatch)
    one_by_one.close()
    for number, (batched, single) in enumerate(zip(together, alone, strict=True)):
        first = next(
            (step for step, pair in enumerate(zip(batched, single, strict=True)) if pair[0] != pair[1]), None
        )
        assert first is None, f"episode {number} differs from tick {first} on"
    assert len({keys for own in together for keys in own}) > 100, "and not all of them the same"


def test_the_text_the_seed_and_the_memory_decide(policy: Policy, tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 255, (12, 128, 128, 3), dtype=np.uint8)

    def played(name: str, text: str = "mine log", seed: int = 1) -> list[Keys]:
        keys = [policy.act(name, text, seed, step, frame) for step, frame in enumerate(frames)]
        policy.forget(name)
        return keys

    assert played("a") == played("b"), "whatever its name"
    assert played("a") != played("a", seed=2)
    once, twice = (
        [policy.act("c", "mine log", 1, step, frame) for step, frame in enumerate(frames)] for _ in range(2)
    )
    assert once == played("a")
    assert twice != once, "what was seen before counts until it is forgotten"


def test_an_episode_from_logs_to_planks_goes_through_all_of_it(
    minecraft: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planks = Subgoal(
        "s1", "craft planks", "craft", "#planks", checks=(Check(type="inv_ge", name="#planks", value=8),)
    )
    pickaxe = Subgoal("s2", "craft a pickaxe without a table", "craft", "wooden_pickaxe", timeout_s=5.0)
    mine = Subgoal("s3", "mine a log", "mine", "oak_log", timeout_s=1.0)
    with served(ScreenGame({4: ("oak_log", 3), 5: ("stick", 4)})) as game:
        for name, value in game.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        spec = EpisodeSpec("b1", "made", "planks", "get planks", "minestudio", 3, 0, 600, None, "c")
        backend = InProcess(
            stage_kit(minecraft, "steve1", {"weights": str(WEIGHTS), "device": "cpu"}, 2), open_at_once=2
        )
        (ended,) = play(
            plan_shards([spec]), backend, crew(minecraft, subgoals=[planks, pickaxe, mine], wanted=task(64))
        )
        backend.close()
    record: EpisodeRecord = ended.record
    crafted, refused, mined = record.attempts[:3]
    assert crafted.run.success is True
    assert crafted.run.inventory_changes.filter(pl.col("item") == "oak_planks")["delta"].sum() == 8
    errors = refused.run.events.filter(pl.col("kind") == "error")
    assert errors["signal"].to_list() == ["missing_station"]
    assert mined.run.ticks.height == 20, "the policy plays until the time is over"
    assert mined.run.ticks["action"].n_unique() > 5


def test_weights_that_are_not_there_say_what_to_put_where(tmp_path: Path) -> None:
    PolicySettings(str(WEIGHTS)).check_here()
    with pytest.raises(ValueError, match=r"no STEVE-1 in .*Put MineStudio's checkpoint there"):
        PolicySettings(str(tmp_path)).check_here()


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_no_processor_instead() -> None:
    one = Policy(PolicySettings(str(WEIGHTS)))
    with pytest.raises(WorkerError, match="PyTorch finds no GPU here"):
        one.act("e", "mine log", 0, 0, np.zeros((128, 128, 3), np.uint8))
