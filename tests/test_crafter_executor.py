"""The scripted executor of Crafter, on flat land on which things were put: each kind of subgoal, giving up,
staying alive unasked."""

import pytest
from crafter import constants, objects

from rollouts.executors.registry import executor
from rollouts.protocols import Action, Executor, Observation, Subgoal
from rollouts.worlds.crafter.atlas import WALKABLE
from rollouts.worlds.crafter.behaviours import PLACED_ON
from rollouts.worlds.crafter.game import MATERIALS
from rollouts.worlds.crafter.settings import Settings
from rollouts.worlds.crafter.world import CrafterWorld
from warehouse.domains import load_domain
from warehouse.knowledge import Check

DOMAIN = load_domain("crafter")
HERE = (32, 32)
RING = [(east, south) for east in range(-2, 3) for south in range(-2, 3) if 2 in (abs(east), abs(south))]
"""the cells two away on every side"""
IRON = {"wood_pickaxe": 1, "stone_pickaxe": 1, "wood": 1, "coal": 1, "iron": 1}


def flat(
    blocks: dict[tuple[int, int], str] | None = None, ground: str = "grass", **pack: int
) -> CrafterWorld:
    """A world of one material with blocks at (east, south) of the body and nobody but it, in which creatures
    neither come nor go; these are carried, or as thirsty or tired as they say."""
    world = CrafterWorld(DOMAIN, Settings(images=False))
    world.reset(7)
    inside = world.game._world
    for thing in list(inside.objects):
        if thing is not world.game.player:
            inside.remove(thing)
    inside._mat_map[:] = MATERIALS.index(ground)
    for (east, south), name in (blocks or {}).items():
        inside[HERE[0] + east, HERE[1] + south] = name
    world.game._balance_chunk = lambda chunk, objs: None
    world.game.player.inventory.update(pack)
    return world


def put(world: CrafterWorld, thing: type, east: int, south: int) -> objects.Object:
    """Somebody or a plant, at this place."""
    place, inside = (HERE[0] + east, HERE[1] + south), world.game._world
    more = (world.game.player,) if thing in (objects.Zombie, objects.Skeleton) else ()
    made = thing(inside, place, *more)
    inside.add(made)
    return made


def goal(
    kind: str, target: str | None = None, count: int = 1, timeout_s: float = 60.0, *checks: Check
) -> Subgoal:
    return Subgoal("s", f"{kind} {target}", kind, target, count=count, timeout_s=timeout_s, checks=checks)


def carry_out(world: CrafterWorld, *goals: Subgoal, limit: int = 600) -> tuple[Observation, bool]:
    """The last observation, and whether the executor itself ended the last subgoal, within `limit` ticks."""
    policy: Executor = executor("scripted", DOMAIN, 0)
    seen = world.step(Action()).observation
    for each in goals:
        policy.start(each, seen)
        end = seen.tick + limit
        while seen.alive and seen.tick < end:
            move = policy.act(seen)
            if move is None:
                break
            seen = world.step(move.action, min(move.ticks, end - seen.tick)).observation
    return seen, seen.tick < end


def achieved(world: CrafterWorld) -> set[str]:
    return {name for name, count in world.game.player.achievements.items() if count}


def test_what_it_knows_of_ground_is_the_game_s() -> None:
    named = {"plant": "sapling"}
    assert {named.get(name, name): set(rule["where"]) for name, rule in constants.place.items()} == PLACED_ON
    assert set(constants.walkable) == WALKABLE


def test_mines_until_so_many_are_held() -> None:
    world = flat({(3, 0): "tree", (4, 2): "tree", (-4, 0): "tree"})
    seen, ended = carry_out(world, goal("mine", "tree", 2))
    assert ended
    assert seen.inventory == {"wood": 2}


def test_finds_what_lies_out_of_sight() -> None:
    seen, ended = carry_out(flat({(1, -9): "coal"}, wood_pickaxe=1), goal("mine", "coal"))
    assert ended
    assert seen.inventory["coal"] == 1


def test_gives_up_a_block_that_does_not_break() -> None:
    seen, ended = carry_out(flat({(2, 0): "stone"}), goal("mine", "stone"))
    assert ended
    assert seen.tick < 20
    assert seen.inventory == {}


def test_strikes_grass_until_luck_brings_a_sapling() -> None:
    seen, ended = carry_out(flat(), goal("mine", "sapling"))
    assert ended
    assert seen.inventory == {"sapling": 1}


def test_digs_through_what_its_tools_break() -> None:
    ring = dict.fromkeys(RING, "stone")
    world = flat({**ring, (4, 0): "tree"}, wood_pickaxe=1)
    seen, ended = carry_out(world, goal("mine", "wood"))
    assert ended
    assert seen.inventory["wood"] == 1


def test_a_way_that_is_closed_is_given_up() -> None:
    ring = dict.fromkeys(RING, "water")
    seen, ended = carry_out(flat({**ring, (4, 0): "tree"}), goal("mine", "tree"))
    assert ended
    assert seen.inventory == {}


def test_walks_around_lava() -> None:
    wall = {(3, south): "lava" for south in range(-2, 3)}
    seen, ended = carry_out(flat({**wall, (4, 0): "tree"}), goal("mine", "tree"))
    assert seen.alive
    assert ended
    assert seen.inventory == {"wood": 1}


def test_builds_a_table_and_makes_a_tool_beside_it() -> None:
    world = flat(wood=3)
    seen, ended = carry_out(world, goal("craft", "table"), goal("craft", "wood_pickaxe"))
    assert ended
    assert seen.inventory == {"wood_pickaxe": 1}


def test_a_furnace_is_built_where_the_table_stays_in_reach() -> None:
    world = flat({(4, 0): "table"}, stone=4, **IRON)
    goals = (goal("use", "table"), goal("craft", "furnace"), goal("craft", "iron_pickaxe"))
    seen, ended = carry_out(world, *goals)
    assert ended
    assert seen.inventory["iron_pickaxe"] == 1


def test_goes_back_to_a_table_that_it_saw() -> None:
    world = flat({(1, 0): "table", (0, -9): "tree"})
    seen, ended = carry_out(world, goal("mine", "tree"), goal("craft", "wood_sword"))
    assert ended
    assert seen.inventory == {"wood_sword": 1}


def test_without_a_station_it_tries_and_fails() -> None:
    seen, ended = carry_out(flat(wood=1), goal("craft", "wood_sword"))
    assert ended
    assert seen.inventory == {"wood": 1}


@pytest.mark.parametrize(
    ("blocks", "pack", "subgoal", "achievement"),
    [
        ({}, {"stone": 1}, goal("use", "stone"), "place_stone"),
        ({}, {"sapling": 1}, goal("use", "sapling"), "place_plant"),
        ({(4, 3): "water"}, {"drink": 5}, goal("use", "water"), "collect_drink"),
    ],
)
def test_uses_things(
    blocks: dict[tuple[int, int], str], pack: dict[str, int], subgoal: Subgoal, achievement: str
) -> None:
    world = flat(blocks, **pack)
    _, ended = carry_out(world, subgoal)
    assert ended
    assert achieved(world) == {achievement}


def test_a_sapling_is_carried_to_grass() -> None:
    world = flat({(4, 3): "grass"}, ground="sand", sapling=1)
    _, ended = carry_out(world, goal("use", "sapling"))
    assert ended
    assert "place_plant" in achieved(world)


def test_eats_a_ripe_plant() -> None:
    world = flat(food=5)
    put(world, objects.Plant, 4, 0).grown = 301
    _, ended = carry_out(world, goal("use", "ripe_plant"))
    assert ended
    assert "eat_plant" in achieved(world)


@pytest.mark.parametrize(
    ("thing", "name", "achievement"),
    [
        (objects.Cow, "cow", "eat_cow"),
        (objects.Zombie, "zombie", "defeat_zombie"),
        (objects.Skeleton, "skeleton", "defeat_skeleton"),
    ],
)
def test_fights_what_it_is_told_to(thing: type, name: str, achievement: str) -> None:
    world = flat(ground="path" if name == "skeleton" else "grass", iron_sword=1)
    put(world, thing, 4, 2)
    _, ended = carry_out(world, goal("combat", name))
    assert ended
    assert achievement in achieved(world)


def test_walks_to_what_it_is_told_to() -> None:
    seen, ended = carry_out(flat({(3, -8): "water"}), goal("move", "water"))
    assert ended
    assert abs(seen.x - 0.5 - HERE[0] - 3) + abs(seen.z - 0.5 - HERE[1] + 8) == 1


def test_sleeps_until_it_is_rested() -> None:
    world = flat(energy=6)
    carry_out(world, goal("wait", timeout_s=10.0))
    assert "wake_up" in achieved(world)


def test_strikes_back_unasked() -> None:
    world = flat({(4, 0): "tree"}, stone_sword=1)
    put(world, objects.Zombie, 1, 0)
    seen, ended = carry_out(world, goal("mine", "tree"))
    assert ended
    assert {"defeat_zombie", "collect_wood"} <= achieved(world)
    assert seen.alive


def test_an_archer_that_cannot_be_got_to_does_not_hold_it_up() -> None:
    island = dict.fromkeys([(2, 0), (3, 1), (3, -1), (4, 0)], "water")
    world = flat({**island, (-3, 0): "tree"})
    put(world, objects.Skeleton, 3, 0)
    seen, ended = carry_out(world, goal("mine", "tree"), limit=30)
    assert ended
    assert seen.inventory == {"wood": 1}


@pytest.mark.parametrize("need", ["drink", "food"])
def test_sees_to_thirst_and_hunger_unasked(need: str) -> None:
    world = flat({(3, 3): "water", (4, 0): "tree"}, **{need: 1})
    put(world, objects.Cow, -3, 2)
    seen, ended = carry_out(world, goal("mine", "tree"))
    assert ended
    assert seen.inventory == {"wood": 1}
    assert world.game.player.inventory[need] > 4, need


def test_a_tired_body_shuts_itself_in_to_sleep() -> None:
    rock = {(east, south): "stone" for east in range(2, 9) for south in range(-3, 4)}
    world = flat({**rock, (-9, 0): "tree"}, wood_pickaxe=1, stone=1, energy=1)
    carry_out(world, goal("mine", "tree"), limit=40)
    assert world.game.player.sleeping
    x, z = (int(at) for at in world.game.player.pos)
    around = {world.game._world[x + east, z + south][0] for east, south in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    assert around <= {"stone", "path"}


def test_an_unknown_kind_is_given_up_at_once() -> None:
    seen, ended = carry_out(flat(), goal("smelt", "iron"))
    assert ended
    assert seen.tick == 1


def test_the_same_world_gives_the_same_moves() -> None:
    def moves() -> list[Action]:
        world, policy = CrafterWorld(DOMAIN, Settings(images=False)), executor("scripted", DOMAIN, 0)
        seen = world.reset(3)
        policy.start(goal("mine", "tree", 5), seen)
        made = []
        while seen.alive and seen.tick < 150 and (move := policy.act(seen)) is not None:
            made.append(move.action)
            seen = world.step(move.action, move.ticks).observation
        return made

    first = moves()
    assert len(first) > 5
    assert moves() == first
