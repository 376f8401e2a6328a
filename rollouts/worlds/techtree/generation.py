"""Makes a world from a seed: terrain, village, creatures, and where the agent starts."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.catalogue import AIR, Catalogue
from rollouts.worlds.techtree.compiled import chance
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.state import (
    BLOCK_NUMBERS,
    MAX_MOBS,
    TARGET,
    TERRAIN,
    VEIN,
    Records,
    State,
)
from rollouts.worlds.techtree.terrain_kernel import build, shape
from rollouts.worlds.techtree.village import Site, choose_site, level, put_up

_HERDS, _HERD_PLACE = 120, 130
_FLAT_TOP = 63


class _Tables(NamedTuple):
    """What the terrain's kernels read: [terrain], [[veins]] and the blocks' numbers."""

    plan: Records
    veins: Records
    numbers: Records


def generate(catalogue: Catalogue, settings: Settings, seed: int) -> Play:
    """A new world with the agent at its spawn point, at tick 0. `ValueError` for a seed out of range, and for
    a start where nobody can stand."""
    if not 0 <= seed < 2**62:
        raise ValueError(f"seed {seed}: must be in [0, 2^62)")
    size = catalogue.parameters["world"]["size"]
    blocks = np.empty(size, np.uint16)
    play = Play(catalogue, settings, State(blocks), seed)
    if settings.ground == "flat":
        _lay_flat(catalogue, blocks)
        _wake(play, (size[0] // 2, _FLAT_TOP, size[2] // 2))
        return play
    plan, veins, numbers = _tables(catalogue)
    heights = np.empty((size[0], size[2]), np.int64)
    hilly, forest = np.empty(heights.shape), np.empty(heights.shape, np.uint8)
    shape(seed, plan, heights, hilly, forest)
    spawn = _spawn(heights, int(plan["sea"][0]))
    site = choose_site(catalogue.parameters["village"], heights, spawn, int(plan["sea"][0]))
    built = np.zeros(heights.shape, np.uint8)
    # No tree's crown reaches in from outside.
    built[spawn[0] - 3 : spawn[0] + 4, spawn[1] - 3 : spawn[1] + 4] = 1
    level(catalogue.parameters["village"], heights, built, site)
    build(seed, blocks, numbers, plan, veins, heights, hilly, forest, built)
    _wake(play, (spawn[0], int(heights[spawn]), spawn[1]))
    put_up(play, site)
    _release(play, heights, site)
    if settings.start is not None:
        _start_elsewhere(play, heights, settings.start)
    return play


@cache
def _tables(catalogue: Catalogue) -> _Tables:
    plan = np.zeros(1, TERRAIN)
    for name in TERRAIN.names or ():
        plan[name] = catalogue.parameters["terrain"][name]
    rows = catalogue.parameters["veins"]
    veins = np.zeros(len(rows), VEIN)
    for n, row in enumerate(rows):
        veins[n] = (
            row["per_chunk"],
            catalogue.block[row["block"]],
            row["size"],
            row["low"],
            row["high"],
            row.get("hilly", False),
        )
    numbers = np.zeros(1, BLOCK_NUMBERS)
    for name in BLOCK_NUMBERS.names or ():
        numbers[name] = catalogue.block[name]
    return _Tables(plan, veins, numbers)


def _lay_flat(catalogue: Catalogue, blocks: npt.NDArray[np.uint16]) -> None:
    soil = catalogue.parameters["terrain"]["soil"]
    blocks[:, 0] = catalogue.block["bedrock"]
    blocks[:, 1 : _FLAT_TOP - soil] = catalogue.block["stone"]
    blocks[:, _FLAT_TOP - soil : _FLAT_TOP] = catalogue.block["dirt"]
    blocks[:, _FLAT_TOP] = catalogue.block["grass_block"]
    blocks[:, _FLAT_TOP + 1 :] = catalogue.block[AIR]


def _spawn(heights: npt.NDArray[np.int64], sea: int) -> tuple[int, int]:
    """The column nearest to the middle that is dry and even, with its neighbours; else the highest one."""
    middle = (heights.shape[0] // 2, heights.shape[1] // 2)
    inner = heights[1:-1, 1:-1]
    low, high = heights, heights
    for _ in range(2):
        low = np.minimum(np.minimum(low[:-2], low[1:-1]), low[2:]).T
        high = np.maximum(np.maximum(high[:-2], high[1:-1]), high[2:]).T
    even = (high - inner <= 1) & (inner - low <= 1) & (low > sea)
    found = np.argwhere(even) + 1
    if not len(found):
        at = np.unravel_index(int(heights.argmax()), heights.shape)
        return int(at[0]), int(at[1])
    nearest = found[int(((found - middle) ** 2).sum(axis=1).argmin())]
    return int(nearest[0]), int(nearest[1])


def _wake(play: Play, ground: tuple[int, int, int]) -> None:
    """Puts the body on a block, whole and rested."""
    body = play.body
    body["x"], body["y"], body["z"] = ground[0] + 0.5, ground[1] + 1.0, ground[2] + 0.5
    body["stuck_x"], body["stuck_y"], body["stuck_z"] = body["x"], body["y"], body["z"]
    body["seed"], body["alive"], body["grounded"], body["mine_x"] = play.seed, 1, 1, -1
    # Whoever stands is pulled down all the time; without this the first tick would count as a fall.
    body["vy"] = -0.98 * play.parameters["rules"]["gravity"]
    body["health"], body["food"] = play.domain.spawn_health, play.domain.spawn_hunger
    body["saturation"] = play.parameters["hands"]["saturation"]


def _start_elsewhere(play: Play, heights: npt.NDArray[np.int64], column: tuple[int, int]) -> None:
    """Moves the body to the top of the ground in another column of the finished world."""
    x, z = column
    inside = 0 <= x < heights.shape[0] and 0 <= z < heights.shape[1]
    if not inside or any(play.traits((x, int(heights[x, z]) + up, z)) & ~TARGET for up in (1, 2)):
        raise ValueError(f"start {column}: nobody can stand there")
    _wake(play, (x, int(heights[x, z]), z))


def _release(play: Play, heights: npt.NDArray[np.int64], site: Site | None) -> None:
    """Herds on grass, each kind as often; the villager in his yard."""
    herds, table = play.parameters["herds"], play.parameters["creatures"]
    grass = play.catalogue.block["grass_block"]
    if site is not None:
        add_creature(play, play.parameters["village"]["people"], *site.yard)
    margin = 4
    for n in range(herds["herds"] * len(herds["kinds"])):
        kind = herds["kinds"][n % len(herds["kinds"])]
        for attempt in range(40):
            luck = [chance(play.seed, _HERDS, n, 3 * attempt + axis) for axis in range(2)]
            x, z = (
                margin + int(part * (size - 2 * margin))
                for part, size in zip(luck, heights.shape, strict=True)
            )
            far = max(abs(x - float(play.body["x"])), abs(z - float(play.body["z"]))) >= herds["apart"]
            if far and play.blocks[x, heights[x, z], z] == grass:
                break
        else:
            continue
        count = herds["least"] + int(chance(play.seed, _HERDS, n, 999) * (herds["most"] - herds["least"] + 1))
        for member in range(count):
            for attempt in range(herds["tries"]):
                i, k = (
                    at + int(5 * chance(play.seed, _HERD_PLACE + axis, n, member + 16 * attempt)) - 2
                    for axis, at in enumerate((x, z))
                )
                y = int(heights[i, k])
                roomy = (play.blocks[i, y + 1 : y + 3, k] == play.catalogue.air).all()
                if play.blocks[i, y, k] == grass and roomy and kind in table:
                    add_creature(play, kind, i + 0.5, y + 1.0, k + 0.5)
                    break


def add_creature(play: Play, kind: str, x: float, y: float, z: float) -> None:
    """A creature that stands at a point; nothing happens when there are `MAX_MOBS` already."""
    place = int(play.body["n_mobs"])
    if place == MAX_MOBS:
        return
    row = play.state.mobs[place]
    row["kind"] = play.catalogue.creatures.index(kind)
    row["x"], row["y"], row["z"], row["home_x"], row["home_z"] = x, y, z, x, z
    row["health"] = play.parameters["creatures"][kind]["health"]
    row["left"] = 20 + place
    row["grounded"] = 1
    play.body["n_mobs"] = place + 1
