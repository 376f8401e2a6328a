"""What a scripted hand crafts and smelts on a model of the game's screens (tests/screen_game.py)."""

from collections import Counter
from itertools import product

import pytest

from rollouts.worlds.client.steve1.hand import Doing, GivenUpError, Hand
from rollouts.worlds.client.steve1.layout import Window
from rollouts.worlds.client.steve1.making import craft, lay_out, smelt
from tests.screen_game import AROUND, ScreenGame, played, seen
from warehouse.domains import Domain


def held(game: ScreenGame) -> Counter[str]:
    found: Counter[str] = Counter()
    for item, count in game.slots.values():
        found[item] += count
    return found


def hand_in(game: ScreenGame, domain: Domain) -> Hand:
    return Hand(domain, Window(game.width, game.height, game.scale), seen(game))


def carry_out(doing: Doing, game: ScreenGame, most: int = 5000) -> int:
    """Plays it to its end; the ticks that it took."""
    begun = game.now
    try:
        keys = next(doing)
        while game.now - begun < most:
            keys = doing.send(played(game, keys))
    except StopIteration:
        return game.now - begun
    raise AssertionError(f"not done after {most} ticks")


def made(game: ScreenGame, domain: Domain, item: str, wanted: int) -> int:
    return carry_out(craft(hand_in(game, domain), domain.expand(item), wanted), game)


@pytest.mark.parametrize(("width", "height", "scale"), [(640, 360, 1), (1280, 720, 2), (854, 480, 2)])
def test_from_a_log_to_a_wooden_pickaxe(minecraft: Domain, width: int, height: int, scale: int) -> None:
    game = ScreenGame({20: ("oak_log", 3)}, width, height, scale)
    made(game, minecraft, "oak_planks", 12)
    made(game, minecraft, "stick", 4)
    made(game, minecraft, "crafting_table", 1)
    ticks = made(game, minecraft, "wooden_pickaxe", 1)
    assert held(game) == {"oak_planks": 3, "stick": 2, "crafting_table": 1, "wooden_pickaxe": 1}
    assert game.missed == 0, "every click hit a slot"
    assert game.screen is None
    assert game.ahead is None, "the table was taken back"
    assert ticks < 300


def test_what_is_short_is_named_and_nothing_is_touched(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_planks", 2), 1: ("crafting_table", 1)})
    with pytest.raises(GivenUpError, match="missing item") as caught:
        made(game, minecraft, "wooden_pickaxe", 1)
    assert (caught.value.signal, caught.value.name) == ("missing_item", "#planks")
    assert game.now == 0


def test_without_a_table_it_is_the_station_that_is_missing(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_planks", 8), 1: ("stick", 4)})
    with pytest.raises(GivenUpError) as caught:
        made(game, minecraft, "wooden_pickaxe", 1)
    assert (caught.value.signal, caught.value.name) == ("missing_station", "crafting_table")


def test_several_stacks_of_several_kinds_are_drawn_from(minecraft: Domain) -> None:
    game = ScreenGame({4: ("oak_planks", 1), 17: ("oak_planks", 1), 30: ("oak_planks", 2)})
    made(game, minecraft, "crafting_table", 1)
    assert held(game) == {"crafting_table": 1}
    lay = lay_out(minecraft, frozenset({"crafting_table"}), {"oak_planks": 3, "birch_planks": 1})
    assert sorted(item for item, _ in lay.cells) == ["birch_planks", "oak_planks", "oak_planks", "oak_planks"]


def test_a_game_that_does_not_hear_clicks_is_left_with_its_screen_closed(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_log", 1)}, deaf=True)
    with pytest.raises(GivenUpError, match="crafting oak_planks gave nothing") as caught:
        made(game, minecraft, "oak_planks", 4)
    assert caught.value.signal == "result_failed"
    assert game.screen is None
    assert held(game) == {"oak_log": 1}


def test_a_screen_that_does_not_open_is_waited_for_and_given_up(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_log", 1)}, shut=True)
    with pytest.raises(GivenUpError, match="did not open"):
        made(game, minecraft, "oak_planks", 4)
    assert game.now < 40


def test_a_full_inventory_is_told_and_what_lay_on_the_grid_comes_back(minecraft: Domain) -> None:
    full = dict.fromkeys(range(35), ("dirt", 64)) | {35: ("oak_log", 2)}
    game = ScreenGame(full)
    with pytest.raises(GivenUpError) as caught:
        made(game, minecraft, "oak_planks", 4)
    assert caught.value.signal == "inventory_full"
    assert held(game)["oak_log"] == 2
    assert not game.grid


def test_no_room_for_a_table(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_planks", 8), 1: ("stick", 4), 9: ("crafting_table", 1)}, walled=True)
    with pytest.raises(GivenUpError, match="no room to place"):
        made(game, minecraft, "wooden_pickaxe", 1)
    assert held(game)["crafting_table"] == 1


def test_there_is_room_wherever_the_body_stands_and_looks(minecraft: Domain) -> None:
    edges = (0.02, 0.25, 0.5, 0.75, 0.98)
    for x, z, yaw in product(edges, edges, range(-180, 180, 24)):
        slots = {0: ("oak_planks", 3), 1: ("stick", 2), 2: ("crafting_table", 1)}
        game = ScreenGame(slots, x=x, z=z, yaw=yaw)
        made(game, minecraft, "wooden_pickaxe", 1)
        assert held(game) == {"wooden_pickaxe": 1, "crafting_table": 1}


@pytest.mark.parametrize("tools", [{}, {8: ("wooden_pickaxe", 1)}])
def test_a_wall_all_around_makes_way(minecraft: Domain, tools: dict[int, tuple[str, int]]) -> None:
    slots = {0: ("cobblestone", 3), 1: ("stick", 2), 20: ("crafting_table", 1), **tools}
    game = ScreenGame(slots, cells=dict.fromkeys(AROUND, "stone"))
    if tools:
        made(game, minecraft, "stone_pickaxe", 1)
        assert held(game)["stone_pickaxe"] == held(game)["crafting_table"] == 1
        assert list(game.cells.values()) == ["stone"] * 7
    else:
        with pytest.raises(GivenUpError, match="no room to place"):
            made(game, minecraft, "stone_pickaxe", 1)
        assert held(game)["crafting_table"] == 1
    assert game.screen is None


def test_a_station_that_stands_there_is_not_taken_for_the_one_that_is_put_down(minecraft: Domain) -> None:
    game = ScreenGame(
        {0: ("oak_planks", 3), 1: ("stick", 2), 2: ("crafting_table", 1)}, cells={(0, 1): "furnace"}
    )
    made(game, minecraft, "wooden_pickaxe", 1)
    assert held(game) == {"wooden_pickaxe": 1, "crafting_table": 1}
    assert game.cells == {(0, 1): "furnace"}


def test_nothing_is_put_on_the_ground_where_a_full_inventory_has_room_for_it(minecraft: Domain) -> None:
    game = ScreenGame(dict.fromkeys(range(35), ("dirt", 64)) | {35: ("oak_log", 1)})
    made(game, minecraft, "oak_planks", 4)
    assert held(game)["oak_planks"] == 4
    assert not game.lost


def test_ore_becomes_ingots_and_the_furnace_comes_back_with_a_pickaxe(minecraft: Domain) -> None:
    game = ScreenGame(
        {3: ("iron_ore", 3), 10: ("coal", 2), 21: ("furnace", 1), 8: ("wooden_pickaxe", 1), 5: ("stick", 9)}
    )
    ticks = carry_out(smelt(hand_in(game, minecraft), "iron_ingot", 3), game)
    assert held(game) == {"iron_ingot": 3, "coal": 1, "furnace": 1, "wooden_pickaxe": 1, "stick": 9}
    assert 600 < ticks < 900
    assert game.missed == 0


def test_without_a_pickaxe_the_furnace_is_left_standing(minecraft: Domain) -> None:
    game = ScreenGame({0: ("iron_ore", 1), 1: ("coal", 1), 2: ("furnace", 1)})
    carry_out(smelt(hand_in(game, minecraft), "iron_ingot", 1), game)
    assert held(game) == {"iron_ingot": 1}
    assert game.ahead == "furnace"


@pytest.mark.parametrize(
    ("slots", "signal"),
    [
        ({0: ("coal", 1), 1: ("furnace", 1)}, "missing_item"),
        ({0: ("iron_ore", 1), 1: ("furnace", 1), 2: ("wooden_pickaxe", 1)}, "missing_fuel"),
        ({0: ("iron_ore", 1), 1: ("coal", 1)}, "missing_station"),
    ],
)
def test_what_smelting_lacks(minecraft: Domain, slots: dict[int, tuple[str, int]], signal: str) -> None:
    with pytest.raises(GivenUpError) as caught:
        carry_out(smelt(hand_in(ScreenGame(slots), minecraft), "iron_ingot", 1), ScreenGame(slots))
    assert caught.value.signal == signal


@pytest.mark.parametrize(
    ("slots", "product", "wanted", "left"),
    [
        # Two pieces are worth two logs of fire, half of the second of which burns for nothing.
        ({0: ("oak_log", 4)}, "charcoal", 2, {"charcoal": 2}),
        ({0: ("oak_log", 3), 1: ("oak_planks", 2)}, "charcoal", 2, {"charcoal": 2, "oak_log": 1}),
        ({0: ("iron_ore", 4), 1: ("oak_planks", 2), 3: ("oak_log", 1)}, "iron_ingot", 4, {"iron_ingot": 4}),
    ],
)
def test_fuels_are_used_as_far_as_they_last(
    minecraft: Domain, slots: dict[int, tuple[str, int]], product: str, wanted: int, left: dict[str, int]
) -> None:
    station = {20: ("furnace", 1), 8: ("wooden_pickaxe", 1)}
    game = ScreenGame({**slots, **station})
    carry_out(smelt(hand_in(game, minecraft), product, wanted), game)
    assert held(game) == {**left, "furnace": 1, "wooden_pickaxe": 1}


def test_one_log_cannot_burn_itself(minecraft: Domain) -> None:
    game = ScreenGame({0: ("oak_log", 1), 1: ("furnace", 1)})
    with pytest.raises(GivenUpError) as caught:
        carry_out(smelt(hand_in(game, minecraft), "charcoal", 1), game)
    assert caught.value.signal == "missing_fuel"


def test_of_what_is_missing_for_a_furnace_the_easiest_to_find_is_named(minecraft: Domain) -> None:
    game = ScreenGame({0: ("coal", 1), 1: ("furnace", 1)})
    with pytest.raises(GivenUpError) as caught:
        carry_out(smelt(hand_in(game, minecraft), "iron_ingot", 1), game)
    assert (caught.value.signal, caught.value.name) == ("missing_item", "iron_ore")
