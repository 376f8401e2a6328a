"""Breaking, drops, picking up, wear, placing: each rule with what it allows and what it does not."""

import pytest

from rollouts.protocols import Action, Advance
from rollouts.worlds.techtree import TechTree
from rollouts.worlds.techtree.catalogue import catalogue
from tests.techtree_stage import DOMAIN, DOWN, GROUND, failures, flat, give, hold, names, wall

BEFORE = (64, GROUND + 1, 66)
"""a cell at the height of the eyes, in reach of them when they look to +z"""


def broken(world: TechTree, block: str, tool: str | None = None) -> tuple[int, list[Advance]]:
    """Breaks one block in front of the eyes; how many ticks it took. 2000 if it did not break."""
    wall(world, block, BEFORE)
    if tool:
        give(world, **{tool: 1})
    attack = Action(attack=True, yaw=0.0, pitch=0.0, equip=tool)
    parts: list[Advance] = []
    passed = 0
    while passed < 2000 and world.play.block(BEFORE) == block:
        parts.append(world.step(attack, 2000 - passed))
        passed += len(parts[-1].ticks["x"])
    return passed, parts


@pytest.mark.parametrize(
    ("block", "tool", "ticks"),
    [
        # The game's table: seconds x 20, rounded up.
        ("oak_log", None, 60),
        ("oak_log", "wooden_axe", 30),
        ("oak_log", "diamond_axe", 8),
        ("dirt", None, 15),
        ("dirt", "iron_shovel", 3),
        ("stone", None, 150),
        ("stone", "wooden_pickaxe", 23),
        ("stone", "golden_pickaxe", 4),
        ("stone", "iron_pickaxe", 8),
        ("iron_ore", "wooden_pickaxe", 150),
        ("iron_ore", "stone_pickaxe", 23),
        ("obsidian", "diamond_pickaxe", 188),
        ("oak_leaves", "shears", 2),
        ("poppy", None, 1),
    ],
)
def test_blocks_break_in_the_game_s_time(block: str, tool: str | None, ticks: int) -> None:
    assert broken(flat(), block, tool)[0] == pytest.approx(ticks, abs=1)


@pytest.mark.parametrize("block", ["bedrock", "water"])
def test_some_blocks_never_break(block: str) -> None:
    assert broken(flat(), block, "diamond_pickaxe")[0] == 2000


def test_breaking_is_slower_in_the_air_and_under_water() -> None:
    wet = flat()
    wall(wet, "water", (64, GROUND, 64), (64, GROUND + 1, 64))
    assert broken(wet, "dirt")[0] >= 5 * 15
    hanging = flat()
    hanging.play.body["y"] += 9.0
    hanging.play.body["grounded"] = 0
    wall(hanging, "dirt", (64, GROUND + 8, 64), (64, GROUND + 7, 64))
    done = hanging.step(Action(attack=True, pitch=DOWN), 15)
    assert "mine_block:dirt" not in names([done])


def test_letting_go_or_looking_away_loses_what_was_done() -> None:
    world = flat()
    wall(world, "oak_log", BEFORE)
    for _ in range(4):
        hold(world, Action(attack=True, yaw=0.0, pitch=0.0), 50)
        hold(world, Action(), 1)
    assert world.play.block(BEFORE) == "oak_log"


def test_out_of_reach_stays_whole() -> None:
    world = flat()
    wall(world, "oak_log", (64, GROUND + 1, 70))
    hold(world, Action(attack=True, yaw=0.0, pitch=0.0), 200)
    assert world.play.block((64, GROUND + 1, 70)) == "oak_log"


@pytest.mark.parametrize(
    ("block", "tool", "item"),
    [
        ("oak_log", None, "oak_log"),
        ("grass_block", None, "dirt"),
        ("stone", "wooden_pickaxe", "cobblestone"),
        ("coal_ore", "wooden_pickaxe", "coal"),
        ("iron_ore", "stone_pickaxe", "iron_ore"),
        ("gold_ore", "iron_pickaxe", "gold_ore"),
        ("redstone_ore", "iron_pickaxe", "redstone"),
        ("diamond_ore", "iron_pickaxe", "diamond"),
        ("lapis_ore", "stone_pickaxe", "lapis_lazuli"),
        ("carrots", None, "carrot"),
    ],
)
def test_a_fit_tool_yields_the_drop_and_it_is_picked_up(block: str, tool: str | None, item: str) -> None:
    world = flat()
    _, parts = broken(world, block, tool)
    assert f"mine_block:{block}" in names(parts)
    parts = hold(world, Action(forward=1), 20)
    assert world.play.pack.counts[item] >= 1
    assert f"pickup:{item}" in names(parts)
    assert ("mine_block:" + item) not in names(parts)
    assert not [truth for truth in failures(world) if truth[0] == "MISSING_TOOL"]


@pytest.mark.parametrize(
    ("block", "tool"),
    [
        ("stone", None),
        ("stone", "wooden_axe"),
        ("iron_ore", "wooden_pickaxe"),
        ("iron_ore", "golden_pickaxe"),
        ("diamond_ore", "stone_pickaxe"),
        ("obsidian", "iron_pickaxe"),
    ],
)
def test_too_low_a_tool_yields_nothing_and_the_world_knows(block: str, tool: str | None) -> None:
    world = flat()
    broken(world, block, tool)
    hold(world, Action(forward=1), 20)
    assert set(world.play.pack.counts) <= {tool}
    assert ("MISSING_TOOL", block) in failures(world)


def test_what_leaves_nothing_is_no_failure() -> None:
    world = flat()
    broken(world, "glass")
    assert failures(world) == []


def test_drops_of_luck_come_in_their_share() -> None:
    world = flat()
    saplings = 0
    for _ in range(400):
        broken(world, "oak_leaves")
        hold(world, Action(), 12)
    things = world.play.state.items
    lying = [DOMAIN_ITEMS[int(row["item"])] for row in things if int(row["count"])]
    saplings = lying.count("oak_sapling") + world.play.pack.counts.get("oak_sapling", 0)
    assert 5 <= saplings <= 45, "20 of 400 are expected"
    assert "oak_leaves" not in world.play.pack.counts


DOMAIN_ITEMS = catalogue(DOMAIN).items


def test_a_tool_wears_and_breaks() -> None:
    world = flat()
    give(world, wooden_pickaxe=1)
    held = world.play.pack.slots[0]
    assert held is not None
    world.step(Action(equip="wooden_pickaxe"))
    held.wear = 57
    assert "break_item:wooden_pickaxe" not in names(broken(world, "stone")[1])
    assert held.wear == 58
    _, parts = broken(world, "stone")
    assert "break_item:wooden_pickaxe" in names(parts)
    assert parts[-1].observation.equipped is None
    assert "wooden_pickaxe" not in parts[-1].observation.inventory
    assert parts[-1].ticks["equipped"][-1] == "none"


def test_hands_and_plants_do_not_wear_a_tool() -> None:
    world = flat()
    _, _ = broken(world, "poppy", "wooden_pickaxe")
    assert world.play.pack.held is not None
    assert world.play.pack.held.wear == 0


def test_a_drop_that_nobody_fetches_is_noted_and_in_the_end_gone() -> None:
    world = flat()
    wall(world, "oak_log", (64, GROUND + 1, 68))
    world.play.body["z"] = 64.5
    hold(world, Action(attack=True, yaw=0.0, pitch=0.0), 70)
    assert world.play.pack.counts == {}
    hold(world, Action(), 220)
    assert failures(world) == [("TARGET_UNREACHABLE", "oak_log not picked up")]
    hold(world, Action(), 6000)
    assert ("TARGET_UNREACHABLE", "oak_log vanished") not in failures(world), "noted once is enough"
    assert not world.play.state.items["count"].any()


def test_a_drop_burns_in_lava() -> None:
    world = flat()
    wall(world, "lava", (64, GROUND, 68), (64, GROUND - 1, 68), (64, GROUND, 67), (64, GROUND, 69))
    wall(world, "oak_log", (64, GROUND + 1, 68))
    hold(world, Action(attack=True, yaw=0.0, pitch=0.0), 120)
    assert ("TARGET_UNREACHABLE", "oak_log burnt") in failures(world)


def test_a_full_pack_takes_nothing() -> None:
    world = flat()
    give(world, stone_sword=36)
    broken(world, "oak_log")
    hold(world, Action(forward=1), 8)
    hold(world, Action(), 20)
    assert world.play.pack.counts == {"stone_sword": 36}
    assert ("INVENTORY_FULL", "oak_log") in failures(world)
    world.play.pack.take("stone_sword", 1)
    for _ in range(2):
        hold(world, Action(), 2)
    assert world.play.pack.counts["oak_log"] == 1


def test_placing_puts_a_block_down_and_takes_it_out_of_the_pack() -> None:
    world = flat()
    give(world, cobblestone=2)
    wall(world, "stone", (64, GROUND, 67))
    done = world.step(Action(place="cobblestone", yaw=0.0, pitch=35.0))
    assert world.play.block((64, GROUND, 66)) == "cobblestone"
    assert done.changes == ((1, "cobblestone", -1, 1),)
    assert names([done]) == ["use_item:cobblestone"]
    assert done.ticks["action"][0] == "camera+use"


@pytest.mark.parametrize(
    ("item", "pitch", "failure"),
    [
        ("cobblestone", -80.0, "TARGET_UNREACHABLE"),  # nothing to put it against
        ("cobblestone", DOWN, "TARGET_UNREACHABLE"),  # the own feet are there
        ("dirt", 50.0, "MISSING_INGREDIENT"),
        ("stick", 50.0, "INVALID_ACTION"),
        ("no_such_block", 50.0, "INVALID_ACTION"),
    ],
)
def test_placing_that_cannot_be_is_refused(item: str, pitch: float, failure: str) -> None:
    world = flat()
    give(world, cobblestone=1, stick=1)
    before = world.play.blocks.copy()
    world.step(Action(place=item, yaw=0.0, pitch=pitch))
    assert (world.play.blocks == before).all()
    assert [kind for kind, _ in failures(world)] == [failure]


def test_grass_gives_way_to_what_is_placed() -> None:
    world = flat()
    give(world, cobblestone=1)
    wall(world, "grass", (64, GROUND, 66))
    world.step(Action(place="cobblestone", yaw=0.0, pitch=40.0))
    assert world.play.block((64, GROUND, 66)) == "cobblestone"


def test_sand_falls_when_its_ground_goes_and_stone_does_not() -> None:
    world = flat()
    for upper in ("sand", "stone"):
        wall(world, "dirt", BEFORE)
        wall(world, upper, (64, GROUND + 2, 66))
        broken(world, "dirt")
        assert world.play.block((64, GROUND + 2, 66)) == ("air" if upper == "sand" else "stone")
        wall(world, "air", (64, GROUND, 66), BEFORE, (64, GROUND + 2, 66))


def test_leaves_fall_when_no_log_holds_them() -> None:
    held, loose = flat(), flat()
    for world in (held, loose):
        for up in range(3):
            wall(world, "oak_log", (64, GROUND + up, 66))
        wall(world, "oak_leaves", (64, GROUND + 3, 66), (65, GROUND + 2, 66), (64, GROUND + 4, 66))
    wall(held, "oak_log", (64, GROUND + 5, 66))
    for world in (held, loose):
        for pitch in (45.0, 0.0, -30.0):
            hold(world, Action(attack=True, yaw=0.0, pitch=pitch), 70)
        hold(world, Action(), 1300)
    assert held.play.block((64, GROUND + 4, 66)) == "oak_leaves"
    assert loose.play.block((64, GROUND + 4, 66)) == "air"


def test_equipping_what_is_not_there_is_refused() -> None:
    world = flat()
    give(world, dirt=1)
    for item in ("iron_pickaxe", "diamond", "no_such_item"):
        hold(world, Action(equip=item), 2)
    assert [kind for kind, _ in failures(world)] == ["MISSING_TOOL", "MISSING_INGREDIENT", "INVALID_ACTION"]
    assert world.step(Action(equip="dirt")).observation.equipped == "dirt"
    assert world.step(Action(equip="none")).observation.equipped is None
