"""The cheapest way over the voxels, by A*: walking, jumping, dropping, swimming, digging, piling up blocks.

A node is the cell that the feet are in. Costs are ticks. Nothing flows in this world, so digging beside a
liquid is harmless; only lava is never entered.
"""

from heapq import heappop, heappush
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import compiled
from rollouts.worlds.techtree.space import Blocks

# What a block is to a way: solid, open, water, lava.
WALL: Final = 0
OPEN: Final = 1
WET: Final = 2
HOT: Final = 3
NEVER: Final = 1e9
"""ticks of what cannot be done"""
STEP: Final = 4.7  # ticks per block on foot
HOP: Final = 9.0  # up a block
SWIM: Final = 14.0  # per block
FALL: Final = 3.0  # per block down
PILE: Final = 14.0  # up on a block put under the feet
BESIDE_LAVA: Final = 60.0  # so that it is gone round where that is cheap
LOOSE: Final = 40.0  # sand or gravel comes down into what is dug
TURN: Final = 3.0  # standing still before digging, dropping or climbing
DEEPEST: Final = 3  # blocks that one may fall


@compiled
def clearing(blocks: Blocks, kind: Any, dig: Any, loose: Any, x: int, y: int, z: int, slow: float) -> float:
    """Ticks until the body fits into a cell; NEVER where it cannot be made to."""
    if x < 1 or z < 1 or y < 1 or x >= blocks.shape[0] - 1 or z >= blocks.shape[2] - 1:
        return NEVER
    if y >= blocks.shape[1] - 1:
        return NEVER
    block = blocks[x, y, z]
    if kind[block] == OPEN or kind[block] == WET:
        return 0.0
    if kind[block] == HOT:
        return NEVER
    cost = float(dig[block]) * slow + TURN
    above = y + 1
    while above < blocks.shape[1] and loose[blocks[x, above, z]]:
        cost += LOOSE
        above += 1
    return cost


@compiled
def danger(blocks: Blocks, kind: Any, x: int, y: int, z: int) -> float:
    """What it costs that lava is beside or under a cell."""
    for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)):
        for dy in (0, -1):
            if y + dy >= 0 and kind[blocks[x + dx, y + dy, z + dz]] == HOT:
                return BESIDE_LAVA
    return 0.0


@compiled
def estimate(aims: npt.NDArray[np.int64], x: int, y: int, z: int) -> float:
    """A guess of the ticks to the nearest of the aims."""
    best = NEVER
    for n in range(aims.shape[0]):
        down = y - aims[n, 1]
        upright = FALL * down if down > 0 else -HOP * down
        gap = STEP * max(0, abs(aims[n, 0] - x) + abs(aims[n, 2] - z) - 1) + upright
        best = min(best, gap)
    return best


@compiled
def find_way(
    blocks: Blocks,
    kind: Any,
    dig: Any,
    loose: Any,
    goal: npt.NDArray[np.uint8],
    aims: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    piles: int,
    weight: float,
    limit: int,
) -> npt.NDArray[np.int64]:
    """The cells from `start` to one where `goal` is set, `(n, 3)`; `n` = 0 where there is none within `limit`
    nodes. `piles`: whether blocks are at hand to climb on. `weight` > 1 trades length for speed."""
    nx, ny, nz = blocks.shape
    best = np.full(nx * ny * nz, np.float32(NEVER))
    origin = np.full(nx * ny * nz, np.int32(-1))
    closed = np.zeros(nx * ny * nz, np.uint8)
    first = (start[0] * ny + start[1]) * nz + start[2]
    best[first] = 0.0
    heap = [(0.0, first)]
    visited = 0
    while len(heap) > 0:
        _, node = heappop(heap)
        if closed[node]:
            continue
        closed[node] = 1
        visited += 1
        z = node % nz
        y = (node // nz) % ny
        x = node // (nz * ny)
        if goal[x, y, z]:
            length = 0
            at = node
            while at >= 0:
                length += 1
                at = np.int64(origin[at])
            way = np.empty((length, 3), np.int64)
            at = node
            for n in range(length - 1, -1, -1):
                way[n, 0], way[n, 1], way[n, 2] = at // (nz * ny), (at // nz) % ny, at % nz
                at = np.int64(origin[at])
            return way
        if visited > limit:
            break
        wet = kind[blocks[x, y, z]] == WET
        slow = 8.0 if wet else 1.0
        here = best[node]
        over = clearing(blocks, kind, dig, loose, x, y + 2, z, slow)
        for turn in range(4):
            i = x + (1 if turn == 0 else (-1 if turn == 1 else 0))
            k = z + (1 if turn == 2 else (-1 if turn == 3 else 0))
            if i < 1 or k < 1 or i >= nx - 1 or k >= nz - 1:
                continue
            head = clearing(blocks, kind, dig, loose, i, y + 1, k, slow)
            if head >= NEVER:
                continue
            # Up: the cell in front carries, or the water's edge is climbed.
            if kind[blocks[i, y, k]] == WALL and over < NEVER:
                top = clearing(blocks, kind, dig, loose, i, y + 2, k, slow)
                if top < NEVER:
                    cost = over + head + top + HOP + STEP + danger(blocks, kind, i, y + 1, k)
                    _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + cost, i, y + 1, k)
            feet = clearing(blocks, kind, dig, loose, i, y, k, slow)
            if feet >= NEVER:
                continue
            pace = SWIM if kind[blocks[i, y, k]] == WET else STEP
            cost = head + feet + pace
            # Level, or down to what carries: ground, or water.
            for depth in range(DEEPEST + 1):
                under = y - depth - 1
                if under < 0:
                    break
                ground = kind[blocks[i, under, k]]
                if ground == HOT:
                    break
                if depth == 0 and kind[blocks[i, y, k]] == WET:
                    total = cost + danger(blocks, kind, i, y, k)
                    _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + total, i, y, k)
                    break
                if ground == WALL:
                    total = cost + FALL * depth + TURN * min(depth, 1) + danger(blocks, kind, i, y - depth, k)
                    down = y - depth
                    _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + total, i, down, k)
                    break
                if ground == WET:
                    total = cost + SWIM
                    _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + total, i, under, k)
                    break
            # A stair down, cut into the ground.
            if y >= 3 and kind[blocks[i, y - 1, k]] == WALL and kind[blocks[i, y - 2, k]] == WALL:
                stair = clearing(blocks, kind, dig, loose, i, y - 1, k, slow)
                if stair < NEVER:
                    total = cost + stair + FALL + TURN + danger(blocks, kind, i, y - 1, k)
                    _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + total, i, y - 1, k)
        if wet:
            if kind[blocks[x, y + 1, z]] == WET:
                _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + SWIM, x, y + 1, z)
        else:
            if piles > 0 and over < NEVER:
                cost = over + PILE
                _reach(best, origin, closed, heap, aims, weight, ny, nz, node, here + cost, x, y + 1, z)
            shaft = clearing(blocks, kind, dig, loose, x, y - 1, z, slow)
            if y >= 3 and shaft < NEVER and kind[blocks[x, y - 1, z]] == WALL:
                for depth in range(1, DEEPEST + 1):
                    ground = kind[blocks[x, y - depth - 1, z]] if y - depth - 1 >= 0 else HOT
                    if ground == WALL:
                        cost = shaft + FALL * depth + TURN + danger(blocks, kind, x, y - depth, z)
                        down = y - depth
                        _reach(
                            best, origin, closed, heap, aims, weight, ny, nz, node, here + cost, x, down, z
                        )
                        break
                    if ground != OPEN:
                        break
    return np.empty((0, 3), np.int64)


@compiled
def _reach(
    best: Any,
    origin: Any,
    closed: Any,
    heap: Any,
    aims: Any,
    weight: float,
    ny: int,
    nz: int,
    node: int,
    cost: float,
    x: int,
    y: int,
    z: int,
) -> None:
    """Notes a cheaper way to a cell."""
    to = (x * ny + y) * nz + z
    if closed[to] or cost >= best[to]:
        return
    best[to] = cost
    origin[to] = node
    heappush(heap, (cost + weight * estimate(aims, x, y, z), to))
