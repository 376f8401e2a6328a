"""The world `minerl`: its worker over MineRL 1.0.2's spaces as they are rebuilt from its documentation
(tests/minerl_spaces.py), and, where its interpreter is at hand, over the real ones of MineRL 0.4.4. It was
not run against the game."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rollouts.attempt import Stage, StageKit
from rollouts.protocols import Action, EpisodeSpec, Keys, Move, Observation, Subgoal
from rollouts.worlds.client.settings import MineRLSettings
from rollouts.worlds.client.world import ClientWorld
from rollouts.worlds.registry import open_at_once, venue_of
from rollouts.worlds.worker_link import WorkerError
from tests.conftest import ROOT
from tests.fake_world import task
from tests.malmo_game import Meadow, served
from warehouse.domains import Domain

Opening = Callable[..., ClientWorld]
REAL = ROOT / ".venv-minerl" / "bin" / "python"


@pytest.fixture
def opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    """Makes worlds whose worker finds the stand-in under the names of MineRL's modules."""
    for name in ("gym", "minerl", "cv2"):
        said = (
            f"import sys\nfrom minerl_spaces import STAND_INS\nsys.modules[__name__] = STAND_INS[{name!r}]\n"
        )
        (tmp_path / f"{name}.py").write_text(said)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(__file__).parent)]))
    monkeypatch.setenv("DISPLAY", ":0")
    made: list[ClientWorld] = []

    def world(says: dict[str, int] | None = None, **settings: object) -> ClientWorld:
        monkeypatch.setenv("STAND_IN", json.dumps(says or {}))
        made.append(ClientWorld("minerl", MineRLSettings.of({"python": sys.executable, **settings})))
        return made[-1]

    yield world
    for each in made:
        each.close()


def test_a_game_is_read_tick_by_tick(opening: Opening) -> None:
    world = opening()
    first = world.reset(7)
    assert (first.tick, first.health, first.hunger, first.gui, first.alive) == (0, 20.0, 19.0, "none", True)
    assert first.inventory == {}, "air is nothing, and so is what there is none of"
    assert first.equipped == "none"
    assert first.slots is None
    assert first.frame is not None
    assert first.frame.shape == (128, 128, 3)
    assert (first.frame[0, 0, 1], first.x) == (7, 0.5), "the seed reaches the game; 20 frames passed in rest"
    assert world.observes == (
        "position",
        "rotation",
        "vitals",
        "gui",
        "inventory",
        "equipped",
        "actions",
        "counters",
    )

    chop = world.step(Action(keys=Keys(("attack", "forward"))), 40)
    assert chop.observation.tick == 10
    assert chop.changes == ((10, "oak_log", 1, 1),)
    assert [(each.kind, each.name, each.count) for each in chop.events] == [
        ("counter", "mine_block:oak_log", 1)
    ]
    assert chop.observation.equipped == "oak_log"
    assert chop.ticks["x"].tolist() == pytest.approx([0.5 + 0.2 * n for n in range(1, 11)])


def test_keys_and_camera_are_just_those_of_the_space(opening: Opening) -> None:
    world = opening()
    world.reset(1)
    turned = world.step(Action(keys=Keys(("hotbar.9", "sneak", "sprint", "use"), -30.0, 179.5))).observation
    assert (turned.pitch, turned.yaw) == (-30.0, 179.5)
    with pytest.raises(WorkerError, match="this environment has no key fly"):
        world.step(Action(keys=Keys(("fly",))))


def test_an_environment_that_tells_little_leaves_the_rest_unknown(opening: Opening) -> None:
    world = opening(environment="MineRLObtainDiamondShovel-v0")
    first = world.reset(3)
    assert np.isnan(first.x)
    assert (first.health, first.alive, first.gui, first.equipped) == (None, None, None, None)
    assert world.observes == ("inventory", "actions")
    chop = world.step(Action(keys=Keys(("attack",))), 40)
    assert chop.changes == ((10, "oak_log", 1, 1),)
    assert chop.events == ()
    assert np.isnan(chop.ticks["x"]).all()


def test_death_ends_of_the_game_and_random_observations(opening: Opening) -> None:
    dead = opening({"dies_at": 25})
    dead.reset(1)
    done = dead.step(Action(), 100)
    assert (done.observation.alive, done.observation.tick) == (False, 5)
    dead.close()
    ended = opening({"ends_at": 25})
    ended.reset(1)
    with pytest.raises(WorkerError, match="not by the player's death"):
        ended.step(Action(), 100)
    broken = opening({"breaks_at": 25})
    broken.reset(1)
    with pytest.raises(WorkerError, match="the game is lost: Connection timed out!"):
        broken.step(Action(), 100)


@pytest.mark.parametrize("tick", [1, 20])
def test_a_game_that_is_lost_in_its_empty_frames_never_began(opening: Opening, tick: int) -> None:
    with pytest.raises(WorkerError, match="the game is lost: Connection timed out!"):
        opening({"breaks_at": tick}).reset(1)
    with pytest.raises(WorkerError, match="the game ended before the player stood there"):
        opening({"ends_at": tick}).reset(1)


def test_without_a_screen_it_needs_a_program_that_makes_one(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = opening()
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WorkerError, match="started by xvfb-run, which is not there: install xvfb"):
        world.reset(1)


class Chopping:
    """Attacks until the world has had enough."""

    name = "chopping"

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        pass

    def act(self, observation: Observation) -> Move | None:
        return Move(Action(keys=Keys(("attack",))), 50)


@pytest.mark.parametrize("environment", ["MineRLHumanSurvival-v0", "MineRLObtainDiamondShovel-v0"])
def test_an_attempt_there_is_recorded_and_unknown_stays_null(
    opening: Opening, minecraft: Domain, environment: str
) -> None:
    world = opening(environment=environment)
    spec = EpisodeSpec("b", "g", "t", "logs", "minerl", 1, 0, 400, None, "c")
    stage = Stage(spec, task(64), StageKit(minecraft, lambda *_: world, lambda *_: Chopping()))
    opened = stage.open()
    full = environment == "MineRLHumanSurvival-v0"
    assert (opened.state["x"] is None, opened.state["health"] is None) == (not full, not full)
    run = stage.run(0, Subgoal("s", "mine logs", "mine", "oak_log", 5, timeout_s=2.0))
    stage.close()
    assert (run.success, run.end_reason, run.end_tick) == (None, "timeout", 40)
    assert run.inventory_changes["delta"].sum() == 4
    assert run.ticks["alive"].null_count() == (0 if full else 40)
    assert run.ticks["x"].null_count() == (0 if full else 40)
    assert run.state_after["near"] is None


@pytest.mark.skipif(not REAL.exists(), reason="needs the interpreter of `make world-minerl`")
def test_the_real_spaces_of_an_older_minerl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Meadow(item="log"), window=(64, 64), old=True) as game:
        for name, value in game.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("DISPLAY", raising=False)
        world = ClientWorld("minerl", MineRLSettings(environment="MineRLObtainDiamond-v0"))
        first = world.reset(11)
        assert game.tokens[0].endswith(":11")
        assert (first.inventory, first.equipped) == ({}, "none")
        assert first.frame is not None
        assert first.frame.shape == (128, 128, 3)
        still = game.commands[0].splitlines()
        assert {"craft none", "craftNearby none", "place none", "equip none"} <= set(still)
        chop = world.step(Action(keys=Keys(("attack", "sprint"), 2.5, -4.0)), 40)
        assert game.game.seen[-1] == (frozenset({"attack", "sprint"}), 2.5, -4.0)  # type: ignore[attr-defined]
        assert chop.changes == ((10, "log", 1, 1),)
        with pytest.raises(WorkerError, match="has no key hotbar"):
            world.step(Action(keys=Keys(("hotbar.1",))))


def test_the_world_is_one_of_minecrafts() -> None:
    there = venue_of("minecraft", "minerl")
    assert (there.executor, open_at_once(there)) == ("steve1", 4)
