"""What STEVE-1 is asked and what the hand does, over a model of the game's screens and a policy that only
writes down what it is asked."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

from rollouts.executors.registry import executor
from rollouts.protocols import Keys, Subgoal
from rollouts.worlds.client.steve1.executor import Steve1Executor, text_for
from tests.screen_game import ScreenGame, played, seen
from warehouse.domains import Domain
from warehouse.knowledge import Check


@dataclass
class Listening:
    asked: list[tuple[str, str, int, int]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def act(self, episode: str, text: str, seed: int, step: int, frame: npt.NDArray[np.uint8]) -> Keys:
        self.asked.append((episode, text, seed, step))
        return Keys(("attack",))

    def forget(self, episode: str) -> None:
        self.forgotten.append(episode)


def goal(kind: str, target: str | None, condition: str = "", count: int = 1, *checks: Check) -> Subgoal:
    return Subgoal("s", condition or f"{kind} {target}", kind, target, count, checks=checks)


def run(one: Steve1Executor, game: ScreenGame, subgoal: Subgoal, most: int = 2000) -> int:
    """Carries it out; the ticks until the executor stopped, or `most`."""
    now = seen(game)
    one.start(subgoal, now)
    for tick in range(most):
        move = one.act(now)
        if move is None:
            return tick
        assert move.action.keys is not None
        assert move.ticks == 1
        now = played(game, move.action.keys)
    return most


@pytest.mark.parametrize(
    ("subgoal", "text"),
    [
        (goal("mine", "oak_log"), "mine oak log"),
        (goal("mine", "#logs"), "mine log"),
        (goal("mine", "cobblestone"), "mine stone"),
        (goal("mine", "iron_ore"), "mine iron ore"),
        (goal("combat", "beef"), "kill cow"),
        (goal("mine", "beef"), "kill cow"),
        (goal("move", "village"), "go to village"),
        (goal("move", None, "Dig down to height 12"), "dig down"),
        (goal("move", None, "Walk around for a while"), "walk around for a while"),
    ],
)
def test_steve1_is_told_a_few_words(minecraft: Domain, subgoal: Subgoal, text: str) -> None:
    assert text_for(subgoal, minecraft) == text


def test_what_has_to_be_seen_is_asked_tick_by_tick(minecraft: Domain) -> None:
    policy, game = Listening(), ScreenGame()
    one = Steve1Executor(minecraft, 7, policy)
    run(one, game, goal("mine", "oak_log"), 5)
    run(one, game, goal("combat", "cow"), 3)
    assert [text for _, text, _, _ in policy.asked] == ["mine oak log"] * 5 + ["kill cow"] * 3
    assert [step for _, _, _, step in policy.asked] == list(range(1, 9)), "one count for the whole episode"
    assert {seed for _, _, seed, _ in policy.asked} == {7}
    assert len({episode for episode, _, _, _ in policy.asked}) == 1
    one.close()
    assert policy.forgotten == [policy.asked[0][0]]


def test_two_episodes_are_two(minecraft: Domain) -> None:
    policy = Listening()
    for _ in range(2):
        run(Steve1Executor(minecraft, 7, policy), ScreenGame(), goal("mine", "oak_log"), 1)
    assert len({episode for episode, _, _, _ in policy.asked}) == 2


def test_the_best_tool_is_taken_in_the_hand_before_stone_is_mined(minecraft: Domain) -> None:
    game = ScreenGame({2: ("wooden_pickaxe", 1), 22: ("stone_pickaxe", 1), 0: ("dirt", 3)})
    policy = Listening()
    run(Steve1Executor(minecraft, 0, policy), game, goal("mine", "iron_ore"), 60)
    assert seen(game).equipped == "stone_pickaxe"
    assert policy.asked, "and then it is mined"


def test_crafting_ends_when_so_much_is_held(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_log", 4)})
    one = Steve1Executor(minecraft, 0, Listening())
    run(one, game, goal("craft", "#planks", "", 1, Check(type="inv_ge", name="#planks", value=8)))
    assert game.slots[9 if 9 in game.slots else 1][1] == 8
    assert one.why(seen(game)) is None


def test_giving_up_is_told_with_what_was_missing(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_planks", 8), 1: ("stick", 4)})
    one = Steve1Executor(minecraft, 0, Listening())
    assert run(one, game, goal("craft", "wooden_pickaxe")) < 10
    why = one.why(seen(game))
    assert why is not None
    assert (why.kind, why.name, why.signal) == ("error", "crafting_table", "missing_station")


def test_a_craft_that_was_cut_short_is_tidied_up_first(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_planks", 8), 1: ("stick", 4), 2: ("crafting_table", 1)})
    policy = Listening()
    one = Steve1Executor(minecraft, 0, policy)
    now = seen(game)
    one.start(goal("craft", "wooden_pickaxe"), now)
    while now.inventory.get("wooden_pickaxe", 0) == 0:  # where the subgoal's check ends the attempt
        move = one.act(now)
        assert move is not None
        assert move.action.keys is not None
        now = played(game, move.action.keys)
    assert game.screen == "crafting_table"
    run(one, game, goal("mine", "oak_log"), 200)
    assert game.screen is None
    assert game.ahead is None
    assert seen(game).inventory["crafting_table"] == 1
    assert policy.asked[-1][1] == "mine oak log"


@pytest.mark.parametrize("tools", [{}, {3: ("wooden_pickaxe", 1)}])
@pytest.mark.parametrize("after", [1, 30, 60, 150, 500])
def test_what_is_cut_short_goes_on_no_longer_than_to_be_put_back(
    minecraft: Domain, after: int, tools: dict[int, tuple[str, int]]
) -> None:
    game = ScreenGame({0: ("iron_ore", 8), 1: ("coal", 2), 2: ("furnace", 1), **tools})
    policy = Listening()
    one = Steve1Executor(minecraft, 0, policy)
    run(one, game, goal("smelt", "iron_ingot", count=8), after)
    run(one, game, goal("mine", "oak_log"), 10)
    run(one, game, goal("mine", "birch_log"), 150)
    assert policy.asked[-1][1] == "mine birch log", "and one more subgoal does not keep it from that"
    assert seen(game).inventory.get("iron_ore", 0) + seen(game).inventory.get("iron_ingot", 0) == 8
    assert game.screen is None
    assert not game.lost
    assert game.ahead == (None if tools or after == 1 else "furnace")


def test_a_thing_is_put_down_worn_or_eaten(minecraft: Domain) -> None:
    game = ScreenGame({20: ("crafting_table", 1), 3: ("iron_helmet", 1), 4: ("bread", 1)})
    one = Steve1Executor(minecraft, 0, Listening())
    run(one, game, goal("use", "crafting_table", "Place the crafting table"))
    assert game.ahead == "crafting_table"
    run(one, game, goal("use", "iron_helmet", "Equip the helmet"))
    assert seen(game).equipped == "iron_helmet"
    run(one, game, goal("use", "bread", "Eat the bread"))
    assert "bread" not in seen(game).inventory
    assert game.screen is None, "it looked up from the table"
    assert one.why(seen(game)) is None


@pytest.mark.parametrize("dx", [0.0, 1.5, -1.5])
def test_a_station_that_was_put_down_is_used_where_it_stands(minecraft: Domain, dx: float) -> None:
    game = ScreenGame({0: ("oak_planks", 3), 1: ("stick", 2), 2: ("crafting_table", 1)}, yaw=30.0)
    one = Steve1Executor(minecraft, 0, Listening())
    run(one, game, goal("use", "crafting_table", "Place the crafting table"))
    game.x, game.yaw, game.pitch = game.x + dx, game.yaw + 200, 0.0
    run(one, game, goal("craft", "wooden_pickaxe"))
    assert one.why(seen(game)) is None
    assert seen(game).inventory == {"wooden_pickaxe": 1, "crafting_table": 1}, "and taken along again"
    run(one, game, goal("use", "crafting_table", "Open the crafting table"))
    assert game.screen == "crafting_table"


@pytest.mark.parametrize("far", [True, False])
def test_one_that_is_out_of_reach_or_gone_is_missing(minecraft: Domain, far: bool) -> None:
    game = ScreenGame({0: ("oak_planks", 3), 1: ("stick", 2), 2: ("crafting_table", 1)})
    one = Steve1Executor(minecraft, 0, Listening())
    run(one, game, goal("use", "crafting_table", "Place the crafting table"))
    if far:
        game.x += 9.0
    else:
        game.cells.clear()
    run(one, game, goal("craft", "wooden_pickaxe"))
    why = one.why(seen(game))
    assert why is not None
    assert (why.name, why.signal) == ("crafting_table", "missing_station")
    assert game.screen is None


def test_what_can_not_be_eaten_is_told(minecraft: Domain) -> None:
    game = ScreenGame({0: ("apple", 1)})
    one = Steve1Executor(minecraft, 0, Listening())
    run(one, game, goal("use", "apple", "Eat the apple"))
    why = one.why(seen(game))
    assert why is not None
    assert why.signal == "result_failed"


def test_a_world_without_slots_is_played_by_the_policy_alone(minecraft: Domain) -> None:
    policy = Listening()
    one = Steve1Executor(minecraft, 0, policy)
    blind = seen(ScreenGame({0: ("oak_log", 1)}))._replace(slots=None)
    one.start(goal("craft", "#planks"), blind)
    assert one.act(blind) is None
    why = one.why(blind)
    assert why is not None
    assert "slots" in (why.text or "")
    blind = blind._replace(gui=None)
    one.start(goal("mine", "oak_log"), blind)
    move = one.act(blind)
    assert move is not None
    assert move.action.keys == Keys(("attack",)), "no screen is closed of which nothing is told"


def test_the_registry_says_what_it_needs(minecraft: Domain) -> None:
    with pytest.raises(ValueError, match="needs the setting weights"):
        executor("steve1", minecraft, 0, "minestudio")
    with pytest.raises(ValueError, match="scripted has no setting weights"):
        executor("scripted", minecraft, 0, "techtree", {"weights": "/w"})
