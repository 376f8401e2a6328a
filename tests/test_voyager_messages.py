"""Voyager's messages as signals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts.ingest.voyager_errors import exception_message, read_error
from rollouts.ingest.voyager_messages import read_chat, save_of, spoken_by_agent
from warehouse.domains import Domain, load_domain


@pytest.mark.parametrize(
    ("text", "signal", "name"),
    [
        ("I did the recipe for stick 1 times", "done", "craft:stick"),
        ("I can make stone_axe", "started", "craft:stone_axe"),
        ("I cannot do the recipe for torch 3 times", "result_failed", "craft:torch"),
        ("I need at least a stone_pickaxe to mine iron_ore!  Skip it!", "missing_tool", "stone_pickaxe"),
        ("Failed to pickup item! Skip it!", "drop_lost", None),
        ("No cobblestone nearby, please explore first", "target_absent", "cobblestone"),
        ("Placed crafting_table", "done", "place:crafting_table"),
        ("Killed cow!", "done", "kill:cow"),
        ("Smelted 3 raw_iron.", "done", "smelt:iron_ingot"),
        ("No coal as fuel in inventory", "missing_fuel", "coal"),
        ("No furnace nearby, please explore first", "missing_station", "furnace"),
        ("No crafting table nearby. Cannot craft wooden pickaxe.", "missing_station", "crafting_table"),
        ("No pickaxe found. Mining oak log and crafting one...", "missing_tool", "pickaxe"),
        ("Not enough iron ingots to craft an iron axe.", "missing_requirement", "iron_ingot"),
        ("Already have 2 birch logs in the inventory.", "claim_have", "birch_log"),
        ("Mined 2 iron ores.", "claim", "iron_ore"),
        ("Not enough fuel to smelt.", "missing_fuel", None),
        ("Failed to kill cow.", "out_of_reach", "cow"),
        ("My inventory is full!", "inventory_full", None),
        ("Cannot find a path to the tree.", "path_blocked", None),
        ("No space to place the crafting table.", "no_room", None),
        ("No room to place the chest here.", "no_room", None),
        ("Bot left the mine.", None, None),
        ("I burned 3 logs.", None, None),
        ("Bot is unstuck now.", None, None),
        ("Error placing furnace: No path to the goal!", "path_blocked", "furnace"),
        ("I don't have a pickaxe.", "missing_tool", "pickaxe"),
        ("Need a stone pickaxe.", "missing_tool", "stone_pickaxe"),
        ("Need a crafting table.", "missing_station", "crafting_table"),
        ("There are no cows nearby.", "target_absent", "cow"),
        ("You don't have enough iron ingots", "missing_requirement", "iron_ingot"),
        ("Not enough materials.", "missing_requirement", None),
        ("Out of fuel", "missing_fuel", None),
        ("No coal for fuel.", "missing_fuel", None),
        ("No item named foo", "invalid_action", "foo"),
        ("I don't see iron_ingot in this chest", "missing_item", "iron_ingot"),
        ("Shot skeleton!", "done", "kill:skeleton"),
        ("Path blocked", "path_blocked", None),
        ("No oak tree found nearby", "target_absent", "oak_log"),
        ("No sticks in inventory. Cannot craft.", "missing_requirement", "stick"),
        ("I need 5 more cobblestone", "missing_item", "cobblestone"),
        ("Craft without a crafting table", None, None),
        ("Collect finish!", None, None),
    ],
)
def test_chat(minecraft: Domain, text: str, signal: str | None, name: str | None) -> None:
    reading = read_chat(text, minecraft)
    assert (reading.signal, reading.name) == (signal, name)


def test_a_shortage_names_every_item_with_its_number(minecraft: Domain) -> None:
    reading = read_chat(
        "I cannot make iron_pickaxe because I need:  3 more iron_ingot,  2 more stick, ", minecraft
    )
    assert reading.signal == "missing_item"
    assert reading.items == (("iron_ingot", 3), ("stick", 2))


@pytest.mark.parametrize(
    ("text", "signal", "name"),
    [
        (
            "In your program code: throw new Error(`No crafting table nearby`);\nNo crafting table nearby\n"
            'at line 10:await craftItem(bot, "stone_pickaxe", 1); in your code',
            "missing_station",
            "crafting_table",
        ),
        (
            "In your program code: throw new Error(`No block named ${name}`);\nNo block named stick\n"
            'at line 7:await mineBlock(bot, "stick", 1); in your code',
            "invalid_action",
            "stick",
        ),
        ("Your code:17\nlogsNeeded--;\n Assignment to constant variable.\n", "invalid_action", None),
        (
            "/srv/lib/craft.js:32\nthrow new Error(err)\n TypeError: Cannot read properties of undefined "
            "(reading 'id')\nat await bot.craft({ in your code",
            "invalid_action",
            None,
        ),
        ("Error: read ECONNRESET", "connection_lost", None),
        ("Took to long to decide path to goal!", "path_blocked", None),
        ("No path to the goal!", "path_blocked", None),
        ("Event windowOpen did not fire within timeout of 20000ms", "action_timeout", None),
        ("Inventory full", "inventory_full", None),
        ("Recipe requires craftingTable, but one was not supplied", "missing_station", "crafting_table"),
        ("The block requires a stone_pickaxe", "missing_tool", "stone_pickaxe"),
        ("missing ingredient", "missing_requirement", None),
        ("Failed to kill cow within 300s", "out_of_reach", None),
        ("Digging needs patience", "invalid_action", None),
        ("stone is not a valid fuel", "missing_fuel", None),
        ("Could not find any oak logs", "target_absent", "oak_log"),
        ("Couldn't find a furnace", "missing_station", "furnace"),
        ("Failed to find crafting table", "missing_station", "crafting_table"),
        ("requires crafting table", "missing_station", "crafting_table"),
        ("No crafting_table in inventory", "missing_item", "crafting_table"),
        ("I don't have iron pickaxe", "missing_tool", "iron_pickaxe"),
        ("You need an iron pickaxe to mine diamonds", "missing_tool", "iron_pickaxe"),
        ("Can't find raw_iron in slots [3 - 39], (item id: 765)", "missing_item", "raw_iron"),
        ("Server rejected transaction for clicking on slot 0, on window with id 1.", "result_failed", None),
        ("No block has been placed : the block is still air", "no_room", None),
        ("Digging aborted", "action_timeout", None),
        ("No chest at (1, 2, 3), it is air", "missing_station", "chest"),
        ("Failed to shoot skeleton.", "out_of_reach", None),
        ("stuckTickCounter is not defined", "invalid_action", None),
        ("No suitable position found to place crafting table", "no_room", None),
        ("No recipe for wooden_pickaxe found", "invalid_action", "wooden_pickaxe"),
        ("No space to place the block", "no_room", None),
        ("raw_iron is not a valid input", "result_failed", "smelt:iron_ingot"),
        ("oak_sapling is not a valid input", "invalid_action", None),
        ("smeltItem failed too many times, please check", "result_failed", "smelt:"),
        (
            "In your program code: throw new Error(`No crafting table nearby`);\nNo crafting table nearby\n"
            'at line 3:await craftItem(bot, "charcoal", 1); in your code',
            "invalid_action",
            "charcoal",
        ),
        ("something nobody has ever seen", "invalid_action", None),
    ],
)
def test_exceptions(minecraft: Domain, text: str, signal: str, name: str | None) -> None:
    reading = read_error(text, minecraft)
    assert (reading.signal, reading.name) == (signal, name)


def test_the_code_around_an_exception_is_not_its_message(minecraft: Domain) -> None:
    text = (
        'In your program code: throw new Error("direction cannot be 0, 0, 0");\ndirection cannot be 0, 0, 0\n'
        "at line 5:const block = await exploreUntil(bot, dir, 60, () => { // No furnace nearby in your code"
    )
    assert exception_message(text) == "direction cannot be 0, 0, 0"
    assert read_error(text, minecraft).signal == "invalid_action"


def test_primitives_do_not_speak_for_the_agent() -> None:
    assert not spoken_by_agent("Placed crafting_table")
    assert spoken_by_agent("Crafted a crafting table.")


def test_save_events() -> None:
    assert save_of("oak_log_mined") == ("mine", "oak_log")
    assert save_of("nonsense") is None


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    domain = load_domain("minecraft")
    read_chat(text, domain)
    read_error(text, domain)
