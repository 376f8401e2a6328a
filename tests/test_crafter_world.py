"""The world `crafter`: the published game behind the `World` protocol, and the same every time."""

from collections.abc import Sequence

import numpy as np
import pytest
from crafter import constants
from crafter.env import Env
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.protocols import Action, Advance, Observation
from rollouts.worlds.crafter.game import ACTIONS
from rollouts.worlds.crafter.settings import Settings
from rollouts.worlds.crafter.world import CrafterWorld
from rollouts.worlds.registry import UnknownWorldError, world
from warehouse.domains import load_domain

DOMAIN = load_domain("crafter")
YAWS = {0.0: "move_down", 90.0: "move_left", 180.0: "move_up", -90.0: "move_right"}
ACTS = st.sampled_from(
    [Action(forward=1, yaw=yaw) for yaw in YAWS]
    + [Action(forward=-1), Action(strafe=1), Action(attack=True), Action(use=True), Action(sleep=True)]
    + [Action(place="stone"), Action(place="sapling"), Action(craft="table"), Action(craft="wood_pickaxe")]
    + [Action(craft="no_such_thing"), Action(place="table"), Action()]
)
SCRIPT = st.lists(st.tuples(ACTS, st.integers(1, 40)), min_size=1, max_size=15)


def made(seed: int, *, images: bool = False, **pack: int) -> CrafterWorld:
    """A world in which these are carried, or as hungry or tired as they say."""
    world = CrafterWorld(DOMAIN, Settings(images=images))
    world.reset(seed)
    world.game.player.inventory.update(pack)
    return world


def put(world: CrafterWorld, name: str) -> None:
    """Makes the cell before the body one of this material, with nobody on it."""
    cell = ahead(world)
    there = world.game._world[cell][1]
    if there is not None:
        world.game._world.remove(there)
    world.game._world[cell] = name


def ahead(world: CrafterWorld) -> tuple[int, int]:
    player = world.game.player
    east, south = (int(at) + side for at, side in zip(player.pos, player.facing, strict=True))
    return east, south


def counters(advance: Advance) -> list[str]:
    return [event.name or "" for event in advance.events if event.kind == "counter"]


def played(
    world: CrafterWorld, seed: int, script: Sequence[tuple[Action, int]], *, singly: bool
) -> list[object]:
    """All that the world tells while the actions are held for so many ticks each."""
    told: list[object] = [shown(world.reset(seed))]
    rows: dict[str, list[object]] = {}
    for action, ticks in script:
        end = world.step(action, 1 if singly else ticks)
        left = ticks
        while True:
            for column, values in end.ticks.items():
                rows.setdefault(column, []).extend(values.tolist())
            told += [*end.events, *end.changes]
            left -= len(end.ticks["x"])
            if left <= 0:
                break
            end = world.step(action, 1 if singly else left)
    return [*told, rows, shown(end.observation)]


def shown(seen: Observation) -> tuple[object, ...]:
    assert seen.window is not None
    body = (seen.tick, seen.x, seen.z, seen.yaw, seen.health, seen.hunger, seen.alive)
    around = (seen.window.origin, seen.window.blocks.tobytes(), seen.window.entities)
    return (*body, dict(seen.inventory), dict(seen.vitals), *around)


def test_it_is_the_published_game() -> None:
    """Up to step 10, at which creatures come and go: whose turn it is depends on where they lie in memory."""
    ours, bare = CrafterWorld(DOMAIN), Env(seed=11)
    bare.reset()
    ours.reset(11)
    for number in range(9):
        yaw = list(YAWS)[number % 4]
        ours.step(Action(forward=1, yaw=yaw))
        _, _, _, info = bare.step(ACTIONS[YAWS[yaw]])
        assert np.array_equal(ours.game._sem_view(), info["semantic"])
        assert ours.game.player.inventory == info["inventory"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**31), script=SCRIPT)
def test_a_block_of_ticks_is_its_ticks_one_by_one(seed: int, script: list[tuple[Action, int]]) -> None:
    world = CrafterWorld(DOMAIN, Settings(images=False))
    assert played(world, seed, script, singly=False) == played(
        CrafterWorld(DOMAIN, Settings(images=False)), seed, script, singly=True
    )


def test_a_record_of_actions_leads_back() -> None:
    script = [(Action(forward=1, yaw=yaw), 30) for yaw in YAWS] + [(Action(), 200), (Action(attack=True), 20)]
    first = made(4)
    seen = first.reset(4)
    taken = []
    for action, ticks in script:
        done = first.step(action, ticks).observation
        taken.append((action, done.tick - seen.tick))
        seen = done
    again = made(5)
    again.reset(4)
    assert shown(again.replay(taken)) == shown(seen)


def test_a_step_ends_early_where_there_is_something_to_look_at() -> None:
    world = made(7)
    put(world, "tree")
    advance = world.step(Action(attack=True), 20)
    assert len(advance.ticks["x"]) == 1
    assert advance.changes == ((1, "wood", 1, 1),)
    assert counters(advance) == ["collect_wood", "mine_block:tree"]


def test_a_wall_ends_a_walk_and_turns_the_body() -> None:
    world = made(7)
    put(world, "water")
    before = world.step(Action(), 1).observation
    after = world.step(Action(forward=1, yaw=before.yaw), 20).observation
    assert (after.x, after.z, after.tick) == (before.x, before.z, 2)
    turned = world.step(Action(yaw=before.yaw + 90.0), 1).observation
    assert turned.yaw == before.yaw


@pytest.mark.parametrize(
    ("pack", "ground", "action", "events"),
    [
        ({"wood": 2}, "grass", Action(craft="table"), ["place_table", "craft_item:table"]),
        ({"stone": 4}, "grass", Action(craft="furnace"), ["place_furnace", "craft_item:furnace"]),
        ({"wood": 1}, "table", Action(craft="wood_sword"), ["make_wood_sword", "craft_item:wood_sword"]),
        ({"stone": 1}, "water", Action(place="stone"), ["place_stone", "use_item:stone"]),
        ({"sapling": 1}, "grass", Action(place="sapling"), ["place_plant", "use_item:sapling"]),
        ({"drink": 3}, "water", Action(use=True), ["collect_drink", "use_item:water"]),
        ({"wood_pickaxe": 1}, "stone", Action(attack=True), ["collect_stone", "mine_block:stone"]),
        ({"iron_pickaxe": 1}, "diamond", Action(attack=True), ["collect_diamond", "mine_block:diamond"]),
        ({}, "stone", Action(attack=True), []),
        ({"wood": 1}, "grass", Action(craft="wood_pickaxe"), []),
        ({"wood": 9}, "grass", Action(craft="no_such_thing"), []),
        ({"wood": 9}, "grass", Action(place="table"), []),
    ],
)
def test_the_game_s_counters_are_events(
    pack: dict[str, int], ground: str, action: Action, events: list[str]
) -> None:
    world = made(7, **pack)
    put(world, ground)
    assert counters(world.step(action)) == events
    achieved = {name.partition(":")[0] for name in events} & set(constants.achievements)
    assert {name for name, count in world.game.player.achievements.items() if count} == achieved


def test_ones_own_needs_are_told_and_food_is_hunger() -> None:
    world = made(7)
    names = {event.name for _ in range(40) for event in world.step(Action(), 20).events}
    assert {"drink", "energy"} <= names
    seen = world.step(Action()).observation
    assert seen.hunger == world.game.player.inventory["food"] < 9
    assert seen.vitals["drink"] == world.game.player.inventory["drink"]


def test_after_death_ticks_pass_and_nothing_happens() -> None:
    world = made(7)
    put(world, "lava")
    facing = world.step(Action()).observation.yaw
    put(world, "lava")
    died = world.step(Action(forward=1, yaw=facing))
    assert not died.observation.alive
    assert "died" in [event.name for event in died.events]
    later = world.step(Action(forward=1), 5)
    assert (later.events, later.changes) == ((), ())
    assert not later.ticks["alive"].any()


def test_beyond_the_edge_of_the_world_nothing_is_known() -> None:
    world = made(7)
    world.game._world.move(world.game.player, np.array((0, 0)))
    window = world.step(Action()).observation.window
    assert window is not None
    assert window.origin == (-4, 0, -3)
    assert (window.blocks[:4] == 0).all()
    assert (window.blocks[:, :, :3] == 0).all()
    assert (window.blocks[4:, :, 3:] > 0).all()


def test_creatures_are_seen_where_they_stand_and_a_plant_shows_that_it_is_ripe() -> None:
    world = made(7, sapling=1)
    put(world, "grass")
    seen = world.step(Action(place="sapling")).observation
    east, south = ahead(world)
    assert seen.window is not None
    shown_at = {(each.x, each.z): each.name for each in seen.window.entities}
    assert shown_at[east + 0.5, south + 0.5] == "plant"
    plant = world.game._world[east, south][1]
    plant.grown = 301
    seen = world.step(Action()).observation
    assert seen.window is not None
    assert "ripe_plant" in [each.name for each in seen.window.entities]


def test_an_action_needs_a_world_and_a_tick() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        CrafterWorld(DOMAIN).step(Action())
    with pytest.raises(ValueError, match="0 ticks"):
        made(1).step(Action(), 0)


def test_a_setting_that_it_has_not_is_refused() -> None:
    with pytest.raises(UnknownWorldError, match="crafter has no setting colour; it has: images"):
        world("crafter", DOMAIN, {"colour": 1})
