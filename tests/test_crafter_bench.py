"""The bench of Crafter: both ways play the same actions, and every figure is of steps that were made."""

from pathlib import Path

import pytest

from bench.crafter import action_of, drawn, measure
from rollouts.protocols import Action
from rollouts.worlds.crafter.game import ACTIONS
from rollouts.worlds.crafter.settings import Settings
from rollouts.worlds.crafter.world import CrafterWorld
from warehouse.domains import load_domain


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_action_of_the_game_is_the_same_through_our_world(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = CrafterWorld(load_domain("crafter"), Settings(images=False))
    world.reset(3)
    asked: list[int] = []
    monkeypatch.setattr(world.game, "step", asked.append)
    world.step(action_of(name))
    world.step(Action())
    assert asked == [ACTIONS[name], ACTIONS["noop"]]


def test_a_seed_draws_the_same_actions() -> None:
    assert drawn(1, 50) == drawn(1, 50)
    assert drawn(1, 50) != drawn(2, 50)
    assert set(drawn(1, 2000)) == set(ACTIONS)


def test_a_small_run_has_all_figures(tmp_path: Path) -> None:
    found = measure(tmp_path, episodes=2, steps=20, tasks=("wood_00", "stone_00"))
    assert found.steps == 40
    assert [loop.workers for loop in found.loops] == [0, 2]
    assert {loop.episodes for loop in found.loops} == {2}
    assert len({loop.steps for loop in found.loops}) == 1, (
        "the number of processes does not show in what is played"
    )
    assert found.share == found.recorded / found.bare > 0
