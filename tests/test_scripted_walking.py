"""How the scripted executor walks, gets stuck and gets past it, in hand-made places."""

import pytest

from rollouts.executors.body import Body
from rollouts.executors.geometry import Cell, Point, cells_between, compass, look_at, unit, yaw_to
from rollouts.executors.registry import executor
from rollouts.executors.walking import Ground, ahead
from tests.test_scripted_fake_world import DOMAIN, FakeWorld, carry_out, subgoal, wall
from warehouse.knowledge import Check

CLEAR = Check(type="path_clear")
LOG = {Cell(0, 64, 10): "oak_log", Cell(0, 65, 10): "oak_log"}


def body_in(world: FakeWorld) -> Body:
    body = Body(DOMAIN, 0.0)
    body.observe(world.observe())
    return body


def ring(height: int, depth: int = 0) -> dict[Cell, str]:
    """A wall around the start at two blocks, or a pit when `depth` is given."""
    cells: dict[Cell, str] = {}
    for x in range(-3, 4):
        for z in range(-3, 4):
            if max(abs(x), abs(z)) == 3:
                cells |= {Cell(x, 64 + y, z): "stone" for y in range(height)}
    return cells


def test_directions_follow_the_game() -> None:
    here = Point(0.0, 0.0, 0.0)
    assert unit(0.0) == pytest.approx((0.0, 1.0))
    assert unit(90.0) == pytest.approx((-1.0, 0.0))
    assert yaw_to(here, Point(-3.0, 0.0, 0.0)) == pytest.approx(90.0)
    assert look_at(here, Point(0.0, -2.0, 2.0)).pitch == pytest.approx(45.0)
    assert [compass(yaw) for yaw in (10.0, 80.0, -170.0, 270.0)] == [(0, 1), (-1, 0), (0, -1), (1, 0)]


def test_a_line_passes_each_cell_once_and_in_order() -> None:
    line = list(cells_between(Point(0.5, 0.5, 0.5), Point(3.5, 0.5, -1.5)))
    assert line[0] == Cell(0, 0, 0)
    assert line[-1] == Cell(3, 0, -2)
    assert len(line) == len(set(line)) == 6
    assert list(cells_between(Point(0.2, 0.2, 0.2), Point(0.8, 0.8, 0.8))) == [Cell(0, 0, 0)]


@pytest.mark.parametrize(
    ("blocks", "ground"),
    [
        ({}, Ground.LEVEL),
        ({Cell(0, 64, 1): "stone"}, Ground.UP),
        ({Cell(0, 64, 1): "stone", Cell(0, 66, 0): "stone"}, Ground.WALL),
        ({Cell(0, 65, 1): "stone"}, Ground.WALL),
        ({Cell(0, 64, 1): "stone", Cell(0, 66, 1): "stone"}, Ground.WALL),
        ({Cell(0, 63 - y, 1): "air" for y in range(3)}, Ground.LEVEL),
        ({Cell(0, 63 - y, 1): "air" for y in range(4)}, Ground.LEDGE),
        ({Cell(0, 63, 1): "water"}, Ground.RISK),
        ({Cell(0, 63, 1): "air", Cell(0, 62, 1): "lava"}, Ground.RISK),
    ],
)
def test_what_the_next_step_meets(blocks: dict[Cell, str], ground: Ground) -> None:
    body = body_in(FakeWorld(blocks))
    assert ahead(body.scene, body.scene.place, 0.0, 1.0) is ground


def test_goes_straight_to_a_log_far_off_and_takes_it() -> None:
    world = FakeWorld(LOG)
    seen, ended, moves = carry_out(world, subgoal("mine", "oak_log", 2), world.observe())
    assert ended
    assert seen.inventory == {"oak_log": 2}
    assert len(moves) < 12, "walking is asked for in blocks of ticks"


def test_goes_up_steps_and_round_a_trunk() -> None:
    blocks = LOG | wall(None, 4, 1) | {Cell(0, y, 7): "stone" for y in range(64, 69)}
    world = FakeWorld(blocks)
    seen, _, _ = carry_out(world, subgoal("mine", "oak_log", 1), world.observe())
    assert seen.inventory == {"oak_log": 1}


def test_stays_stuck_at_a_wide_ledge_and_gives_up() -> None:
    world = FakeWorld(wall(None, 5, 2, width=30) | {Cell(0, 64, 11): "oak_log"})
    seen, ended, moves = carry_out(world, subgoal("mine", "oak_log", 9), world.observe(), limit=4000)
    assert ended
    assert seen.tick < 600
    assert not seen.inventory
    assert any(move.action.forward and move.action.jump for move in moves), "it tries to move"


def test_clearing_cuts_a_ledge_so_that_the_next_try_succeeds() -> None:
    # The case of the paper: a log on top of a ledge two blocks high.
    ledge = {Cell(x, y, z): "dirt" for x in range(-30, 31) for z in range(5, 16) for y in (64, 65)}
    world = FakeWorld(ledge | {Cell(0, 66, 12): "oak_log", Cell(0, 67, 12): "oak_log"})
    policy = executor("scripted", DOMAIN, 0)
    mine = subgoal("mine", "oak_log", 1)
    world.toughness = 5
    world.yaw = 0.0
    seen, ended, _ = carry_out(world, mine, world.observe(), policy, limit=2000)
    stuck_at = (seen.x, seen.z)
    assert ended
    assert "oak_log" not in seen.inventory
    clear = subgoal("move", None, 1, CLEAR, words="clear blocking block")
    seen, ended, _ = carry_out(world, clear, seen, policy)
    assert ended
    assert (seen.x, seen.z) != stuck_at
    assert seen.y >= 65.0
    seen, _, _ = carry_out(world, mine, seen, policy, limit=2000)
    assert seen.inventory.get("oak_log") == 1


def test_mine_with_path_clear_opens_the_way_too() -> None:
    world = FakeWorld(wall(None, 2, 3) | wall(None, 3, 3))
    goal = subgoal("mine", "stone", 1, CLEAR, words="clear blocking stone")
    world.yaw = 0.0
    seen, ended, _ = carry_out(world, goal, world.observe())
    assert ended
    assert seen.z > 2.0


def test_nothing_is_dug_on_the_way_unless_told() -> None:
    world = FakeWorld(ring(3) | {Cell(0, 64, 6): "oak_log", Cell(0, 65, 6): "oak_log"})
    before = dict(world.blocks)
    seen, ended, _ = carry_out(world, subgoal("mine", "oak_log", 1), world.observe(), limit=3000)
    assert ended
    assert world.blocks == before
    assert not seen.inventory


def test_an_edge_is_not_walked_over_and_clearing_digs_it_down() -> None:
    def cliff() -> dict[Cell, str]:
        return {Cell(x, y, z): "air" for x in range(-30, 31) for z in range(4, 20) for y in range(59, 64)}

    world = FakeWorld(cliff() | {Cell(0, 59, 10): "oak_log"}, toughness=5)
    policy = executor("scripted", DOMAIN, 0)
    seen, ended, _ = carry_out(world, subgoal("mine", "oak_log", 1), world.observe(), policy, limit=3000)
    assert ended
    assert seen.y == 64.0
    seen, _, _ = carry_out(world, subgoal("move", None, 1, CLEAR), seen, policy)
    assert seen.y < 63.0
    seen, _, _ = carry_out(world, subgoal("mine", "oak_log", 1), seen, policy, limit=2000)
    assert seen.inventory.get("oak_log") == 1


def test_water_is_not_entered_and_is_left_when_fallen_into() -> None:
    pond = {Cell(x, 63 - y, z): "water" for x in range(-9, 10) for z in range(4, 8) for y in range(2)}
    world = FakeWorld(pond | {Cell(0, 64, 11): "oak_log"})
    seen, _, _ = carry_out(world, subgoal("mine", "oak_log", 1), world.observe(), limit=1500)
    assert seen.z < 4.0
    swimmer = FakeWorld(pond | {Cell(0, 64, 10): "oak_log"})
    swimmer.y, swimmer.z = 63.0, 5.0
    policy = executor("scripted", DOMAIN, 0)
    dry = FakeWorld().observe()
    policy.start(subgoal("mine", "oak_log", 1), dry)
    seen, _, _ = carry_out(swimmer, subgoal("mine", "oak_log", 1), swimmer.observe(), policy, limit=1500)
    assert seen.y >= 63.9


def test_another_route_leads_another_way_at_every_try() -> None:
    places = []
    world = FakeWorld(wall(None, 5, 3, width=30))
    policy = executor("scripted", DOMAIN, 0)
    world.yaw = 0.0
    for _ in range(2):
        world.x, world.z = 0.5, 0.5
        goal = subgoal("move", None, words="take another route")
        seen, ended, _ = carry_out(world, goal, world.observe(), policy)
        assert ended
        places.append((round(seen.x), round(seen.z)))
        world.yaw = 0.0
    (first_x, first_z), (second_x, _) = places
    assert max(abs(first_x), abs(first_z)) >= 10
    assert (first_x > 0) != (second_x > 0)


def test_what_cannot_be_cleared_is_gone_round() -> None:
    river = {Cell(x, 63 - y, z): "water" for x in range(-40, 41) for z in range(4, 8) for y in range(2)}
    world = FakeWorld(river | {Cell(0, 64, 11): "oak_log"})
    policy = executor("scripted", DOMAIN, 0)
    seen, ended, _ = carry_out(world, subgoal("mine", "oak_log"), world.observe(), policy, limit=1500)
    assert ended
    before = dict(world.blocks)
    seen, ended, _ = carry_out(world, subgoal("move", None, 1, CLEAR), seen, policy)
    assert ended
    assert world.blocks == before
    assert abs(seen.x) > 5.0


def test_where_nothing_is_in_the_way_it_walks_on() -> None:
    world = FakeWorld()
    seen, ended, _ = carry_out(world, subgoal("move", None, 1, CLEAR), world.observe())
    assert ended
    assert max(abs(seen.x), abs(seen.z)) >= 10.0


@pytest.mark.parametrize("height", [60.0, 50.0])
def test_goes_down_to_a_height_and_up_again(height: float) -> None:
    world = FakeWorld(floor="stone", toughness=4)
    policy = executor("scripted", DOMAIN, 0)
    down = subgoal("move", None, 1, Check(type="ypos_le", value=height))
    seen, ended, _ = carry_out(world, down, world.observe(), policy, limit=3000)
    assert ended
    assert height - 2 <= seen.y <= height
    up = subgoal("move", None, 1, Check(type="ypos_ge", value=64.0))
    seen, ended, _ = carry_out(world, up, seen, policy, limit=4000)
    assert ended
    assert seen.y >= 64.0


def test_nothing_is_dug_beside_a_liquid() -> None:
    world = FakeWorld({Cell(x, 63, z): "lava" for x in range(-3, 4) for z in (-3, 3)}, floor="stone")
    world.blocks |= {Cell(x, 63, z): "lava" for z in range(-3, 4) for x in (-3, 3)}
    down = subgoal("move", None, 1, Check(type="ypos_le", value=40.0))
    seen, _, _ = carry_out(world, down, world.observe(), limit=3000)
    broken = [cell for cell, name in world.blocks.items() if name == "air"]
    assert all(world.at(each) != "lava" for cell in broken for each in cell.neighbours())
    assert world.at(Point(seen.x, seen.y, seen.z).cell()) != "lava"


def test_an_unknown_place_is_explored_in_a_heading_that_the_seed_decides() -> None:
    def end(seed: int) -> tuple[int, int]:
        world = FakeWorld()
        policy = executor("scripted", DOMAIN, seed)
        seen, _, _ = carry_out(world, subgoal("move", "forest"), world.observe(), policy, limit=200)
        return round(seen.x), round(seen.z)

    ends = [end(seed) for seed in range(8)]
    assert ends == [end(seed) for seed in range(8)]
    assert len(set(ends)) >= 3
    assert all(max(abs(x), abs(z)) > 20 for x, z in ends)


def test_a_seen_thing_is_walked_to_and_remembered() -> None:
    world = FakeWorld({Cell(0, 64, 7): "crafting_table"})
    policy = executor("scripted", DOMAIN, 0)
    away = subgoal("move", "nowhere")
    world.yaw = 0.0
    seen, _, _ = carry_out(world, away, world.observe(), policy, limit=120)
    near = subgoal("move", None, 1, Check(type="station_near", name="crafting_table"))
    seen, ended, _ = carry_out(world, near, seen, policy)
    assert ended
    assert world.near("crafting_table")
