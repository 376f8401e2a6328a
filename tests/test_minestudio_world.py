"""The world `minestudio` over MineStudio's real simulator, whose game is a stub on a loopback port: the exact
actions and observations of MineStudio 1.1.6. It was not run against the game."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rollouts.protocols import Action, Keys, Observation
from rollouts.worlds.client.settings import Settings
from rollouts.worlds.client.world import ClientWorld
from rollouts.worlds.worker_link import WorkerError
from tests.malmo_game import Game, Meadow, Served, served
from tests.test_worker_link import gone

pytestmark = pytest.mark.steve1

Playing = Callable[..., tuple[ClientWorld, Served]]


@pytest.fixture
def playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Playing]:
    """A world in which a game is played, and the game's side of it; both are closed at the end."""
    opened = []

    def play(game: Game, **settings: object) -> tuple[ClientWorld, Served]:
        context = served(game)
        side = context.__enter__()
        for name, value in side.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        world = ClientWorld("minestudio", Settings.of(settings))
        opened.append((world, context))
        return world, side

    yield play
    for world, context in opened:
        world.close()
        context.__exit__(None, None, None)


def test_a_game_is_read_tick_by_tick(playing: Playing) -> None:
    world, _ = playing(Meadow())
    first = world.reset(7)
    assert isinstance(first, Observation)
    assert (first.tick, first.health, first.hunger, first.gui, first.inventory) == (0, 20.0, 18.0, "none", {})
    assert first.equipped == "none"
    assert first.slots == {}
    assert first.frame is not None
    assert (first.frame.shape, first.frame.dtype) == ((128, 128, 3), np.uint8)
    assert "position" in world.observes
    assert "counters" in world.observes
    assert "messages" not in world.observes
    assert "sightings" not in world.observes

    walk = world.step(Action(forward=1), 5)
    assert walk.observation.tick == 5
    assert walk.ticks["x"].tolist() == pytest.approx([first.x + 0.2 * n for n in range(1, 6)])
    assert set(walk.ticks["action"]) == {"forward"}
    assert walk.observation.frame is not None
    assert not np.array_equal(walk.observation.frame, first.frame)

    chop = world.step(Action(keys=Keys(("attack",))), 40)
    assert chop.observation.tick == 15, "a step ends when something came into the hand"
    assert chop.changes == ((15, "oak_log", 1, 1),)
    assert [(each.tick, each.kind, each.name, each.count) for each in chop.events] == [
        (15, "counter", "mine_block:oak_log", 1)
    ], "a total that rose; one that counts every tick tells nothing"
    assert chop.observation.slots == {0: ("oak_log", 1)}
    assert chop.observation.equipped == "oak_log"


def test_the_seed_and_the_noop_frames_reach_the_game(playing: Playing) -> None:
    world, side = playing(Meadow())
    world.reset(41)
    assert side.tokens[0].endswith(":41")
    assert len(side.commands) == 20, "the frames that are still empty are passed over"
    assert all(held == frozenset() for held, _, _ in side.game.seen)  # type: ignore[attr-defined]


def test_keys_reach_the_game_as_they_are_named(playing: Playing) -> None:
    world, side = playing(Meadow())
    world.reset(1)
    world.step(Action(keys=Keys(("attack", "forward", "hotbar.3", "sneak", "sprint", "use"), -3.5, 12.0)))
    assert side.game.seen[-1] == (  # type: ignore[attr-defined]
        frozenset({"attack", "forward", "hotbar.3", "sneak", "sprint", "use"}),
        pytest.approx(-3.5),
        pytest.approx(12.0),
    )
    with pytest.raises(WorkerError, match="no such key: fly"):
        world.step(Action(keys=Keys(("fly",))))


def test_a_view_is_turned_the_short_way_in_a_tick_of_its_own(playing: Playing) -> None:
    world, _ = playing(Meadow(yaw=170.0))
    world.reset(1)
    turned = world.step(Action(yaw=-170.0, pitch=10.0), 8)
    assert turned.observation.tick == 1
    assert turned.observation.yaw == pytest.approx(190.0)
    assert turned.observation.pitch == pytest.approx(10.0)
    assert turned.ticks["action"].tolist() == ["camera"]


def test_a_screen_that_its_key_opened_is_the_inventory(playing: Playing) -> None:
    world, _ = playing(Meadow())
    world.reset(1)
    opened = world.step(Action(keys=Keys(("inventory",))), 9)
    assert (opened.observation.tick, opened.observation.gui) == (1, "inventory")
    assert world.step(Action(keys=Keys(("inventory",))), 9).observation.gui == "none"
    world.step(Action(keys=Keys(("use",))))
    assert world.step(Action(keys=Keys(("inventory",)))).observation.gui == "other", "it may be a station's"


def test_death_is_told_and_any_other_end_is_the_environments(playing: Playing) -> None:
    world, _ = playing(Meadow(dies_at=25))
    world.reset(1)
    dead = world.step(Action(), 100)
    assert dead.observation.alive is False
    assert [(each.kind, each.name, each.signal) for each in dead.events] == [("game", "died", "died")]
    world.close()
    ended, _ = playing(Meadow(ends_at=25))
    ended.reset(1)
    with pytest.raises(WorkerError, match="not by the player's death"):
        ended.step(Action(), 100)


def test_a_broken_connection_is_an_error_and_no_observation(playing: Playing) -> None:
    world, _ = playing(Meadow(breaks_at=25))
    world.reset(1)
    # The simulator draws an observation at random then; with a newer numpy it fails at that.
    with pytest.raises(WorkerError, match=r"the game is lost|np\.dtype"):
        world.step(Action(), 100)
    world.close()
    # At the last of the frames after a reset; the game was at its first tick before that.
    early, _ = playing(Meadow(breaks_at=21))
    with pytest.raises(WorkerError, match=r"the game is lost|np\.dtype"):
        early.reset(1)


def test_it_films_what_the_window_shows(playing: Playing, tmp_path: Path) -> None:
    world, _ = playing(Meadow(), film=str(tmp_path / "films"))
    world.film_as("e1")
    world.reset(1)
    world.step(Action(forward=1), 10)
    world.close()
    film = tmp_path / "films" / "e1.mp4"
    assert film.read_bytes()[4:8] == b"ftyp"
    assert [path.name for path in film.parent.iterdir()] == ["e1.mp4"]


def test_no_process_is_left(playing: Playing) -> None:
    world, _ = playing(Meadow())
    world.reset(1)
    pid = world.pid
    assert pid is not None
    world.close()
    assert gone(pid)


def test_it_says_what_the_game_is_started_by(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    world, side = playing(Meadow())
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WorkerError, match="started by xvfb-run, which is not there: install xvfb"):
        world.reset(1)
    monkeypatch.setenv("MINESTUDIO_GPU_RENDER", "1")
    with pytest.raises(WorkerError, match="install VirtualGL"):
        world.reset(1)
    assert side.missions == []


def test_it_says_where_the_game_has_to_be(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    world, side = playing(Meadow())
    empty = Path(os.environ["MINESTUDIO_DIR"]).with_name("empty")
    monkeypatch.setenv("MINESTUDIO_DIR", str(empty))
    with pytest.raises(
        WorkerError, match=r"no game in .*empty: set MINESTUDIO_DIR .* minestudio.simulator.entry"
    ):
        world.reset(1)
    assert side.missions == []
