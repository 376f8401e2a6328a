"""Why an attempt failed, by the world itself: a cause is put into the world, and the world names it."""

from collections.abc import Mapping

import pytest

from rollouts.protocols import Action, Insider, Trial
from rollouts.worlds.techtree import TechTree
from tests.fake_world import FakeWorld
from tests.techtree_stage import DOWN, GROUND, creature, flat, give, hold, operate, wall

START = 1


def why(
    world: TechTree, kind: str, target: str | None, end: str = "agent_stopped", since: int = START
) -> str:
    truth = world.verdict(Trial(kind, target, since, end))
    assert truth.scope == "attempt"
    return truth.failure_type


def test_techtree_is_an_insider_and_a_world_without_inner_truth_is_none() -> None:
    assert isinstance(flat(), Insider)
    assert not isinstance(FakeWorld(), Insider)


@pytest.mark.parametrize(
    ("held", "item", "expected"),
    [
        ({"oak_planks": 3, "stick": 2}, "wooden_pickaxe", "MISSING_STATION"),
        ({}, "wooden_pickaxe", "MISSING_STATION"),
        ({}, "stick", "MISSING_INGREDIENT"),
        ({"dirt": 1}, "dirt", "INVALID_ACTION"),
        ({}, "no_such_item", "INVALID_ACTION"),
    ],
)
def test_a_refused_craft(held: Mapping[str, int], item: str, expected: str) -> None:
    world = flat()
    give(world, **held)
    operate(world, Action(craft=item))
    assert why(world, "craft", item) == expected


def test_a_refusal_that_goes_on_is_one_of_the_next_attempt_too() -> None:
    world = flat()
    operate(world, Action(craft="stick"))
    since = int(world.play.body["tick"]) + 1
    operate(world, Action(craft="stick"))
    assert [truth.tick < since for truth in world.truths(0)] == [True] * len(world.truths(0)), "noted once"
    assert why(world, "craft", "stick", since=since) == "MISSING_INGREDIENT"


def test_what_an_earlier_attempt_was_refused_is_none_of_this() -> None:
    world = flat()
    operate(world, Action(craft="stick"))
    hold(world, Action(), 30)
    since = int(world.play.body["tick"]) + 1
    hold(world, Action(), 30)
    assert why(world, "craft", "stick", since=since) == "NO_ACTION"


@pytest.mark.parametrize(
    ("held", "station", "expected"),
    [
        ({"iron_ore": 1}, True, "NO_FUEL"),
        ({"iron_ore": 1}, False, "MISSING_STATION"),
        ({}, True, "MISSING_INGREDIENT"),
    ],
)
def test_fuel_is_missing_only_beside_input_and_furnace(
    held: Mapping[str, int], station: bool, expected: str
) -> None:
    world = flat()
    give(world, **held)
    if station:
        wall(world, "furnace", (66, GROUND, 64))
    operate(world, Action(smelt=("iron_ore", "coal")))
    assert why(world, "smelt", "iron_ingot") == expected


def test_a_cold_furnace_with_something_else_in_it_takes_nothing() -> None:
    world = flat()
    give(world, sand=1, iron_ore=1, coal=2, oak_planks=1)
    wall(world, "furnace", (66, GROUND, 64))
    operate(world, Action(smelt=("sand", "oak_planks")))
    hold(world, Action(), 100)
    since = int(world.play.body["tick"]) + 1
    operate(world, Action(smelt=("iron_ore", "coal")))
    operate(world, Action(collect=True))
    assert why(world, "smelt", "iron_ingot", since=since) == "SMELT_FAIL"


def test_only_blocks_of_the_target_need_a_tool() -> None:
    world = flat()
    wall(world, "stone", (64, GROUND - 1, 64))
    hold(world, Action(attack=True, pitch=DOWN), 200)
    assert why(world, "mine", "cobblestone") == "MISSING_TOOL"
    assert why(world, "mine", "oak_log") != "MISSING_TOOL"


def test_what_lay_in_view_and_was_never_touched_was_not_reached() -> None:
    world = flat()
    wall(world, "oak_log", (64, GROUND, 71))
    hold(world, Action(yaw=180.0, forward=1), 30)
    assert why(world, "mine", "oak_log") == "TARGET_UNREACHABLE"
    assert why(world, "mine", "diamond_ore") != "TARGET_UNREACHABLE"


def test_what_never_came_into_view_on_a_long_way_was_not_found() -> None:
    world = flat()
    hold(world, Action(yaw=0.0, forward=1), 20)
    assert why(world, "mine", "oak_log") == "UNKNOWN", "a few steps are no search"
    hold(world, Action(yaw=0.0, forward=1), 100)
    assert why(world, "mine", "oak_log") == "TARGET_NOT_FOUND"
    assert why(world, "combat", "cow") == "TARGET_NOT_FOUND"
    assert why(world, "use", "villager") == "TARGET_NOT_FOUND"


def test_a_creature_that_was_seen_was_found() -> None:
    world = flat()
    creature(world, "cow", 64.5, 70.5)
    for _ in range(5):
        hold(world, Action(yaw=180.0, forward=1), 20)
    assert why(world, "combat", "cow") == "TARGET_UNREACHABLE"


def test_a_block_that_was_struck_was_reached() -> None:
    world = flat()
    wall(world, "oak_log", (64, GROUND + 1, 65))
    hold(world, Action(yaw=0.0, pitch=0.0, attack=True), 10)
    hold(world, Action(yaw=180.0, forward=1), 30)
    assert why(world, "mine", "oak_log") == "UNKNOWN"


def test_a_drop_that_lies_there_still_was_left() -> None:
    world = flat()
    wall(world, "oak_log", (64, GROUND + 1, 67))
    hold(world, Action(yaw=0.0, pitch=0.0, attack=True), 70)
    assert world.play.block((64, GROUND + 1, 67)) == "air"
    assert why(world, "mine", "oak_log") == "TARGET_UNREACHABLE"
    assert why(world, "mine", "oak_log", "timeout") == "TIMEOUT", "it broke just now"


def cage(world: TechTree) -> None:
    wall(
        world,
        "bedrock",
        *((64 + i, GROUND + dy, 64 + k) for i in (-1, 0, 1) for k in (-1, 0, 1) for dy in (0, 1) if i or k),
    )


def test_pressing_on_in_a_cage_is_being_stuck() -> None:
    world = flat()
    cage(world)
    hold(world, Action(yaw=0.0, forward=1), 120)
    assert why(world, "move", None) == "NAV_STUCK"
    assert why(world, "move", None, "timeout") == "NAV_STUCK"


def test_what_was_got_past_is_no_reason() -> None:
    world = flat()
    wall(world, "bedrock", *((64 + i, GROUND + dy, 66) for i in (-1, 0, 1) for dy in (0, 1)))
    hold(world, Action(yaw=0.0, forward=1), 120)
    hold(world, Action(yaw=180.0, forward=1), 40)
    assert why(world, "move", None, "timeout") == "TIMEOUT"
    hold(world, Action(yaw=180.0, forward=1), 60)
    assert why(world, "move", None) == "UNKNOWN"


def test_an_open_screen_in_which_nothing_changes() -> None:
    world = flat()
    wall(world, "crafting_table", (64, GROUND + 1, 66))
    hold(world, Action(use=True, yaw=0.0, pitch=0.0), 1)
    hold(world, Action(forward=1), 150)
    assert why(world, "mine", "oak_log") == "GUI_STALL"


def test_a_death_comes_before_all_else() -> None:
    world = flat()
    operate(world, Action(craft="stick"))
    world.play.body["health"] = 1.0
    wall(world, "lava", (64, GROUND, 64))
    hold(world, Action(), 30)
    assert why(world, "craft", "stick", "death") == "DEATH"


def test_a_full_pack_matters_only_for_what_was_wanted() -> None:
    world = flat()
    for item in sorted(item for item in world.play.domain.items if world.play.catalogue.stack(item) == 64)[
        :36
    ]:
        world.play.pack.add(item, 64)
    world.play.pack.flush()
    x, y, z = (float(world.play.body[axis]) for axis in "xyz")
    world.play.drop(x, y, z, "oak_log", 1)
    hold(world, Action(), 40)
    assert why(world, "mine", "oak_log") == "INVENTORY_FULL"
    assert why(world, "mine", "diamond") != "INVENTORY_FULL"


def test_doing_nothing_is_no_action_and_a_world_that_knows_nothing_says_so() -> None:
    world = flat()
    hold(world, Action(), 50)
    assert why(world, "wait", None, "timeout") == "NO_ACTION"
    hold(world, Action(jump=True), 5)
    assert why(world, "wait", None) == "UNKNOWN"
