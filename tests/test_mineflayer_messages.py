"""The errors of mineflayer, in the signals of the trace."""

import pytest

from rollouts.worlds.mineflayer.messages import read_error
from warehouse.domains import Domain


@pytest.mark.parametrize(
    ("about", "text", "signal", "name"),
    [
        (
            "chest",
            "Recipe requires craftingTable, but one was not supplied: {}",
            "missing_station",
            "crafting_table",
        ),
        ("iron_ingot", "no furnace is in reach", "missing_station", "furnace"),
        ("iron_ore", "Bot does not have a harvestable tool!", "missing_tool", "stone_pickaxe"),
        ("oak_log", "Bot does not have a harvestable tool!", "missing_tool", None),
        ("chest", "missing ingredient", "missing_item", "chest"),
        ("torch", "missing item torch", "missing_item", "torch"),
        ("iron_ingot", "nothing burns in the furnace", "missing_fuel", "iron_ingot"),
        ("oak_log", "No path to the goal!", "out_of_reach", "oak_log"),
        ("oak_log", "Took to long to decide path to goal!", "path_blocked", "oak_log"),
        ("oak_log", "timed out after 240 ticks", "action_timeout", "oak_log"),
        ("stone", "something that nobody has seen yet", None, "stone"),
    ],
)
def test_an_error_says_what_is_lacking(
    about: str, text: str, signal: str | None, name: str | None, minecraft: Domain
) -> None:
    event = read_error(7, about, text, minecraft)
    assert (event.tick, event.kind, event.name, event.signal) == (7, "error", name, signal)
    assert event.text == text


def test_a_quoted_recipe_is_cut(minecraft: Domain) -> None:
    text = "Recipe requires craftingTable, but one was not supplied: " + "x" * 5000
    assert read_error(1, None, text, minecraft).text == text[:200]
