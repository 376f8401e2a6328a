"""Clearing the way out of pits and shafts: what a walk stays in, `path_clear` leads out of."""

import math

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rollouts.executors.geometry import Cell
from rollouts.executors.registry import executor
from rollouts.protocols import Action, Executor, Observation, Subgoal
from rollouts.worlds.techtree import TechTree
from tests.test_scripted_fake_world import DOMAIN, FakeWorld, carry_out, subgoal
from warehouse.knowledge import Check

TO_TABLE = subgoal("move", "crafting_table", 1, Check(type="station_near", name="crafting_table"))
CLEAR = subgoal("move", None, 1, Check(type="path_clear"), words="move until path_clear")
ROUTE = subgoal("move", None, 1, Check(type="path_clear"), words="move on by another route")
RIM = 64
"""y of the ground around a pit of the fake world"""


@st.composite
def pits(draw: st.DrawFn) -> FakeWorld:
    """The body at the bottom of a pit with straight walls; a table on the ground some blocks off its rim."""
    depth = draw(st.integers(4, 7))
    low, high = [draw(st.integers(0, 2)) for _ in range(2)], [draw(st.integers(0, 2)) for _ in range(2)]
    cells = {
        Cell(x, y, z): "air"
        for x in range(-low[0], high[0] + 1)
        for z in range(-low[1], high[1] + 1)
        for y in range(RIM - depth, RIM)
    }
    side, off = draw(st.sampled_from((-1, 1))), draw(st.integers(-5, 5))
    away = side * draw(st.integers(5, 8))
    table = Cell(away, RIM, off) if draw(st.booleans()) else Cell(off, RIM, away)
    world = FakeWorld(cells | {table: "crafting_table"}, toughness=draw(st.integers(2, 8)))
    world.y = float(RIM - depth)
    world.yaw = draw(st.sampled_from((0.0, 90.0, 180.0, 270.0)))
    return world


@settings(max_examples=10, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(world=pits(), first=st.sampled_from((TO_TABLE, CLEAR, ROUTE)))
def test_clearing_the_way_leads_out_of_every_pit(world: FakeWorld, first: Subgoal) -> None:
    policy = executor("scripted", DOMAIN, 0)
    seen, _, _ = carry_out(world, first, world.observe(), policy)
    for goal in (TO_TABLE, CLEAR, TO_TABLE, CLEAR, TO_TABLE):
        if not (world.near("crafting_table") and world.y.is_integer()):
            seen, _, _ = carry_out(world, goal, seen, policy)
    assert world.near("crafting_table")


@pytest.fixture(scope="module")
def grown() -> TechTree:
    return TechTree(DOMAIN)


def in_a_shaft(world: TechTree, seed: int, depth: int, width: int) -> Observation:
    """A new world, the body in a shaft with its pickaxe, a table on the ground beside the shaft."""
    seen = world.reset(seed)
    x, y, z = math.floor(seen.x), math.floor(seen.y), math.floor(seen.z)
    world.play.put((x + width + 3, y, z + 1), "crafting_table")
    world.play.put((x + width + 3, y - 1, z + 1), "dirt")
    for dx in range(width):
        for dz in range(width):
            for dy in range(1, depth + 1):
                world.play.put((x + dx, y - dy, z + dz), "air")
    world.play.pack.add("wooden_pickaxe", 1)
    return world.step(Action(), 60).observation


def near_table(world: TechTree, seen: Observation) -> bool:
    """It stands where the table can be worked at."""
    tables = zip(*(world.play.blocks == world.play.catalogue.block["crafting_table"]).nonzero(), strict=True)
    eye = (seen.x, seen.y + 1.62, seen.z)
    return any(math.dist(eye, [float(at) + 0.5 for at in cell]) <= 4.5 for cell in tables)


def settled(world: TechTree, goal: Subgoal, first: Observation, policy: Executor) -> Observation:
    """As `carry_out`; what was in the air at the end has come down."""
    carry_out(world, goal, first, policy)
    return world.step(Action(), 20).observation


@pytest.mark.parametrize(("depth", "width"), [(4, 1), (6, 1), (8, 2)])
def test_clearing_the_way_leads_out_of_shafts_in_grown_ground(
    grown: TechTree, depth: int, width: int
) -> None:
    got = []
    for seed in range(5):
        policy = executor("scripted", DOMAIN, seed)
        seen = settled(grown, TO_TABLE, in_a_shaft(grown, seed, depth, width), policy)
        assert not near_table(grown, seen), "walking alone does not lead out"
        for _ in range(3):
            if not near_table(grown, seen):
                seen = settled(grown, CLEAR, seen, policy)
                seen = settled(grown, TO_TABLE, seen, policy)
        got.append(near_table(grown, seen))
    assert got == [True] * 5


def test_a_gorge_whose_bottom_is_out_of_sight_is_not_dug_down_beside() -> None:
    gorge = {Cell(x, y, z): "air" for x in range(-30, 31) for z in range(4, 9) for y in range(44, 64)}
    world = FakeWorld(gorge | {Cell(0, 64, 10): "oak_log"}, toughness=5)
    policy = executor("scripted", DOMAIN, 0)
    seen, _, _ = carry_out(world, subgoal("mine", "oak_log"), world.observe(), policy)
    assert seen.z < 4.5
    seen, _, _ = carry_out(world, CLEAR, seen, policy)
    assert seen.y == RIM


def test_who_stands_over_an_edge_steps_back_to_clear_the_way() -> None:
    # Its middle is over the gorge, a corner of the soles still on the ground.
    gorge = {Cell(x, y, z): "air" for x in range(-30, 31) for z in range(4, 20) for y in range(44, 64)}
    world = FakeWorld(gorge)
    world.z, world.yaw = 4.2, 0.0
    policy = executor("scripted", DOMAIN, 0)
    seen, _, _ = carry_out(
        world, subgoal("mine", "dirt", 1, Check(type="path_clear")), world.observe(), policy
    )
    assert seen.y == RIM


def test_clearing_ends_where_the_goal_can_be_worked_at() -> None:
    # The table is met on top of the steps: it is no wall, and nothing is left to get past.
    cells = {Cell(0, y, z): "air" for y in range(59, 64) for z in (-1, 0)}
    world = FakeWorld(cells | {Cell(0, 64, 5): "crafting_table"}, toughness=4)
    world.y = 59.0
    policy = executor("scripted", DOMAIN, 0)
    seen, _, _ = carry_out(world, TO_TABLE, world.observe(), policy)
    seen, ended, _ = carry_out(world, CLEAR, seen, policy)
    assert ended
    assert world.near("crafting_table")
    assert world.at(Cell(0, 64, 5)) == "crafting_table"
