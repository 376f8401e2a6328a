"""The scripted executor in the built-in world: what it manages from the spawn point, on several seeds.

The bounds are low on purpose: they say that it works, not how well. `python -m bench.executor` has figures.
"""

import math

import pytest

from bench import executor as bench
from rollouts.executors.registry import executor
from rollouts.protocols import Action, Executor, Observation, Subgoal
from rollouts.worlds.techtree import TechTree
from tests.test_scripted_fake_world import DOMAIN, carry_out, subgoal
from warehouse.knowledge import Check

LOGS = DOMAIN.expand("#logs")
FAR = 12
CLEAR = Check(type="path_clear")


@pytest.fixture(scope="module")
def world() -> TechTree:
    return TechTree(DOMAIN)


def opened(world: TechTree, seed: int, **pack: int) -> Observation:
    """A new world, with these things in the pack."""
    seen = world.reset(seed)
    for item, count in pack.items():
        world.play.pack.add(item, count)
    return world.step(Action()).observation if pack else seen


def without_near_trees(world: TechTree, seed: int) -> Observation:
    """A new world in which no log stands within FAR blocks of the spawn point."""
    seen = world.reset(seed)
    x, y, z = math.floor(seen.x), math.floor(seen.y), math.floor(seen.z)
    for dx in range(-FAR - 1, FAR + 2):
        for dz in range(-FAR - 1, FAR + 2):
            for dy in range(-12, 16):
                cell = (x + dx, y + dy, z + dz)
                if world.play.inside(cell) and world.play.block(cell) in LOGS:
                    world.play.put(cell, "air")
    return world.step(Action()).observation


def held(seen: Observation, *items: str) -> int:
    return sum(seen.inventory.get(item, 0) for item in items)


def in_order(
    world: TechTree, policy: Executor, seen: Observation, goals: list[Subgoal], limit: int = 1500
) -> Observation:
    for each in goals:
        seen, _, _ = carry_out(world, each, seen, policy, limit)
    return seen


def test_gets_a_log_from_twelve_blocks_and_more(world: TechTree) -> None:
    got = []
    for seed in range(8):
        first = without_near_trees(world, seed)
        seen, _, _ = carry_out(world, subgoal("mine", "#logs"), first, limit=2400)
        got.append(held(seen, *LOGS) > 0)
    assert sum(got) >= 4, got


def test_makes_a_table_and_a_pickaxe_from_nothing(world: TechTree) -> None:
    plan = [
        subgoal("mine", "#logs", 3),
        subgoal("craft", "#planks", 12),
        subgoal("craft", "crafting_table"),
        subgoal("craft", "stick", 2),
        subgoal("use", "crafting_table", words="place the crafting table"),
        subgoal("craft", "wooden_pickaxe"),
    ]
    got = []
    for seed in range(6):
        policy = executor("scripted", DOMAIN, seed)
        seen = in_order(world, policy, opened(world, seed), plan)
        got.append(held(seen, "wooden_pickaxe"))
    assert sum(got) >= 3, got


def test_digs_to_stone(world: TechTree) -> None:
    got = []
    for seed in range(6):
        first = opened(world, seed, wooden_pickaxe=1)
        seen, _, _ = carry_out(world, subgoal("mine", "cobblestone", 3), first, limit=2400)
        got.append(held(seen, "cobblestone") >= 3)
    assert sum(got) >= 4, got


def test_without_a_pickaxe_stone_gives_nothing_and_it_stops(world: TechTree) -> None:
    goal = subgoal("mine", "cobblestone", 3, Check(type="ypos_le", value=50.0))
    seen, ended, _ = carry_out(world, goal, opened(world, 5), limit=9000)
    assert ended
    assert held(seen, "cobblestone") == 0


def test_smelts_in_a_furnace_that_it_put_down(world: TechTree) -> None:
    first = opened(world, 5, furnace=1, iron_ore=2, oak_planks=4)
    policy = executor("scripted", DOMAIN, 5)
    plan = [subgoal("use", "furnace", words="place the furnace"), subgoal("smelt", "iron_ingot", 2)]
    seen = in_order(world, policy, first, plan)
    assert held(seen, "iron_ingot") == 2
    assert held(seen, "oak_planks") == 2


def test_kills_a_cow_that_is_in_view(world: TechTree) -> None:
    got = []
    for seed in range(40):
        first = opened(world, seed)
        if len(got) < 5 and first.window and any(each.name == "cow" for each in first.window.entities):
            seen, _, _ = carry_out(world, subgoal("combat", "cow"), first)
            got.append(held(seen, "leather", "beef") > 0)
    assert len(got) >= 2
    assert sum(got) >= len(got) / 2, got


def test_clearing_the_way_helps_more_than_trying_again(world: TechTree) -> None:
    goal = subgoal("mine", "#logs", 4)
    clear = subgoal("move", None, 1, CLEAR, words="clear blocking block")
    helped = {"again": 0, "cleared": 0}
    for seed in range(16):
        for name in helped:
            policy = executor("scripted", DOMAIN, seed)
            seen, _, _ = carry_out(world, goal, opened(world, seed), policy)
            if held(seen, *LOGS) < 4 and seen.alive:
                between = [clear] if name == "cleared" else []
                rest = subgoal("mine", "#logs", 4 - held(seen, *LOGS))
                seen = in_order(world, policy, seen, [*between, rest])
                helped[name] += held(seen, *LOGS) >= 4
    assert helped["cleared"] >= helped["again"]


def test_two_runs_are_the_same_tick_by_tick(world: TechTree) -> None:
    def trail(seed: int) -> list[tuple[object, ...]]:
        goal = subgoal("mine", "iron_ore", 1, Check(type="ypos_le", value=50.0))
        seen, _, moves = carry_out(world, goal, opened(world, seed, stone_pickaxe=1), limit=1500)
        return [seen.x, seen.y, seen.z, seen.tick, *moves]  # type: ignore[list-item]

    assert trail(3) == trail(3)


def test_the_bench_counts_what_was_done(world: TechTree) -> None:
    table = {row.title: row for row in bench.rows(DOMAIN)}
    placed = bench.run(world, DOMAIN, table["place a table"], [1000, 1001])
    assert [each.ticks <= 600 and each.alive for each in placed] == [True, True]
    without = bench.run(world, DOMAIN, table["craft a pickaxe, table held, not placed"], [1000])
    assert (without[0].done, without[0].gave_up) == (False, True)
