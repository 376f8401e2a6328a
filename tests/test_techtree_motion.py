"""Walking, jumping, falling, swimming, burning, hunger: each rule with what it allows and what not."""

import numpy as np
import pytest

from rollouts.protocols import Action
from tests.techtree_stage import DOWN, GROUND, failures, flat, give, hold, wall

AHEAD = Action(forward=1)
"""yaw 0 looks to +z"""


def test_walking_is_as_fast_as_in_the_game() -> None:
    world = flat()
    hold(world, AHEAD, 20)
    start = float(world.play.body["z"])
    hold(world, AHEAD, 40)
    assert (float(world.play.body["z"]) - start) / 2.0 == pytest.approx(4.317, abs=0.01)


def test_sprinting_is_faster_and_needs_food() -> None:
    full, hungry = flat(), flat()
    hungry.play.body["food"] = 6.0
    for world in (full, hungry):
        hold(world, Action(forward=1, sprint=True), 60)
    assert full.play.body["z"] - 64.5 > 1.25 * (hungry.play.body["z"] - 64.5)


@pytest.mark.parametrize(
    ("yaw", "axis", "sign"), [(0.0, "z", 1), (90.0, "x", -1), (180.0, "z", -1), (270.0, "x", 1)]
)
def test_yaw_points_as_in_the_game(yaw: float, axis: str, sign: int) -> None:
    world = flat()
    hold(world, Action(forward=1, yaw=yaw), 20)
    assert sign * (world.play.body[axis] - 64.5) > 3.0


def test_strafing_goes_sideways_and_backwards_is_back() -> None:
    world = flat()
    hold(world, Action(strafe=1), 20)
    assert world.play.body["x"] < 62.0, "right of +z is -x"
    hold(world, Action(forward=-1), 20)
    assert world.play.body["z"] < 62.0


def test_a_block_stops_a_walk_and_ends_the_step() -> None:
    world = flat()
    wall(world, "stone", (64, GROUND, 66))
    done = world.step(AHEAD, 60)
    assert len(done.ticks["z"]) < 20
    hold(world, AHEAD, 30)
    assert world.play.body["z"] == pytest.approx(66 - 0.3, abs=1e-6)


def test_one_block_is_jumped_and_two_are_not() -> None:
    for height, passes in ((1, True), (2, False)):
        world = flat()
        for up in range(height):
            wall(world, "stone", *((x, GROUND + up, 66) for x in range(60, 70)))
        hold(world, Action(forward=1, jump=True), 60)
        assert bool(world.play.body["z"] > 67.0) is passes


def test_a_jump_is_a_block_and_a_quarter_high() -> None:
    world = flat()
    done = world.step(Action(jump=True), 12)
    assert done.ticks["y"].max() - GROUND == pytest.approx(1.2522, abs=1e-3)


def test_long_pressing_against_a_wall_is_noted_as_stuck_and_free_walking_is_not() -> None:
    world = flat()
    hold(world, AHEAD, 200)
    assert failures(world) == []
    wall(
        world,
        "stone",
        *((x, GROUND + up, int(world.play.body["z"]) + 1) for x in range(60, 70) for up in (0, 1)),
    )
    hold(world, Action(forward=1, jump=True), 140)
    assert {kind for kind, _ in failures(world)} == {"NAV_STUCK"}
    noted = len(failures(world))
    hold(world, Action(), 200)
    assert len(failures(world)) == noted, "who rests is not stuck"


def test_the_edge_of_the_world_is_a_wall() -> None:
    world = flat()
    world.play.body["z"] = 126.0
    hold(world, AHEAD, 60)
    assert world.play.body["z"] == pytest.approx(127.7, abs=1e-6)


@pytest.mark.parametrize(("height", "harm"), [(3, 0), (4, 1), (10, 7), (40, 20)])
def test_a_fall_hurts_beyond_three_blocks(height: int, harm: int) -> None:
    world = flat()
    # A pit, so that the fall is exactly so deep; 40 kills. Nobody heals at this hunger.
    world.play.body["food"] = 17.0
    for depth in range(1, height + 1):
        wall(world, "air", (64, GROUND - depth, 64))
    hold(world, Action(), 60)
    assert world.play.body["y"] == GROUND - height
    assert world.play.body["health"] == 20 - harm


def test_water_breaks_a_fall_and_slows() -> None:
    world = flat()
    for depth in range(1, 12):
        wall(world, "air" if depth < 10 else "water", (64, GROUND - depth, 64))
    hold(world, Action(), 100)
    assert world.play.body["health"] == 20
    wet = flat()
    wall(wet, "water", *((64, GROUND, z) for z in range(64, 80)))
    hold(wet, AHEAD, 40)
    assert wet.play.body["z"] - 64.5 < 0.5 * 40 * 0.2159


def test_a_swimmer_rises_and_climbs_out() -> None:
    world = flat()
    wall(world, "water", *((64, GROUND - depth, z) for depth in (1, 2, 3) for z in (64, 65)))
    hold(world, Action(), 40)
    assert world.play.body["y"] < GROUND - 1
    hold(world, Action(forward=1, jump=True), 120)
    hold(world, Action(), 20)
    assert world.play.body["y"] == GROUND
    assert world.play.body["z"] > 66


def test_lava_burns_to_death_and_death_is_final() -> None:
    world = flat()
    give(world, dirt=3)
    wall(world, "lava", *((64, GROUND - depth, 64) for depth in range(1, 4)))
    parts = hold(world, Action(), 200)
    seen = parts[-1].observation
    assert (seen.alive, seen.health, seen.inventory) == (False, 0.0, {})
    assert ("DEATH", "") in failures(world)
    assert (seen.tick - 199, "dirt", -3, 0) not in parts[0].changes
    assert [change[1:] for part in parts for change in part.changes] == [("dirt", -3, 0)]
    place = (seen.x, seen.z)
    seen = hold(world, Action(forward=1, craft="stick"), 40)[-1].observation
    assert (seen.x, seen.z) == place
    assert seen.tick == 240, "the world goes on"


def test_fire_ends_in_water() -> None:
    burning, wet = flat(), flat()
    for world in (burning, wet):
        world.play.body["fire"] = 100
    wall(wet, "water", (64, GROUND, 64))
    for world in (burning, wet):
        hold(world, Action(), 100)
    assert burning.play.body["health"] < 20
    assert wet.play.body["health"] == 20


def test_exertion_makes_hungry_and_rest_does_not() -> None:
    world, resting = flat(), flat()
    for each in (world, resting):
        each.play.body["saturation"] = 0.0
    for turn in range(8):
        hold(world, Action(forward=1, sprint=True, jump=True, yaw=90.0 * turn), 80)
    hold(resting, Action(), 640)
    assert world.play.body["food"] < 20
    assert resting.play.body["food"] == 20


def test_the_fed_heal_and_the_hungry_do_not() -> None:
    fed, middling = flat(), flat()
    fed.play.body["food"], middling.play.body["food"] = 18.0, 17.0
    for world in (fed, middling):
        world.play.body["health"], world.play.body["saturation"] = 10.0, 18.0
        hold(world, Action(), 400)
    assert fed.play.body["health"] == 15
    assert middling.play.body["health"] == 10


def test_starving_hurts_and_does_not_kill() -> None:
    world = flat()
    world.play.body["food"] = 0.0
    seen = hold(world, Action(), 2400)[-1].observation
    assert (seen.health, seen.alive) == (1.0, True)


def test_eating_takes_its_time_and_fills() -> None:
    world = flat()
    give(world, bread=2)
    world.play.body["food"] = 10.0
    world.step(Action(equip="bread"))
    eat = Action(use=True, pitch=-60.0)
    hold(world, eat, 31)
    assert world.play.body["food"] == 10
    done = hold(world, eat, 1)[-1]
    assert done.observation.hunger == 15
    assert done.ticks["hunger"][-1] == 15
    assert dict(done.observation.inventory) == {"bread": 1}
    assert [event.name for event in done.events] == ["use_item:bread"]


def test_who_is_full_or_stops_chewing_eats_nothing() -> None:
    world = flat()
    give(world, bread=1)
    world.step(Action(equip="bread"))
    hold(world, Action(use=True, pitch=-60.0), 100)
    assert world.play.pack.counts == {"bread": 1}
    world.play.body["food"] = 10.0
    for _ in range(4):
        hold(world, Action(use=True, pitch=-60.0), 20)
        hold(world, Action(), 2)
    assert world.play.pack.counts == {"bread": 1}


def test_columns_follow_the_body() -> None:
    world = flat()
    done = world.step(Action(forward=1, yaw=90.0, pitch=20.0), 10)
    assert done.ticks["x"].dtype == np.float32
    assert (np.diff(done.ticks["x"]) < 0).all()
    assert set(done.ticks["yaw"]) == {90.0}
    assert set(done.ticks["pitch"]) == {20.0}
    assert set(done.ticks["action"]) == {"camera+forward"}
    assert (done.ticks["gui"][0], done.ticks["equipped"][0]) == ("none", "none")
    assert done.ticks["x"][-1] == np.float32(done.observation.x)
    looked = world.step(Action(pitch=500.0)).observation
    assert looked.pitch == DOWN
