"""Creatures, uses, the interactions that tasks ask for, and what is seen."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rollouts.protocols import Action
from rollouts.worlds.techtree import Settings, TechTree
from tests.techtree_stage import (
    DOMAIN,
    DOWN,
    GROUND,
    creature,
    failures,
    flat,
    give,
    hold,
    names,
    operate,
    wall,
)
from warehouse.domains import Trade

LEVEL = Action(attack=True, yaw=0.0, pitch=25.0)
"""strikes what stands two blocks ahead"""


def test_blows_kill_and_the_dead_leave_their_drops() -> None:
    world = flat()
    row = creature(world, "cow", 64.5, 66.5)
    mob = world.play.state.mobs[row]
    first = world.step(LEVEL, 30)
    assert mob["health"] == 9, "a bare hand takes half a heart"
    assert len(first.ticks["x"]) == 1
    mob["health"] = 1.0
    mob["x"], mob["z"], mob["hurt"] = 64.5, 66.5, 0
    parts = hold(world, LEVEL, 12)
    assert "kill_entity:cow" in names(parts)
    assert mob["kind"] == -1
    hold(world, Action(forward=1), 12)
    assert world.play.pack.counts["beef"] in (1, 2, 3)
    assert set(world.play.pack.counts) <= {"beef", "leather"}


def test_a_blow_needs_reach_and_time() -> None:
    world = flat()
    far = creature(world, "sheep", 64.5, 68.5)
    hold(world, Action(attack=True, yaw=0.0, pitch=14.0), 40)
    assert world.play.state.mobs[far]["health"] == 8
    near = creature(world, "pig", 64.5, 66.5)
    give(world, stone_sword=1)
    world.step(Action(equip="stone_sword"))
    hold(world, Action(attack=True, yaw=0.0, pitch=30.0), 9)
    assert world.play.state.mobs[near]["health"] == 5, "one blow of 5, however long the key is held"


def test_a_block_in_between_takes_the_blow() -> None:
    world = flat()
    row = creature(world, "cow", 64.5, 67.0)
    wall(world, "stone", (64, GROUND, 65), (64, GROUND + 1, 65))
    hold(world, LEVEL, 40)
    assert world.play.state.mobs[row]["health"] == 10


def test_a_weapon_wears_by_its_kind() -> None:
    for tool, wear in (("iron_sword", 1), ("iron_axe", 2)):
        world = flat()
        creature(world, "cow", 64.5, 66.5)
        give(world, **{tool: 1})
        world.step(Action(equip=tool))
        hold(world, LEVEL, 2)
        held = world.play.pack.held
        assert held is not None
        assert held.wear == wear


def test_the_struck_flee_and_the_others_do_not() -> None:
    world = flat()
    struck = creature(world, "cow", 64.5, 66.5)
    other = creature(world, "cow", 70.5, 66.5)
    hold(world, LEVEL, 1)
    hold(world, Action(), 60)
    mobs = world.play.state.mobs
    assert mobs[struck]["z"] > 70
    assert mobs[other]["z"] == 66.5


def test_creatures_wander_near_the_body_and_keep_out_of_water() -> None:
    world = flat()
    rows = [creature(world, "sheep", 64.5 + n, 70.5, still=False) for n in range(6)]
    wall(world, "water", *((x, GROUND - 1, z) for x in range(50, 80) for z in (75, 76, 77)))
    hold(world, Action(), 3000)
    mobs = world.play.state.mobs[rows]
    assert (np.hypot(mobs["x"] - mobs["home_x"], mobs["z"] - mobs["home_z"]) > 1.0).any()
    assert (mobs["z"] < 75.3).all()
    assert (mobs["y"] == GROUND).all()


def test_far_creatures_stand_still() -> None:
    world = flat()
    row = creature(world, "sheep", 10.5, 10.5, still=False)
    hold(world, Action(), 1500)
    assert world.play.state.mobs[row]["x"] == 10.5


def test_a_trade_takes_the_price_and_gives_the_ingot() -> None:
    world = flat()
    creature(world, "villager", 64.5, 66.5)
    give(world, coal=16)
    parts = operate(world, Action(use=True, yaw=0.0, pitch=15.0))
    assert parts[0].observation.gui == "other"
    assert world.play.pack.counts == {"coal": 1, "iron_ingot": 1}
    assert "traded with a villager" in names(parts)
    parts = operate(world, Action(use=True, yaw=0.0, pitch=15.0))
    assert "traded with a villager" not in names(parts)
    assert failures(world) == [("MISSING_INGREDIENT", "14 coal")]


def test_the_price_is_the_domain_s() -> None:
    """The first offer that can be paid goes; where none can, the first says what is lacking."""
    cheap = Trade("iron_ingot", 2, (("coal", 1), ("stick", 2)))
    domain = replace(DOMAIN, trades={"villager": (*DOMAIN.trades["villager"], cheap)})
    world = TechTree(domain, Settings(ground="flat"))
    world.reset(0)
    creature(world, "villager", 64.5, 66.5)
    give(world, coal=2, stick=2)
    parts = operate(world, Action(use=True, yaw=0.0, pitch=15.0))
    assert world.play.pack.counts == {"coal": 1, "iron_ingot": 2}
    assert "traded with a villager" in names(parts)
    operate(world, Action(use=True, yaw=0.0, pitch=15.0))
    assert failures(world) == [("MISSING_INGREDIENT", "14 coal")]


def test_only_a_villager_trades() -> None:
    world = flat()
    creature(world, "cow", 64.5, 66.5)
    give(world, coal=20)
    parts = hold(world, Action(use=True, yaw=0.0, pitch=25.0), 30)
    assert world.play.pack.counts == {"coal": 20}
    assert names(parts) == []


def test_washing_needs_armour_in_hand_a_cauldron_and_water() -> None:
    event = "washed leather armor in a cauldron"
    world = flat()
    at = (64, GROUND, 66)
    wall(world, "cauldron", at)
    give(world, leather_chestplate=1, water_bucket=1, dirt=1)
    use = Action(use=True, yaw=0.0, pitch=35.0)
    world.step(Action(equip="leather_chestplate"))
    assert event not in names(hold(world, use, 4))
    assert failures(world) == [("MISSING_INGREDIENT", "1 water")]
    hold(world, Action(use=True, equip="water_bucket"), 4)
    assert world.play.pack.counts["bucket"] == 1
    assert event not in names(hold(world, Action(use=True, equip="dirt"), 4))
    world.step(Action(equip="leather_chestplate"))
    assert names(hold(world, use, 12)).count(event) == 3, "the water lasts for three"
    assert event not in names(hold(world, use, 8))
    assert world.play.pack.counts["leather_chestplate"] == 1


def test_buckets_hoes_and_shears_work_on_their_things_alone() -> None:
    world = flat()
    give(world, bucket=1, iron_hoe=1, shears=1)
    wall(world, "water", (64, GROUND, 66))
    hold(world, Action(use=True, yaw=0.0, pitch=45.0, equip="bucket"), 1)
    assert world.play.pack.counts["water_bucket"] == 1
    assert world.play.block((64, GROUND, 66)) == "air"
    hold(world, Action(use=True, yaw=0.0, pitch=50.0, equip="iron_hoe"), 5)
    assert world.play.block((64, GROUND - 1, 65)) == "farmland"
    sheep = creature(world, "sheep", 64.5, 66.5)
    shear = Action(use=True, yaw=0.0, pitch=25.0, equip="shears")
    hold(world, shear, 30)
    assert world.play.state.mobs[sheep]["health"] == 8
    hold(world, Action(forward=1), 20)
    assert 1 <= world.play.pack.counts["white_wool"] <= 3, "once"


@pytest.mark.parametrize(
    ("station", "screen"),
    [("crafting_table", "crafting_table"), ("furnace", "furnace"), ("chest", "other"), ("stone", "none")],
)
def test_using_a_station_opens_its_screen(station: str, screen: str) -> None:
    world = flat()
    wall(world, station, (64, GROUND, 66))
    done = world.step(Action(use=True, yaw=0.0, pitch=40.0), 20)
    assert done.observation.gui == screen
    assert done.ticks["gui"][0] == screen


def test_buried_cells_are_unknown_and_bared_ones_are_known() -> None:
    world = flat()
    wall(world, "diamond_ore", (64, GROUND - 3, 64))

    def seen(cell: tuple[int, int, int]) -> str:
        window = world.step(Action()).observation.window
        assert window is not None
        at = tuple(here - low for here, low in zip(cell, window.origin, strict=True))
        return window.palette[window.blocks[at]]

    assert seen((64, GROUND - 1, 64)) == "grass_block"
    assert seen((64, GROUND, 64)) == "air"
    assert seen((64, GROUND - 3, 64)) == "unknown"
    wall(world, "air", (64, GROUND - 2, 64))
    assert seen((64, GROUND - 3, 64)) == "diamond_ore"
    world.play.body["x"] = 2.5
    assert seen((-1, GROUND, 64)) == "barrier"


def test_the_window_is_as_wide_as_it_says_and_cannot_be_written() -> None:
    window = flat().step(Action()).observation.window
    assert window is not None
    assert window.blocks.shape == (17, 11, 17)
    assert window.origin == (56, GROUND - 5, 56)
    assert window.blocks.dtype == np.uint16
    with pytest.raises(ValueError, match="read-only"):
        window.blocks[0, 0, 0] = 1


def test_entities_are_seen_within_sixteen_blocks() -> None:
    world = flat()
    creature(world, "cow", 64.5, 79.0)
    creature(world, "sheep", 64.5, 82.0)
    world.play.drop(66.0, GROUND + 0.0, 66.0, "diamond", 1)
    window = world.step(Action()).observation.window
    assert window is not None
    assert [entity.name for entity in window.entities] == ["cow", "diamond"]


def test_what_is_near_is_shown_where_it_is_after_every_step() -> None:
    world = flat()
    creature(world, "cow", 66.5, 64.5, still=False)
    play = world.play
    came_and_went = set()
    for n in range(60):
        if n % 7 == 0:
            play.drop(66.0, GROUND + 2.0, 60.0 + n % 5, "diamond" if n % 2 else "coal", 1)
        seen = world.step(Action(forward=1, yaw=float(n * 40)), 9).observation
        assert seen.window is not None
        things = [(play.catalogue.items[row["item"]], row) for row in play.state.items if row["count"]]
        mobs = [(play.catalogue.creatures[row["kind"]], row) for row in play.state.mobs if row["kind"] >= 0]
        told = [(name, float(row["x"]), float(row["y"]), float(row["z"])) for name, row in mobs + things]
        here = seen.x, seen.y, seen.z
        assert list(seen.window.entities) == [each for each in told if math.dist(each[1:], here) <= 16]
        came_and_went.add(len(seen.window.entities))
    assert len(came_and_went) > 2


def test_where_too_many_things_lie_about_the_oldest_is_gone() -> None:
    world = flat()
    items = world.play.state.items
    for _ in range(len(items)):
        world.play.drop(80.0, float(GROUND), 80.0, "coal", 1)
    assert (items["count"] == 1).all()
    items["age"] = 10
    items["age"][[7, 9]] = 20
    world.play.drop(80.0, float(GROUND), 80.0, "diamond", 1)
    assert (items["item"] == world.play.catalogue.item["diamond"]).nonzero()[0].tolist() == [7]
    assert items["age"][7] == 0


def test_looking_down_is_at_the_ground() -> None:
    world = flat()
    hold(world, Action(attack=True, pitch=DOWN), 30)
    assert world.play.block((64, GROUND - 1, 64)) == "air"
    assert world.play.pack.counts == {"dirt": 1}


def test_the_unreachable_tasks_items_come_from_nothing_here() -> None:
    """Quartz and scutes: neither grows in the world, nor is it dropped, traded or crafted from what does."""
    world = flat()
    drops = {
        drop.item
        for name in (
            *(row["block"] for row in world.play.parameters["veins"]),
            "gravel",
            "grass",
            "oak_leaves",
        )
        for drop in world.play.catalogue.block_drops(name)
    }
    drops |= {
        drop.item
        for kind in world.play.catalogue.creatures
        for drop in world.play.catalogue.creature_drops(kind)
    }
    assert not drops & {"quartz", "scute", "nether_quartz_ore"}
    assert {offer.item for offers in DOMAIN.trades.values() for offer in offers} == {"iron_ingot"}
    assert "turtle" not in world.play.catalogue.creatures
    assert DOMAIN.recipes.get("scute", ()) == ()
