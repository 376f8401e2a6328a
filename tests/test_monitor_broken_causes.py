"""What became of the blocks that were broken."""

from typing import Any

import pytest

from rollouts.monitor import DEFAULTS
from tests.monitor_scenes import Row, Try, judge, stand, types
from tests.test_monitor_tried_causes import junk
from warehouse.domains import Domain


def broke(*ticks: int, block: str = "oak_log") -> list[Row]:
    return [{"tick": tick, "kind": "counter", "name": f"mine_block:{block}", "count": 1} for tick in ticks]


def mine(
    target: str, events: list[Row], domain: Domain, length: int = 30, tool: str = "none", **more: Any
) -> Row:
    each = Try("mine", target, path=stand(length), ticks={"equipped": tool}, events=events, **more)
    return judge(each, domain)


def test_a_drop_that_did_not_come_in_was_left(minecraft: Domain) -> None:
    row = mine("oak_log", broke(5, 15), minecraft, changes=[(7, "oak_log", 1)], needed=2)
    assert row["failure_type"] == "TARGET_UNREACHABLE"
    assert row["failure_evidence"]["count"] == 1


def test_as_many_as_broke_came_in(minecraft: Domain) -> None:
    changes = [(7, "oak_log", 1), (16, "oak_log", 1)]
    assert types(mine("oak_log", broke(5, 15), minecraft, changes=changes, needed=3)) == []


@pytest.mark.parametrize(("spare", "left"), [(0, True), (-1, False)])
def test_what_broke_just_before_the_time_was_over_may_still_have_come(
    spare: int, left: bool, minecraft: Domain
) -> None:
    length = 10 + DEFAULTS.drop_late + spare + 1
    row = mine("oak_log", broke(10), minecraft, length, end="timeout")
    assert ("TARGET_UNREACHABLE" in types(row)) == left


def test_a_rare_drop_is_not_missed(minecraft: Domain) -> None:
    assert types(mine("oak_sapling", broke(5, 9, block="oak_leaves"), minecraft)) == []


def test_a_full_pack_is_why_it_did_not_come_in(minecraft: Domain) -> None:
    assert mine("oak_log", broke(5), minecraft, held=junk(36, minecraft))["failure_type"] == "INVENTORY_FULL"
    begun = junk(35, minecraft) | {"oak_log": 63}
    assert mine("oak_log", broke(5), minecraft, held=begun)["failure_type"] == "TARGET_UNREACHABLE"


def test_what_was_in_the_way_need_not_have_dropped(minecraft: Domain) -> None:
    assert types(mine("oak_log", broke(5, block="stone"), minecraft)) == []
    assert types(mine("cobblestone", broke(5, block="stone"), minecraft)) == ["MISSING_TOOL"]


def test_a_tool_that_broke_on_the_way_is_missing_from_then_on(minecraft: Domain) -> None:
    tools = ["wooden_pickaxe"] * 10 + ["none"] * 20
    each = Try(
        "mine",
        "cobblestone",
        3,
        path=stand(30),
        ticks={"equipped": tools},
        events=broke(5, 15, block="stone"),
        changes=[(6, "cobblestone", 1)],
    )
    assert types(judge(each, minecraft)) == ["MISSING_TOOL"]
