"""What the scripted executor does for each kind of subgoal, and when it gives up; in hand-made places."""

from collections import Counter

import pytest

from rollouts.executors.geometry import Cell, Point
from rollouts.executors.goals import blocks_for, creatures_for, named_in
from rollouts.executors.registry import executor
from rollouts.executors.terrain import Terrain
from tests.test_scripted_fake_world import DOMAIN, Creature, FakeWorld, carry_out, subgoal
from warehouse.knowledge import Check


def at_least(item: str, count: int) -> Check:
    return Check(type="inv_ge", name=item, value=float(count))


def stone_floor(**more: object) -> FakeWorld:
    return FakeWorld(floor="stone", toughness=5, **more)  # type: ignore[arg-type]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no executor 'steve'; there are: scripted"):
        executor("steve", DOMAIN, 0)


@pytest.mark.parametrize("kind", ["mine", "craft", "smelt", "combat", "use", "dance"])
def test_what_means_nothing_is_given_up_at_once(kind: str) -> None:
    world = FakeWorld()
    seen, ended, _ = carry_out(world, subgoal(kind, "vibranium"), world.observe())
    assert ended
    assert seen.tick < 10


def test_targets_mean_blocks_and_creatures() -> None:
    assert blocks_for(DOMAIN, "stone") == {"stone"}
    assert "stone" in blocks_for(DOMAIN, "cobblestone")
    assert "diamond_ore" in blocks_for(DOMAIN, "diamond")
    assert "oak_leaves" in blocks_for(DOMAIN, "#saplings")
    assert blocks_for(DOMAIN, "mood") == frozenset()
    assert creatures_for(DOMAIN, "cow") == {"cow"}
    assert "cow" in creatures_for(DOMAIN, "leather")
    assert named_in("wash a leather chestplate in a cauldron", DOMAIN.stations) == ["cauldron"]


def test_terrain_is_told_from_the_tables_and_from_standing_in_it() -> None:
    terrain = Terrain(DOMAIN)
    terrain.breathe("stone", ["air", "water"])
    assert [terrain.is_open(name) for name in ("air", "water", "stone", "grass", "unknown")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert [terrain.is_risky(name) for name in ("air", "water", "lava")] == [False, True, True]
    terrain.stand_in("grass")
    assert terrain.is_open("grass")
    assert not terrain.is_risky("grass")


class TestMine:
    def test_takes_a_tree_from_the_foot_to_the_top(self) -> None:
        leaves = {Cell(x, 68, z): "oak_leaves" for x in range(-2, 3) for z in range(4, 9)}
        world = FakeWorld(leaves | {Cell(0, 64 + y, 6): "oak_log" for y in range(4)})
        seen, ended, _ = carry_out(world, subgoal("mine", "#logs", 4), world.observe())
        assert ended
        assert seen.inventory == {"oak_log": 4}

    def test_equips_the_best_tool_and_does_not_check_its_tier(self) -> None:
        tools = Counter({"wooden_pickaxe": 1, "stone_pickaxe": 1, "iron_shovel": 1})
        world = FakeWorld({Cell(0, 65, 3): "diamond_ore"}, inventory=tools)
        seen, _, _ = carry_out(world, subgoal("mine", "diamond_ore"), world.observe(), limit=600)
        assert seen.equipped == "stone_pickaxe"
        assert world.at(Cell(0, 65, 3)) == "air", "it just tries"
        assert "diamond" not in seen.inventory

    def test_checks_on_the_inventory_outrank_the_count(self) -> None:
        world = FakeWorld({Cell(0, 64 + y, 4): "oak_log" for y in range(4)}, inventory=Counter(oak_log=1))
        goal = subgoal("mine", "oak_log", 1, at_least("oak_log", 3))
        seen, ended, _ = carry_out(world, goal, world.observe())
        assert ended
        assert seen.inventory == {"oak_log": 3}

    def test_stops_after_blocks_that_gave_nothing(self) -> None:
        world = stone_floor()
        seen, ended, _ = carry_out(world, subgoal("mine", "stone", 5), world.observe(), limit=3000)
        assert ended
        assert not seen.inventory
        assert sum(name == "air" for name in world.blocks.values()) == 3

    def test_leaves_alone_what_does_not_break(self) -> None:
        world = FakeWorld({Cell(0, 64, 3): "bedrock"})
        seen, ended, _ = carry_out(world, subgoal("mine", "bedrock"), world.observe(), limit=6000)
        assert ended or seen.tick >= 6000
        assert world.at(Cell(0, 64, 3)) == "bedrock"

    def test_a_shelf_of_luck_is_no_reason_to_stop(self) -> None:
        world = FakeWorld({Cell(x, 65, 3): "grass" for x in range(-3, 4)})
        world.unbreakable = frozenset()
        seen, _, _ = carry_out(world, subgoal("mine", "grass", 1), world.observe(), limit=400)
        assert seen.tick > 0

    def test_digs_to_the_depth_that_is_asked_for_and_finds_ore(self) -> None:
        world = stone_floor(inventory=Counter(iron_pickaxe=1))
        for heading in range(-40, 41):
            world.blocks[Cell(heading, 51, 20)] = world.blocks[Cell(heading, 51, -20)] = "diamond_ore"
            world.blocks[Cell(20, 51, heading)] = world.blocks[Cell(-20, 51, heading)] = "diamond_ore"
        goal = subgoal("mine", "diamond", 1, Check(type="ypos_le", value=50.0), at_least("diamond", 1))
        seen, ended, _ = carry_out(world, goal, world.observe(), limit=6000)
        assert ended
        assert seen.inventory["diamond"] == 1

    def test_without_a_depth_it_digs_only_a_little(self) -> None:
        world = FakeWorld(toughness=4, inventory=Counter(iron_pickaxe=1))
        seen, _, _ = carry_out(world, subgoal("mine", "diamond"), world.observe(), limit=600)
        assert seen.y == 56.0

    def test_having_dug_down_before_it_stays_at_that_height(self) -> None:
        world = FakeWorld(toughness=4, inventory=Counter(iron_pickaxe=1))
        policy = executor("scripted", DOMAIN, 0)
        down = subgoal("move", None, 1, Check(type="ypos_le", value=58.0))
        seen, _, _ = carry_out(world, down, world.observe(), policy)
        seen, _, _ = carry_out(world, subgoal("mine", "diamond"), seen, policy, limit=400)
        assert seen.y == 58.0

    def test_explores_for_what_lies_on_the_ground(self) -> None:
        world = FakeWorld()
        for side in range(-30, 31):
            for x, z in ((side, 25), (side, -25), (25, side), (-25, side)):
                world.blocks[Cell(x, 64, z)] = "oak_log"
        seen, ended, _ = carry_out(world, subgoal("mine", "oak_log"), world.observe())
        assert ended
        assert seen.inventory == {"oak_log": 1}


class TestCraft:
    def test_repeats_until_the_count_is_held(self) -> None:
        world = FakeWorld(inventory=Counter(oak_log=3))
        seen, ended, _ = carry_out(world, subgoal("craft", "oak_planks", 9), world.observe())
        assert ended
        assert seen.inventory["oak_planks"] == 12
        assert world.crafts == 3

    def test_a_tag_is_made_from_what_is_held(self) -> None:
        world = FakeWorld(inventory=Counter(birch_log=1))
        seen, _, _ = carry_out(world, subgoal("craft", "#planks", 4), world.observe())
        assert seen.inventory == {"birch_planks": 4}

    def test_gives_up_after_two_crafts_that_change_nothing(self) -> None:
        world = FakeWorld(inventory=Counter(oak_planks=3, stick=2))
        seen, ended, _ = carry_out(world, subgoal("craft", "wooden_pickaxe"), world.observe())
        assert ended
        assert world.crafts == 2
        assert "wooden_pickaxe" not in seen.inventory

    def test_walks_to_a_table_in_sight_and_never_puts_one_down(self) -> None:
        held = Counter(oak_planks=3, stick=2, crafting_table=1)
        world = FakeWorld({Cell(0, 64, 7): "crafting_table"}, inventory=Counter(held))
        seen, _, _ = carry_out(world, subgoal("craft", "wooden_pickaxe"), world.observe())
        assert seen.inventory["wooden_pickaxe"] == 1
        bare = FakeWorld(inventory=Counter(held))
        seen, ended, _ = carry_out(bare, subgoal("craft", "wooden_pickaxe"), bare.observe())
        assert ended
        assert seen.inventory == held


FURNACE = {Cell(0, 64, 2): "furnace"}


class TestSmelt:
    def test_loads_waits_and_collects(self) -> None:
        world = FakeWorld(dict(FURNACE), inventory=Counter(iron_ore=3, coal=3, oak_planks=5))
        seen, ended, _ = carry_out(world, subgoal("smelt", "iron_ingot", 2), world.observe())
        assert ended
        assert seen.inventory == {"iron_ingot": 2, "iron_ore": 1, "coal": 1, "oak_planks": 5}

    def test_tools_and_stations_are_not_burnt(self) -> None:
        world = FakeWorld(dict(FURNACE), inventory=Counter(iron_ore=1, wooden_pickaxe=1, crafting_table=1))
        seen, ended, moves = carry_out(world, subgoal("smelt", "iron_ingot"), world.observe())
        assert ended
        assert seen.inventory["wooden_pickaxe"] == 1
        assert ("iron_ore", "") in [move.action.smelt for move in moves], "the world can say what was missing"

    def test_logs_are_input_and_fuel_at_once(self) -> None:
        world = FakeWorld(dict(FURNACE), inventory=Counter(oak_log=2))
        seen, _, _ = carry_out(world, subgoal("smelt", "charcoal"), world.observe())
        assert seen.inventory == {"charcoal": 1}

    def test_without_a_furnace_it_tries_and_gives_up(self) -> None:
        world = FakeWorld(inventory=Counter(iron_ore=1, coal=1))
        seen, ended, moves = carry_out(world, subgoal("smelt", "iron_ingot"), world.observe())
        assert ended
        assert any(move.action.smelt for move in moves)
        assert seen.tick < 300


class TestUse:
    def test_puts_a_station_on_a_free_cell_beside_itself(self) -> None:
        world = FakeWorld(inventory=Counter(crafting_table=1))
        goal = subgoal("use", "crafting_table", words="place a crafting table")
        seen, ended, _ = carry_out(world, goal, world.observe())
        assert ended
        assert not seen.inventory
        assert world.near("crafting_table")

    def test_in_a_corner_it_tries_other_cells(self) -> None:
        world = FakeWorld({Cell(0, y, 1): "stone" for y in (64, 65)}, inventory=Counter(furnace=1))
        world.blocks |= {Cell(x, y, 0): "stone" for x in (-1, 1) for y in (64, 65)}
        seen, _, _ = carry_out(world, subgoal("use", "furnace", words="place furnace"), world.observe())
        assert not seen.inventory

    def test_what_is_not_held_is_tried_once(self) -> None:
        world = FakeWorld()
        goal = subgoal("use", "furnace", words="place the furnace")
        _, ended, moves = carry_out(world, goal, world.observe())
        assert ended
        assert [move.action.place for move in moves if move.action.place] == ["furnace"]

    def test_eats_the_most_filling(self) -> None:
        world = FakeWorld(inventory=Counter(apple=1, cooked_beef=2))
        seen, ended, _ = carry_out(world, subgoal("use", None, words="eat something"), world.observe())
        assert ended
        assert seen.inventory == {"apple": 1, "cooked_beef": 1}

    def test_opens_a_station_and_trades_with_a_creature(self) -> None:
        world = FakeWorld({Cell(0, 64, 4): "chest"}, creatures=[Creature("villager", Point(4.5, 64, 4.5))])
        carry_out(world, subgoal("use", "chest", words="open the chest"), world.observe())
        assert world.gui == "other"
        goal = subgoal("use", "iron_ingot", words="trade with a villager for an iron ingot")
        carry_out(world, goal, world.observe(), limit=300)
        assert "villager" in [looked for _, looked in world.used]

    def test_washes_what_is_held_at_a_named_station(self) -> None:
        held = Counter(leather_chestplate=1)
        world = FakeWorld({Cell(0, 64, 4): "cauldron"}, inventory=held)
        goal = subgoal("use", "cauldron", words="wash the leather chestplate in the cauldron")
        carry_out(world, goal, world.observe(), limit=300)
        assert ("leather_chestplate", "cauldron") in world.used

    def test_without_a_verb_a_thing_is_used_on_what_is_near(self) -> None:
        world = FakeWorld({Cell(0, 64, 2): "cauldron"}, inventory=Counter(leather_boots=1))
        carry_out(world, subgoal("use", "leather_boots"), world.observe(), limit=100)
        assert ("leather_boots", "cauldron") in world.used
        trader = FakeWorld(creatures=[Creature("villager", Point(0.5, 64, 4.5))])
        carry_out(trader, subgoal("use", "iron_ingot"), trader.observe(), limit=300)
        assert (None, "villager") in trader.used

    def test_two_of_a_kind_are_put_together(self) -> None:
        world = FakeWorld(inventory=Counter(iron_helmet=2))
        goal = subgoal("use", "iron_helmet", words="repair the iron helmet")
        _, ended, moves = carry_out(world, goal, world.observe(), limit=100)
        assert ended
        assert "iron_helmet" in [move.action.craft for move in moves]


class TestCombat:
    def test_kills_and_picks_up(self) -> None:
        cow = Creature("cow", Point(3.5, 64.0, 7.5), drop="leather")
        world = FakeWorld(creatures=[cow])
        seen, ended, moves = carry_out(world, subgoal("combat", "cow"), world.observe())
        assert ended
        assert seen.inventory == {"leather": 1}
        assert sum(move.action.attack for move in moves) == 3

    def test_gives_up_what_it_cannot_reach(self) -> None:
        moat = {Cell(x, 63 - y, z): "air" for x in range(-40, 41) for z in range(3, 6) for y in range(6)}
        world = FakeWorld(moat, creatures=[Creature("cow", Point(0.5, 64.0, 7.5))])
        seen, ended, _ = carry_out(world, subgoal("combat", "leather"), world.observe(), limit=6000)
        assert ended
        assert not seen.inventory


class TestWait:
    def test_does_nothing_for_its_time(self) -> None:
        world = FakeWorld()
        seen, ended, moves = carry_out(world, subgoal("wait", None, timeout_s=5.0), world.observe())
        assert ended
        assert seen.tick == 100
        assert {move.action.name() for move in moves} == {"noop"}

    def test_closes_a_screen(self) -> None:
        world = FakeWorld()
        world.gui = "furnace"
        goal = subgoal("wait", None, 1, Check(type="gui_closed"))
        seen, ended, _ = carry_out(world, goal, world.observe())
        assert ended
        assert seen.gui == "none"
        assert seen.tick < 5


def test_a_new_episode_forgets_the_old_one() -> None:
    first = FakeWorld({Cell(0, 64, 5): "crafting_table"})
    policy = executor("scripted", DOMAIN, 0)
    carry_out(first, subgoal("wait", None, timeout_s=1.0), first.observe(), policy)
    second = FakeWorld(inventory=Counter(oak_planks=3, stick=2))
    _, _, moves = carry_out(second, subgoal("craft", "wooden_pickaxe"), second.observe(), policy)
    assert not any(move.action.forward for move in moves)


def test_the_same_observations_give_the_same_moves() -> None:
    def moves() -> list[object]:
        world = FakeWorld({Cell(3, 64 + y, 7): "oak_log" for y in range(3)})
        return list(carry_out(world, subgoal("mine", "oak_log", 3), world.observe())[2])

    assert moves() == moves()
