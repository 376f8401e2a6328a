"""The failure cascade: one row of the table each, what must not be taken for it, and the order of causes."""

import pytest

from tests.monitor_scenes import Try, judge, judged, pace, says, scene, sees, stand, types, walk
from warehouse.domains import Domain
from warehouse.vocabulary import FAILURE_TYPES

EXAMPLES: dict[str, Try] = {
    "INFRASTRUCTURE": Try(end="infrastructure", path=[]),
    "DEATH": Try(events=[says("died")]),
    "INVALID_ACTION": Try(events=[says("invalid_action")]),
    "INVENTORY_FULL": Try(events=[says("inventory_full")]),
    "MISSING_STATION": Try(kind="craft", target="stone_pickaxe", events=[says("missing_station")]),
    "MISSING_TOOL": Try(events=[says("missing_tool", name="stone_pickaxe")]),
    "NO_FUEL": Try(kind="smelt", target="iron_ingot", events=[says("missing_fuel")]),
    "MISSING_INGREDIENT": Try(kind="craft", target="stick", events=[says("missing_item")]),
    "GUI_STALL": Try(kind="craft", target="stick", ticks={"gui": "inventory"}),
    "RECIPE_FAIL": Try(kind="craft", target="stick", events=[says("started", name="craft:stick")]),
    "SMELT_FAIL": Try(kind="smelt", target="iron_ingot", events=[says("started", name="smelt:iron_ingot")]),
    "TARGET_NOT_FOUND": Try(path=walk(200, 40), ticks={"action": "forward"}, end="timeout"),
    "TARGET_UNREACHABLE": Try(path=walk(200, 40), sightings=[sees("iron_ore")], end="timeout"),
    "NAV_STUCK": Try(kind="move", target=None, path=stand(200), ticks={"action": "forward"}, end="timeout"),
    "PREMATURE_STOP": Try(claimed=True, events=[says("claim_have", name="iron_ore", count=1)]),
    "NO_ACTION": Try(ticks={"action": "noop"}),
    "TIMEOUT": Try(kind="move", target=None, path=walk(200, 40), ticks={"action": "forward"}, end="timeout"),
    "UNKNOWN": Try(kind="move", target=None, path=walk(200, 40), ticks={"action": "forward"}),
}


def test_every_type_has_an_example() -> None:
    assert tuple(EXAMPLES) == FAILURE_TYPES


@pytest.mark.parametrize("failure_type", FAILURE_TYPES)
def test_each_row_of_the_table_is_emitted(failure_type: str, minecraft: Domain) -> None:
    row = judge(EXAMPLES[failure_type], minecraft)
    assert row["failure_type"] == failure_type
    if failure_type == "UNKNOWN":
        assert row["failure_causes"] == []
        assert row["failure_evidence"] is None
    else:
        assert failure_type in types(row)
        assert row["failure_evidence"]["text"]


@pytest.mark.parametrize("failure_type", [name for name in FAILURE_TYPES if name != "INFRASTRUCTURE"])
def test_a_success_has_no_failure_whatever_happened_on_the_way(failure_type: str, minecraft: Domain) -> None:
    won = EXAMPLES[failure_type]
    row = judge(Try(**{**vars(won), "success": True}), minecraft)
    assert (row["failure_type"], row["failure_causes"], row["failure_evidence"]) == ("NONE", [], None)


def test_causes_are_in_order_of_first_tick_and_the_type_follows_the_cascade(minecraft: Domain) -> None:
    events = [
        says("path_blocked", 3),
        says("missing_item", 4, name="stick"),
        says("path_blocked", 6),
        says("missing_tool", 9, name="stone_pickaxe"),
    ]
    row = judge(Try(events=events), minecraft)
    assert types(row) == ["NAV_STUCK", "MISSING_INGREDIENT", "MISSING_TOOL"]
    assert [cause["tick"] for cause in row["failure_causes"]] == [3, 4, 9]
    assert row["failure_type"] == "MISSING_TOOL"
    assert row["failure_evidence"] == {
        "tick": 9,
        "seq": 3,
        "name": "stone_pickaxe",
        "count": None,
        "items": None,
        "text": "it said missing_tool",
    }


def test_causes_of_one_tick_keep_the_order_of_the_recording(minecraft: Domain) -> None:
    row = judge(Try(events=[says("path_blocked", 3), says("invalid_action", 3)]), minecraft)
    assert types(row) == ["NAV_STUCK", "INVALID_ACTION"]


def test_without_a_verdict_only_the_hard_types_are_told(minecraft: Domain) -> None:
    soft = judge(Try(success=None, path=pace(200), ticks={"action": "forward"}), minecraft)
    assert (soft["y"], soft["failure_type"], soft["failure_causes"]) == (None, None, [])
    hard = judge(Try(success=None, path=pace(200), events=[says("died")]), minecraft)
    assert (hard["y"], hard["failure_type"], types(hard)) == (None, "DEATH", ["DEATH"])
    assert [hard[name] for name in ("progress", "stagnant", "stagnant_paper")] == [None, None, None]


def test_what_happened_in_one_attempt_explains_no_other(minecraft: Domain) -> None:
    rows = judged(scene(Try(events=[says("died")]), Try(path=walk(30, 3)), Try(events=[])), minecraft)
    assert [row["failure_type"] for row in rows] == ["DEATH", "UNKNOWN", "NO_ACTION"]
