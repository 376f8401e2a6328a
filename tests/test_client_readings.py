"""What a client's worker says of a tick, in the words of the trace contract."""

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts.protocols import Keys, WorldEvent
from rollouts.worlds.client.readings import Reader, columns, picture

REST = Keys()


def told(**what: Any) -> dict[str, Any]:
    return {"inventory": {}, "gui": False, **what}


def test_the_first_reading_is_where_counting_begins() -> None:
    reader = Reader(told(counters={"mine_block:stone": 4}))
    assert reader.read(told(counters={"mine_block:stone": 4}), REST, 1) == ([], [])
    events, _ = reader.read(told(counters={"mine_block:stone": 7, "custom:jump": 9}), REST, 2)
    assert events == [WorldEvent(2, "counter", "mine_block:stone", 3)]


@given(st.lists(st.integers(0, 3), max_size=20))
def test_what_rose_is_told_once_and_adds_up(steps: list[int]) -> None:
    reader, total, seen = Reader(told()), 0, 0
    for tick, more in enumerate(steps, 1):
        total += more
        events, _ = reader.read(told(counters={"craft_item:stick": total}), REST, tick)
        assert len(events) == (more > 0)
        seen += sum(each.count or 0 for each in events)
    assert seen == total


def test_an_inventory_is_told_by_its_changes() -> None:
    reader = Reader(told(inventory={"oak_log": 2, "none": 30}))
    assert reader.now.inventory == {"oak_log": 2}
    _, changes = reader.read(told(inventory={"oak_planks": 4, "oak_log": 1}), REST, 5)
    assert changes == [(5, "oak_log", -1, 1), (5, "oak_planks", 4, 4)]
    with pytest.raises(ValueError, match="no inventory that can be read"):
        reader.read(told(inventory={"oak_log": "many"}), REST, 6)


def test_an_empty_hand_is_none_and_an_untold_one_unknown() -> None:
    assert Reader(told(equipped="air")).now.equipped == "none"
    assert Reader(told(equipped="minecraft:torch")).now.equipped == "torch"
    assert Reader(told()).now.equipped is None


def test_a_screen_is_named_by_what_opened_it() -> None:
    def opened(keys: Keys, **what: Any) -> str | None:
        reader = Reader(told())
        reader.read(told(gui=True, **what), keys, 1)
        return reader.now.gui

    assert opened(Keys(("inventory",))) == "inventory"
    assert opened(Keys(("use",))) == "other"
    used = {"custom:interact_with_crafting_table": 1}
    assert opened(Keys(("use",)), counters=used) == "crafting_table"
    assert opened(Keys(("use",)), counters={"custom:interact_with_anvil": 1}) == "other"
    assert opened(Keys(("use",)), counters={"custom:interact_with_furnace": 1}) == "furnace"


def test_a_death_is_told_once() -> None:
    reader = Reader(told(alive=True))
    assert reader.read(told(alive=False), REST, 3)[0] == [WorldEvent(3, "game", "died", None, None, "died")]
    assert reader.read(told(alive=False), REST, 4) == ([], [])


def test_what_is_not_told_stays_unknown() -> None:
    now = Reader(told(gui=None)).now
    assert (now.alive, now.gui, now.equipped, now.slots) == (None, None, None, None)
    made = columns([now], [Keys(("attack",), 1.0, 0.0)])
    assert np.isnan(made["health"]).all()
    assert made["alive"].tolist() == [None]
    assert made["action"].tolist() == ["attack+camera"]


def test_a_picture_has_its_rows_of_rgb() -> None:
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    told_ = {"frame": base64.b64encode(pixels.tobytes()).decode()}
    seen = picture(told_, (3, 2))
    assert seen is not None
    assert np.array_equal(seen, pixels)
    assert picture({}, (3, 2)) is None
    with pytest.raises(ValueError, match="reshape"):
        picture(told_, (4, 4))
