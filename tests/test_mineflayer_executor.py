"""Subgoals as errands: what a worker is told of the game."""

from typing import Any

import pytest

from rollouts.executors.registry import executor
from rollouts.protocols import Observation, Subgoal
from rollouts.worlds.mineflayer.executor import MineflayerExecutor
from warehouse.domains import Domain
from warehouse.knowledge import Check


def seen(held: dict[str, int] | None = None, *, busy: bool = False, alive: bool = True) -> Observation:
    return Observation(
        tick=1,
        x=0.0,
        y=64.0,
        z=0.0,
        yaw=0.0,
        pitch=0.0,
        health=20.0,
        hunger=20.0,
        alive=alive,
        gui="none",
        inventory=held or {},
        equipped="air",
        busy=busy,
    )


def wish(kind: str, target: str | None, *checks: Check, condition: str = "", count: int = 1) -> Subgoal:
    return Subgoal("s", condition or f"{kind} {target}", kind, target, count, checks=checks)


def errand(domain: Domain, subgoal: Subgoal, held: dict[str, int] | None = None) -> dict[str, Any] | None:
    policy = MineflayerExecutor(domain, 0)
    policy.start(subgoal, seen(held))
    move = policy.act(seen(held))
    assert move is None or move.action.errand is not None
    return None if move is None else dict(move.action.errand or {})


def test_mining_names_blocks_and_what_they_leave(minecraft: Domain) -> None:
    asked = errand(minecraft, wish("mine", "cobblestone", count=3), {"cobblestone": 2})
    assert asked is not None
    assert {"stone", "cobblestone"} <= set(asked["blocks"])
    assert (asked["items"], asked["wanted"]) == (["cobblestone"], 5)
    assert asked["ground"]
    logs = errand(minecraft, wish("mine", "#logs"))
    assert logs is not None
    assert not logs["ground"]


def test_a_check_says_how_much_and_of_what(minecraft: Domain) -> None:
    check = Check(type="inv_ge", name="#saplings", value=1.0)
    asked = errand(minecraft, wish("mine", "#leaves", check), {"stick": 3, "apple": 1})
    assert asked is not None
    assert asked["wanted"] == 1
    assert all(item.endswith("_sapling") for item in asked["items"])
    assert asked["lucky"]


def test_a_depth_goes_along(minecraft: Domain) -> None:
    deep = Check(type="ypos_le", value=12.0)
    assert (errand(minecraft, wish("mine", "diamond_ore", deep)) or {})["depth"] == 12.0
    moved = errand(minecraft, wish("move", None, deep)) or {}
    assert (moved["depth"], moved["height"], moved["stations"]) == (12.0, None, [])
    near = errand(minecraft, wish("move", None, Check(type="station_near", name="furnace"))) or {}
    assert near["stations"] == ["furnace"]


def test_smelting_knows_inputs_and_spares_tools(minecraft: Domain) -> None:
    asked = errand(minecraft, wish("smelt", "iron_ingot", count=2)) or {}
    assert (asked["product"], asked["wanted"]) == ("iron_ingot", 2)
    assert "iron_ore" in asked["sources"]
    assert asked["fuels"]["coal"] == 8
    assert not {"wooden_pickaxe", "crafting_table"} & set(asked["fuels"])


@pytest.mark.parametrize(
    ("target", "condition", "held", "verb"),
    [
        ("crafting_table", "use crafting_table", {"crafting_table": 1}, "place"),
        ("crafting_table", "use crafting_table", {}, "open"),
        ("crafting_table", "place the crafting table", {}, "place"),
        ("bread", "use bread", {"bread": 1}, "eat"),
        ("iron_helmet", "wear iron_helmet", {"iron_helmet": 1}, "equip"),
    ],
)
def test_what_is_done_with_a_thing(
    target: str, condition: str, held: dict[str, int], verb: str, minecraft: Domain
) -> None:
    assert (errand(minecraft, wish("use", target, condition=condition), held) or {})["verb"] == verb


def test_fighting_names_creatures(minecraft: Domain) -> None:
    assert (errand(minecraft, wish("combat", "leather")) or {})["creatures"]
    assert (errand(minecraft, wish("combat", "cow", count=2)) or {})["count"] == 2


@pytest.mark.parametrize(("kind", "target"), [("mine", "nothing"), ("craft", "nothing"), ("dance", None)])
def test_what_means_nothing_is_given_up_at_once(kind: str, target: str | None, minecraft: Domain) -> None:
    assert errand(minecraft, wish(kind, target)) is None


def test_an_errand_goes_on_while_the_world_is_busy_and_each_has_its_number(minecraft: Domain) -> None:
    policy = executor("scripted", minecraft, 0, "mineflayer")
    assert isinstance(policy, MineflayerExecutor)
    policy.start(wish("craft", "stick"), seen())
    first = policy.act(seen())
    assert first is not None
    again = policy.act(seen(busy=True))
    assert again == first
    assert policy.act(seen()) is None
    policy.start(wish("craft", "stick"), seen())
    other = policy.act(seen())
    assert other is not None
    assert (other.action.errand or {})["number"] != (first.action.errand or {})["number"]
    assert policy.act(seen(busy=True, alive=False)) is None
