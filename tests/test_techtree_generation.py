"""What every grown world has, whatever the seed; and that parameters and domain fit together."""

from collections import deque
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from rollouts.worlds.techtree import TechTree
from rollouts.worlds.techtree.catalogue import Catalogue, catalogue
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.settings import parameters
from rollouts.worlds.techtree.state import SOLID, WATER
from tests.techtree_stage import DOMAIN

SEEDS = range(16)
LOOKUP = catalogue(DOMAIN)
ORES = [row for row in parameters()["veins"] if row["block"].endswith("_ore")]
Cell = tuple[int, int, int]


@cache
def grown(seed: int) -> Play:
    """A grown world; tests only look at it."""
    world = TechTree(DOMAIN)
    world.reset(seed)
    return world.play


def _where(play: Play, *names: str) -> npt.NDArray[np.int64]:
    """The cells that hold any of these blocks, rows of x, y, z."""
    return np.argwhere(np.isin(play.blocks, [LOOKUP.block[name] for name in names]))


def _feet(play: Play) -> Cell:
    return int(play.body["x"]), int(play.body["y"]), int(play.body["z"])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_agent_starts_on_dry_open_land(seed: int) -> None:
    play = grown(seed)
    x, y, z = _feet(play)
    assert play.block((x, y - 1, z)) == "grass_block"
    assert all(play.block((x, y + up, z)) == "air" for up in (0, 1))
    assert y > parameters()["terrain"]["sea"]
    assert max(abs(x - 64), abs(z - 64)) < 32
    assert (float(play.body["health"]), float(play.body["food"])) == (20.0, 20.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_ore_is_there_within_its_heights(seed: int) -> None:
    for ore in ORES:
        found = _where(grown(seed), ore["block"])
        # Emeralds are of hilly ground, and a world need not have any.
        assert len(found) or ore.get("hilly"), ore
        assert all(ore["low"] <= y <= ore["high"] for y in found[:, 1]), ore


def test_ores_are_about_as_many_as_in_the_game() -> None:
    """Blocks per chunk, all seeds together; the game's averages are beside them."""
    per_chunk = {
        ore: sum(len(_where(grown(seed), ore)) for seed in SEEDS) / len(SEEDS) / 64
        for ore in ("diamond_ore", "gold_ore", "redstone_ore", "iron_ore", "lapis_ore")
    }
    for ore, (low, high) in {
        "diamond_ore": (2, 4.5),  # 3.1
        "gold_ore": (6, 11),  # 8.2
        "redstone_ore": (20, 35),  # 24.8
        "iron_ore": (60, 100),  # 77
        "lapis_ore": (2.5, 5),  # 3.4
    }.items():
        assert low < per_chunk[ore] < high, (ore, per_chunk[ore])


@pytest.mark.parametrize("seed", SEEDS)
def test_there_is_bedrock_below_sky_above_and_lava_deep_down(seed: int) -> None:
    play = grown(seed)
    assert (play.blocks[:, 0] == LOOKUP.block["bedrock"]).all()
    assert (play.blocks[:, -1] == LOOKUP.air).mean() > 0.99
    lava = _where(play, "lava")
    assert len(lava) > 100
    assert lava[:, 1].max() <= parameters()["terrain"]["lava"]


@pytest.mark.parametrize("seed", SEEDS)
def test_water_and_caves_stay_apart(seed: int) -> None:
    """No lake hangs over a cave: what is under water is water or ground."""
    play = grown(seed)
    water = _where(play, "water")
    assert len(water) > 200
    below = play.blocks[water[:, 0], water[:, 1] - 1, water[:, 2]]
    assert (LOOKUP.traits[below] & (SOLID | WATER) != 0).all()
    assert len(_hollows(play)) > 1000, "and there are caves"


def _hollows(play: Play) -> npt.NDArray[np.int64]:
    low = play.blocks[:, 11:50, :]
    return np.argwhere(low == LOOKUP.air)


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_animals_and_plants_are_near(seed: int) -> None:
    play = grown(seed)
    x, _, z = _feet(play)
    logs = _where(play, "oak_log")
    assert np.hypot(logs[:, 0] - x, logs[:, 2] - z).min() < 32
    assert len(_where(play, "birch_log")) > 10
    assert len(_where(play, "oak_leaves")) > 1000
    assert len(_where(play, "grass")) > 100
    assert len(_where(play, "dandelion", "poppy")) > 10
    assert len(_where(play, "sand", "gravel")) > 100
    mobs = play.state.mobs[: int(play.body["n_mobs"])]
    kinds = {play.catalogue.creatures[int(kind)] for kind in mobs["kind"]}
    assert kinds == {"cow", "sheep", "chicken", "pig", "villager"}
    for mob in mobs:
        under = (int(mob["x"]), int(mob["y"]) - 1, int(mob["z"]))
        assert play.traits(under) & SOLID, "creatures stand on the ground"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_village_is_whole_and_can_be_walked_to(seed: int) -> None:
    play = grown(seed)
    assert len(_where(play, "carrots")) == 18
    (cauldron,) = _where(play, "cauldron")
    assert play.water == {tuple(int(at) for at in cauldron): 3}
    kind = play.catalogue.creatures.index("villager")
    (villager,) = (mob for mob in play.state.mobs if int(mob["kind"]) == kind)
    goal = (int(villager["x"]), int(villager["y"]), int(villager["z"]))
    away = max(abs(goal[0] - _feet(play)[0]), abs(goal[2] - _feet(play)[2]))
    assert parameters()["village"]["near"] <= away <= parameters()["village"]["far"]
    assert _can_walk(play, _feet(play), goal)


def _can_walk(play: Play, start: Cell, goal: Cell) -> bool:
    """By steps of at most one up and three down, or swimming."""
    seen, ahead = {start}, deque([start])
    while ahead:
        x, y, z = ahead.popleft()
        if abs(x - goal[0]) <= 1 and abs(z - goal[2]) <= 1 and abs(y - goal[1]) <= 1:
            return True
        for i, k in ((x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1)):
            for j in range(y + 1, y - 4, -1):
                if not play.inside((i, j, k)) or (i, j, k) in seen or not _stands(play, (i, j, k)):
                    continue
                highest = max(y, j)
                if all(_open(play, (i, up, k)) for up in range(j, highest + 2)) and _open(
                    play, (x, y + 2, z)
                ):
                    seen.add((i, j, k))
                    ahead.append((i, j, k))
                break
    return False


def _open(play: Play, cell: Cell) -> bool:
    return not play.inside(cell) or not play.traits(cell) & SOLID


def _stands(play: Play, cell: Cell) -> bool:
    x, y, z = cell
    wet = bool(play.traits(cell) & WATER)
    return y > 1 and _open(play, cell) and (wet or bool(play.traits((x, y - 1, z)) & SOLID))


@pytest.mark.parametrize("seed", [-1, 2**62])
def test_seeds_out_of_range_are_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        TechTree(DOMAIN).reset(seed)


def test_a_large_seed_is_a_seed() -> None:
    assert TechTree(DOMAIN).reset(2**62 - 1).alive


def test_parameters_that_the_domain_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match="villager"):
        Catalogue(replace(DOMAIN, entities=DOMAIN.entities - {"villager"}))


def test_every_name_of_the_parameters_is_the_domain_s() -> None:
    known = DOMAIN.items | DOMAIN.blocks | DOMAIN.entities
    table = parameters()
    named = [row["block"] for row in table["veins"]] + list(table["creatures"]) + table["rooted"]["blocks"]
    named += table["yielding"]["blocks"] + table["falling"]["blocks"] + list(table["screens"])
    named += [*table["places"], *table["places"].values(), *table["remains"], *table["remains"].values()]
    named += [table["wash"]["station"], *table["wash"]["items"], *table["wash"]["fills"]]
    named += [name for row in table["uses"] for name in (*row["on"], *row.get("gives", "air").split())]
    assert sorted(set(named) - known) == []
    assert set(table["screens"].values()) <= {"crafting_table", "furnace", "other"}
