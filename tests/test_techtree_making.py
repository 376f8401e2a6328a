"""Crafting, repairing, smelting: recipes are the domain's; what is refused the world knows, and it alone."""

from dataclasses import replace

import pytest

from rollouts.protocols import Action
from rollouts.worlds.techtree import Settings, TechTree
from tests.techtree_stage import DOMAIN, GROUND, failures, flat, give, hold, names, operate, wall

TABLE = (64, GROUND, 66)
FURNACE = (65, GROUND, 66)


def test_the_small_grid_needs_no_table() -> None:
    world = flat()
    give(world, oak_log=1)
    parts = operate(world, Action(craft="oak_planks"))
    assert world.play.pack.counts == {"oak_planks": 4}
    assert parts[-1].changes == ((5, "oak_log", -1, 0), (5, "oak_planks", 4, 4))
    assert names(parts) == ["craft_item:oak_planks"]
    assert failures(world) == []


def test_a_screen_shows_while_hands_are_busy_and_legs_are_still() -> None:
    world = flat()
    give(world, oak_log=1)
    opened = world.step(Action(craft="oak_planks"), 50)
    assert (len(opened.ticks["x"]), opened.observation.gui) == (1, "inventory")
    walked = world.step(Action(forward=1), 50)
    assert list(walked.ticks["gui"]) == ["inventory"] * 3 + ["none"]
    assert walked.observation.z == 64.5
    assert walked.observation.inventory == {"oak_planks": 4}


def test_the_large_grid_needs_a_table_in_reach() -> None:
    for at, works in ((TABLE, True), ((64, GROUND, 72), False), (None, False)):
        world = flat()
        give(world, oak_planks=3, stick=2)
        if at:
            wall(world, "crafting_table", at)
        parts = operate(world, Action(craft="wooden_pickaxe"))
        assert (world.play.pack.counts == {"wooden_pickaxe": 1}) is works
        assert parts[0].observation.gui == ("crafting_table" if works else "inventory")
        assert (failures(world) == [("MISSING_STATION", "crafting_table")]) is not works


def test_what_is_short_is_named() -> None:
    world = flat()
    give(world, iron_ingot=2, oak_planks=1)
    wall(world, "crafting_table", TABLE)
    operate(world, Action(craft="iron_pickaxe"))
    assert failures(world) == [("MISSING_INGREDIENT", "1 iron_ingot"), ("MISSING_INGREDIENT", "2 stick")]
    assert world.play.pack.counts == {"iron_ingot": 2, "oak_planks": 1}


def test_station_and_ingredient_may_both_lack() -> None:
    world = flat()
    operate(world, Action(craft="furnace"))
    assert [kind for kind, _ in failures(world)] == ["MISSING_STATION", "MISSING_INGREDIENT"]


def test_members_of_a_tag_may_be_mixed() -> None:
    world = flat()
    give(world, oak_planks=1, birch_planks=3)
    operate(world, Action(craft="crafting_table"))
    assert world.play.pack.counts == {"crafting_table": 1}


@pytest.mark.parametrize("item", ["no_such_item", "iron_ore", "diamond"])
def test_what_nobody_can_craft_is_invalid(item: str) -> None:
    world = flat()
    operate(world, Action(craft=item))
    expected = "MISSING_INGREDIENT" if item in DOMAIN.recipes else "INVALID_ACTION"
    assert [kind for kind, _ in failures(world)] == [expected]


def test_recipes_are_the_domain_s() -> None:
    """A domain with another recipe makes another world: nothing of them is written here."""
    cheap = DOMAIN.recipes["stick"][0]
    changed = replace(
        DOMAIN, recipes={**DOMAIN.recipes, "stick": (replace(cheap, ingredients=(("dirt", 1),)),)}
    )
    world = TechTree(changed, Settings(ground="flat"))
    world.reset(0)
    give(world, dirt=1, oak_planks=2)
    operate(world, Action(craft="stick"))
    assert world.play.pack.counts == {"oak_planks": 2, "stick": 1}


def test_closing_the_screen_breaks_a_craft_off() -> None:
    world = flat()
    give(world, oak_log=1)
    world.step(Action(craft="oak_planks"))
    closed = world.step(Action(close_gui=True), 10)
    assert closed.observation.gui == "none"
    hold(world, Action(), 20)
    assert world.play.pack.counts == {"oak_log": 1}


def test_a_full_pack_has_no_place_for_the_result() -> None:
    world = flat()
    give(world, stone_sword=35, oak_log=2)
    operate(world, Action(craft="oak_planks"))
    assert failures(world) == [("INVENTORY_FULL", "oak_planks")]
    assert world.play.pack.counts["oak_log"] == 2
    world.play.pack.take("oak_log", 1)
    operate(world, Action(craft="oak_planks"))
    assert world.play.pack.counts["oak_planks"] == 4, "the last log's slot is free then"


def test_two_worn_pieces_become_one_and_only_that_is_a_repair() -> None:
    world = flat()
    wall(world, "crafting_table", TABLE)
    give(world, iron_ingot=10)
    event = "repaired an iron helmet"
    parts = operate(world, Action(craft="iron_helmet")) + operate(world, Action(craft="iron_helmet"))
    assert event not in names(parts)
    for slot in world.play.pack.slots:
        if slot and slot.item == "iron_helmet":
            slot.wear = 100
    wall(world, "air", TABLE)
    parts = operate(world, Action(craft="iron_helmet"))
    assert event in names(parts)
    assert world.play.pack.counts == {"iron_helmet": 1}
    left = [slot for slot in world.play.pack.slots if slot]
    assert left[0].wear == 165 - 2 * 65 - 8, "what was left of both, and 5 % of a whole one"
    assert event not in names(operate(world, Action(craft="iron_helmet"))), (
        "one piece is nothing to repair with"
    )


def _kitchen(**items: int) -> TechTree:
    world = flat()
    wall(world, "furnace", FURNACE)
    give(world, **items)
    return world


def test_smelting_takes_200_ticks_and_a_fuel() -> None:
    world = _kitchen(iron_ore=2, coal=1)
    assert operate(world, Action(smelt=("iron_ore", "coal")))[0].observation.gui == "furnace"
    assert world.play.pack.counts == {"iron_ore": 1}
    operate(world, Action(smelt=("iron_ore", "coal")))
    assert world.play.pack.counts == {}, "it burns: no second fuel is taken"
    hold(world, Action(), 180)
    operate(world, Action(collect=True))
    assert world.play.pack.counts == {}
    hold(world, Action(), 30)
    parts = operate(world, Action(collect=True))
    assert world.play.pack.counts == {"iron_ingot": 1}
    assert names(parts) == ["craft_item:iron_ingot"]
    hold(world, Action(), 200)
    operate(world, Action(collect=True))
    assert world.play.pack.counts == {"iron_ingot": 2}
    assert failures(world) == []


@pytest.mark.parametrize(
    ("items", "smelt", "expected"),
    [
        ({"iron_ore": 1}, ("iron_ore", ""), [("NO_FUEL", "")]),
        ({"iron_ore": 1}, ("iron_ore", "coal"), [("NO_FUEL", "coal")]),
        ({"iron_ore": 1, "dirt": 1}, ("iron_ore", "dirt"), [("NO_FUEL", "dirt")]),
        ({"oak_log": 1}, ("oak_log", "oak_log"), [("NO_FUEL", "oak_log")]),
        ({"coal": 1}, ("iron_ore", "coal"), [("MISSING_INGREDIENT", "1 iron_ore")]),
        ({"dirt": 1, "coal": 1}, ("dirt", "coal"), [("INVALID_ACTION", "dirt")]),
        ({"coal": 1}, ("no_such_item", "coal"), [("INVALID_ACTION", "no_such_item")]),
    ],
)
def test_smelting_that_cannot_be_is_refused(
    items: dict[str, int], smelt: tuple[str, str], expected: list[tuple[str, str]]
) -> None:
    world = _kitchen(**items)
    operate(world, Action(smelt=smelt))
    assert failures(world) == expected
    assert world.play.pack.counts == items


def test_without_a_furnace_nothing_smelts() -> None:
    world = flat()
    give(world, iron_ore=1, coal=1)
    operate(world, Action(smelt=("iron_ore", "coal")))
    operate(world, Action(collect=True))
    assert {kind for kind, _ in failures(world)} == {"MISSING_STATION"}


def test_a_fuel_that_is_too_short_leaves_the_rest_raw() -> None:
    world = _kitchen(iron_ore=2, oak_planks=2)
    for _ in range(2):
        operate(world, Action(smelt=("iron_ore", "oak_planks")))
    hold(world, Action(), 500)
    assert failures(world) == [("NO_FUEL", "")]
    operate(world, Action(collect=True))
    assert world.play.pack.counts == {"iron_ingot": 1, "oak_planks": 1}
    # The input is in the furnace: the fuel alone goes in.
    operate(world, Action(smelt=("iron_ore", "oak_planks")))
    hold(world, Action(), 250)
    operate(world, Action(collect=True))
    assert world.play.pack.counts == {"iron_ingot": 2}


def test_a_furnace_does_not_mix() -> None:
    world = _kitchen(iron_ore=1, gold_ore=1, coal=2)
    operate(world, Action(smelt=("iron_ore", "coal")))
    operate(world, Action(smelt=("gold_ore", "coal")))
    assert failures(world) == [("SMELT_FAIL", "gold_ore")]


def test_a_broken_furnace_spills_what_it_holds() -> None:
    world = _kitchen(iron_ore=1, coal=1)
    operate(world, Action(smelt=("iron_ore", "coal")))
    give(world, stone_pickaxe=1)
    hold(world, Action(attack=True, equip="stone_pickaxe", yaw=-35.0, pitch=40.0), 30)
    assert world.play.block(FURNACE) == "air"
    hold(world, Action(forward=1), 12)
    assert world.play.pack.counts["iron_ore"] == 1


def test_an_idle_screen_is_noted_and_a_used_one_is_not() -> None:
    world = flat()
    wall(world, "crafting_table", TABLE)
    give(world, oak_log=3)
    world.step(Action(use=True, yaw=0.0, pitch=45.0))
    assert world.play.screen == "crafting_table"
    for _ in range(3):
        hold(world, Action(), 60)
        operate(world, Action(craft="oak_planks"))
    assert failures(world) == []
    assert world.play.screen == "crafting_table", "it was opened by itself and stays"
    walked = hold(world, Action(forward=1), 120)[-1].observation
    assert walked.z == 64.5
    assert failures(world) == [("GUI_STALL", "crafting_table")]
    assert world.step(Action(close_gui=True)).observation.gui == "none"


def test_refusals_are_said_only_where_messages_are_on() -> None:
    silent, loud = flat(), flat(messages=True)
    for world in (silent, loud):
        parts = operate(world, Action(craft="furnace"))
        said = [part.observation.message for part in parts if part.observation.message]
        signals = [event.signal for part in parts for event in part.events]
        assert bool(said) is (world is loud)
        assert signals == (["missing_station", "missing_item"] if world is loud else [])
        assert ("messages" in world.observes) is (world is loud)
    assert silent.truths(0) == loud.truths(0)
    assert silent.truths(6) == []
