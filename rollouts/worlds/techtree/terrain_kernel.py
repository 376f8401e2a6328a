"""Terrain from a seed: heights, columns of ground, veins, caves and ravines, trees and plants.

`number` is a record of block numbers, `plan` the record of [terrain]; `built` marks the columns of the
village and of the spawn point, which are left whole. Luck is `chance` of the seed, a stream and a place.
"""

from math import cos, floor, pi, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import chance, compiled, compiled_for
from rollouts.worlds.techtree.space import Blocks

Plane = npt.NDArray[np.float64]
Mask = npt.NDArray[np.uint8]
# Streams of luck, one for each thing that is drawn.
SWELL, HILL, BUMP, HILLY, FOREST, VEINS, CAVES, RAVINES, TREES, PLANTS, POOLS = range(101, 112)
CHUNK = 16


@compiled_for("f8(i8, i8, f8, f8, f8)")
def smooth(seed: int, stream: int, x: float, z: float, scale: float) -> float:
    """Value noise in [0, 1): luck on a grid `scale` blocks wide, blended in between."""
    gx, gz = x / scale, z / scale
    i, k = floor(gx), floor(gz)
    fx, fz = gx - i, gz - k
    fx, fz = fx * fx * (3.0 - 2.0 * fx), fz * fz * (3.0 - 2.0 * fz)
    low = chance(seed, stream, i, k) * (1.0 - fx) + chance(seed, stream, i + 1, k) * fx
    high = chance(seed, stream, i, k + 1) * (1.0 - fx) + chance(seed, stream, i + 1, k + 1) * fx
    return low * (1.0 - fz) + high * fz


@compiled
def shape(seed: int, plans: Any, heights: npt.NDArray[np.int64], hilly: Plane, forest: Mask) -> None:
    """Fills in, per column, the height of the ground's top block, how hilly it is, and whether trees stand
    close."""
    plan = plans[0]
    for x in range(heights.shape[0]):
        for z in range(heights.shape[1]):
            steep = smooth(seed, HILLY, x, z, plan.hilly_scale)
            steep = max(0.0, min(1.0, 2.5 * steep - 0.75))
            height = plan.base + plan.swell * (2.0 * smooth(seed, SWELL, x, z, plan.swell_scale) - 1.0)
            height += steep * plan.hill * (2.0 * smooth(seed, HILL, x, z, plan.hill_scale) - 1.0)
            height += plan.bump * (2.0 * smooth(seed, BUMP, x, z, plan.bump_scale) - 1.0)
            # What rises above the shoulder is pressed together: round tops in place of flat ones.
            height = min(height, plan.shoulder + 0.4 * (height - plan.shoulder))
            heights[x, z] = max(plan.lowest, min(plan.highest, int(height)))
            hilly[x, z] = steep
            forest[x, z] = smooth(seed, FOREST, x, z, plan.forest_scale) > plan.forest_share


@compiled
def fill(seed: int, blocks: Blocks, number: Any, plan: Any, heights: npt.NDArray[np.int64]) -> None:
    """Bedrock, stone, soil, grass or sand, and water up to the sea's level."""
    nx, ny, nz = blocks.shape
    for x in range(nx):
        for z in range(nz):
            top = heights[x, z]
            wet = top < plan.sea
            for y in range(ny):
                if y == 0 or (y < 3 and chance(seed, y, x, z) < 0.5 / y):
                    block = number.bedrock
                elif y <= top - plan.soil - 1:
                    block = number.stone
                elif y < top:
                    block = number.sand if top <= plan.sea and y >= top - 1 else number.dirt
                elif y == top:
                    block = number.sand if top <= plan.sea else number.grass_block
                elif y <= plan.sea and wet:
                    block = number.water
                else:
                    block = number.air
                blocks[x, y, z] = block


@compiled
def lay_veins(seed: int, blocks: Blocks, number: Any, veins: Any, hilly: Plane) -> None:
    """Ores and pockets: each a walk of so many cells that turns at every step; only stone gives way."""
    nx, ny, nz = blocks.shape
    tried = 0
    for chunk_x in range(0, nx, CHUNK):
        for chunk_z in range(0, nz, CHUNK):
            for v in range(len(veins)):
                vein = veins[v]
                for _ in range(int(vein.per_chunk)):
                    tried += 1
                    x = chunk_x + int(chance(seed, VEINS, tried, 1) * CHUNK)
                    z = chunk_z + int(chance(seed, VEINS, tried, 2) * CHUNK)
                    y = vein.low + int(chance(seed, VEINS, tried, 3) * (vein.high - vein.low + 1))
                    if vein.hilly and hilly[min(x, nx - 1), min(z, nz - 1)] < 0.6:
                        continue
                    for n in range(vein.size):
                        inside = 0 <= x < nx and 0 < y < ny and 0 <= z < nz
                        if inside and vein.low <= y <= vein.high and blocks[x, y, z] == number.stone:
                            blocks[x, y, z] = vein.block
                        turn = int(chance(seed, VEINS, tried, 4 + n) * 6)
                        if turn < 2:
                            x += 2 * turn - 1
                        elif turn < 4:
                            y += 2 * turn - 5
                        else:
                            z += 2 * turn - 9


@compiled
def hollow(
    blocks: Blocks,
    number: Any,
    plan: Any,
    heights: npt.NDArray[np.int64],
    built: Mask,
    x: float,
    y: float,
    z: float,
    wide: float,
    tall: float,
) -> None:
    """Empties an ellipsoid. Lakes keep their bottoms and what is built its ground; low down there is lava."""
    nx, ny, nz = blocks.shape
    for i in range(max(0, int(x - wide)), min(nx, int(x + wide) + 2)):
        for k in range(max(0, int(z - wide)), min(nz, int(z + wide) + 2)):
            flat = ((i + 0.5 - x) ** 2 + (k + 0.5 - z) ** 2) / (wide * wide)
            if flat > 1.0:
                continue
            roof = ny if heights[i, k] > plan.sea + 1 else heights[i, k] - 4
            if built[i, k]:
                roof = heights[i, k] - 8
            for j in range(max(3, int(y - tall)), min(ny, int(y + tall) + 2)):
                if flat + ((j + 0.5 - y) / tall) ** 2 > 1.0 or j > roof:
                    continue
                blocks[i, j, k] = number.lava if j <= plan.lava else number.air


@compiled
def carve(
    seed: int, blocks: Blocks, number: Any, plan: Any, heights: npt.NDArray[np.int64], built: Mask
) -> None:
    """Caves, ravines and pools of lava."""
    nx, _, nz = blocks.shape
    for n in range(plan.caves):
        x, z = chance(seed, CAVES, n, 1) * nx, chance(seed, CAVES, n, 2) * nz
        y = 6.0 + chance(seed, CAVES, n, 3) * 54.0
        way = chance(seed, CAVES, n, 4) * 2.0 * pi
        dip = 0.0
        steps = plan.cave_least + int(chance(seed, CAVES, n, 5) * (plan.cave_most - plan.cave_least))
        for s in range(steps):
            wide = 1.3 + (plan.cave_radius - 1.3) * chance(seed, CAVES, n, 100 + s)
            hollow(blocks, number, plan, heights, built, x, y, z, wide, wide * 0.9)
            way += 0.7 * (chance(seed, CAVES, n, 1000 + s) - 0.5)
            dip = 0.8 * dip + 0.35 * (chance(seed, CAVES, n, 2000 + s) - 0.5)
            x, z, y = x + cos(way), z + sin(way), max(5.0, y + dip)
    for n in range(plan.ravines):
        x, z = chance(seed, RAVINES, n, 1) * nx, chance(seed, RAVINES, n, 2) * nz
        way = chance(seed, RAVINES, n, 3) * 2.0 * pi
        floor_y = plan.ravine_floor + chance(seed, RAVINES, n, 4) * 16.0
        for s in range(plan.ravine_length):
            thin = 1.0 + 1.4 * sin(pi * s / plan.ravine_length)
            half = (plan.highest + 2.0 - floor_y) / 2.0
            hollow(blocks, number, plan, heights, built, x, floor_y + half, z, thin, half)
            way += 0.35 * (chance(seed, RAVINES, n, 100 + s) - 0.5)
            x, z = x + cos(way), z + sin(way)
    for n in range(plan.pools):
        x, z = chance(seed, POOLS, n, 1) * nx, chance(seed, POOLS, n, 2) * nz
        y = 5.0 + chance(seed, POOLS, n, 3) * 7.0
        hollow(blocks, number, plan, heights, built, x, y, z, 3.5, 1.6)


@compiled
def plant_tree(seed: int, blocks: Blocks, number: Any, x: int, y: int, z: int, birch: bool) -> None:
    """A trunk from (x, y, z) up and the usual crown: two wide layers, two narrow ones."""
    log = number.birch_log if birch else number.oak_log
    leaves = number.birch_leaves if birch else number.oak_leaves
    tall = (5 if birch else 4) + int(chance(seed, TREES, x, 1000 + z) * 3)
    for layer in range(-2, 2):
        wide = 2 if layer < 0 else 1
        for i in range(x - wide, x + wide + 1):
            for k in range(z - wide, z + wide + 1):
                corner = abs(i - x) == wide and abs(k - z) == wide
                if corner and (layer == 1 or chance(seed, TREES, i * 4096 + layer, k) < 0.5):
                    continue
                j = y + tall + layer - 1
                if 0 <= i < blocks.shape[0] and 0 <= k < blocks.shape[2] and blocks[i, j, k] == number.air:
                    blocks[i, j, k] = leaves
    for j in range(y, y + tall):
        blocks[x, j, z] = log


@compiled
def grow(seed: int, blocks: Blocks, number: Any, plan: Any, heights: Any, forest: Mask, built: Mask) -> None:
    """Trees on grass, three blocks apart at least; grass, flowers, sugar cane."""
    nx, _, nz = blocks.shape
    for x in range(2, nx - 2):
        for z in range(2, nz - 2):
            y = heights[x, z]
            if built[x, z] or blocks[x, y, z] != number.grass_block:
                continue
            share = plan.tree_forest if forest[x, z] else plan.tree_plain
            if chance(seed, TREES, x, z) >= share:
                continue
            free = True
            for i in range(max(0, x - 2), min(nx, x + 3)):
                for k in range(max(0, z - 2), min(nz, z + 3)):
                    for j in range(y + 1, y + 4):
                        here = blocks[i, j, k]
                        free = free and here != number.oak_log and here != number.birch_log
            if free:
                white = forest[x, z] and chance(seed, TREES, x, 2000 + z) < plan.birch
                plant_tree(seed, blocks, number, x, y + 1, z, white)
                blocks[x, y, z] = number.dirt
    for x in range(1, nx - 1):
        for z in range(1, nz - 1):
            y = heights[x, z]
            ground = blocks[x, y, z]
            if built[x, z] or blocks[x, y + 1, z] != number.air:
                continue
            luck = chance(seed, PLANTS, x, z)
            if ground == number.grass_block and luck < plan.plant_grass:
                blocks[x, y + 1, z] = number.grass
            elif ground == number.grass_block and luck < plan.plant_grass + plan.plant_flower:
                poppy = chance(seed, PLANTS, x, 1000 + z) < 0.5
                blocks[x, y + 1, z] = number.poppy if poppy else number.dandelion
            elif y == plan.sea and ground == number.sand and luck > 1.0 - plan.cane:
                wet = blocks[x - 1, y, z] == number.water or blocks[x + 1, y, z] == number.water
                wet = wet or blocks[x, y, z - 1] == number.water or blocks[x, y, z + 1] == number.water
                if wet:
                    for j in range(1 + int(chance(seed, PLANTS, x, 2000 + z) * 3)):
                        blocks[x, y + 1 + j, z] = number.sugar_cane


@compiled
def build(
    seed: int,
    blocks: Blocks,
    numbers: Any,
    plans: Any,
    veins: Any,
    heights: npt.NDArray[np.int64],
    hilly: Plane,
    forest: Mask,
    built: Mask,
) -> None:
    """Fills `blocks` from the shape of the land."""
    number, plan = numbers[0], plans[0]
    fill(seed, blocks, number, plan, heights)
    lay_veins(seed, blocks, number, veins, hilly)
    carve(seed, blocks, number, plan, heights, built)
    grow(seed, blocks, number, plan, heights, forest, built)
