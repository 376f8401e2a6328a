"""Space as the kernels see it: what stops a body, how far a box slides, what a look meets."""

from math import ceil, cos, floor, radians, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import compiled, compiled_for
from rollouts.worlds.techtree.state import SOLID

Blocks = npt.NDArray[np.uint16]
Traits = npt.NDArray[np.uint8]
# A corner that touches a face is not inside it; rounding stays far below this.
TOUCH = 1e-7


@compiled
def solid_box(blocks: Blocks, traits: Traits, x0: int, x1: int, y0: int, y1: int, z0: int, z1: int) -> bool:
    """Whether any cell of the box (bounds included) stops a body. The sides of the world and its bottom do,
    the sky does not."""
    nx, ny, nz = blocks.shape
    if x0 < 0 or z0 < 0 or y0 < 0 or x1 >= nx or z1 >= nz:
        return True
    for x in range(x0, x1 + 1):
        for y in range(y0, min(y1, ny - 1) + 1):
            for z in range(z0, z1 + 1):
                if traits[blocks[x, y, z]] & SOLID:
                    return True
    return False


@compiled_for("f8(u2[:, :, ::1], u1[::1], f8, f8, f8, f8, f8, i8, f8)")
def slide(
    blocks: Blocks,
    traits: Traits,
    x: float,
    y: float,
    z: float,
    half: float,
    tall: float,
    axis: int,
    d: float,
) -> float:
    """How far a box with its feet's middle at (x, y, z) gets along an axis (0 x, 1 y, 2 z) when it wants to
    go `d`: the faces of the cells in its way are tried from near to far."""
    if d == 0.0:
        return 0.0
    x0, x1 = floor(x - half + TOUCH), floor(x + half - TOUCH)
    y0, y1 = floor(y + TOUCH), floor(y + tall - TOUCH)
    z0, z1 = floor(z - half + TOUCH), floor(z + half - TOUCH)
    # The face that leads: of the sides half the width away, of the top the height, of the soles none.
    ahead = half if axis != 1 else (tall if d > 0 else 0.0)
    face = (x if axis == 0 else (y if axis == 1 else z)) + (ahead if d > 0 else -ahead)
    step = 1 if d > 0 else -1
    cell = floor(face + TOUCH) if d > 0 else ceil(face - TOUCH) - 1
    last = floor(face + d)
    while (cell - last) * step <= 0:
        if axis == 0:
            stopped = solid_box(blocks, traits, cell, cell, y0, y1, z0, z1)
        elif axis == 1:
            stopped = solid_box(blocks, traits, x0, x1, cell, cell, z0, z1)
        else:
            stopped = solid_box(blocks, traits, x0, x1, y0, y1, cell, cell)
        if stopped:
            room = (cell - face) if d > 0 else (cell + 1 - face)
            return max(0.0, room) if d > 0 else min(0.0, room)
        cell += step
    return d


@compiled
def traits_at(blocks: Blocks, traits: Traits, x: float, y: float, z: float) -> int:
    """The traits of the block around a point; 0 outside the world."""
    i, j, k = floor(x), floor(y), floor(z)
    if 0 <= i < blocks.shape[0] and 0 <= j < blocks.shape[1] and 0 <= k < blocks.shape[2]:
        return int(traits[blocks[i, j, k]])
    return 0


@compiled
def look(
    blocks: Blocks, traits: Traits, body: Any, eye: float, reach: float, stops: int
) -> tuple[int, int, int, int, int, int, float]:
    """The first block with one of the traits `stops` in the line of sight: its cell, the cell before it, and
    the distance; the distance is -1 where there is none within reach."""
    yaw, pitch = radians(body.yaw), radians(body.pitch)
    dx, dy, dz = -sin(yaw) * cos(pitch), -sin(pitch), cos(yaw) * cos(pitch)
    ox, oy, oz = body.x, body.y + eye, body.z
    i, j, k = floor(ox), floor(oy), floor(oz)
    si, sj, sk = (1 if dx > 0 else -1), (1 if dy > 0 else -1), (1 if dz > 0 else -1)
    ti = ((i + (si > 0)) - ox) / dx if dx != 0.0 else 1e30
    tj = ((j + (sj > 0)) - oy) / dy if dy != 0.0 else 1e30
    tk = ((k + (sk > 0)) - oz) / dz if dz != 0.0 else 1e30
    pi, pj, pk = i, j, k
    gone = 0.0
    while gone <= reach:
        inside = 0 <= i < blocks.shape[0] and 0 <= j < blocks.shape[1] and 0 <= k < blocks.shape[2]
        if inside and traits[blocks[i, j, k]] & stops:
            return i, j, k, pi, pj, pk, gone
        pi, pj, pk = i, j, k
        if ti <= tj and ti <= tk:
            gone, i, ti = ti, i + si, ti + abs(1.0 / dx)
        elif tj <= tk:
            gone, j, tj = tj, j + sj, tj + abs(1.0 / dy)
        else:
            gone, k, tk = tk, k + sk, tk + abs(1.0 / dz)
    return i, j, k, pi, pj, pk, -1.0


@compiled
def look_at_mob(mobs: Any, creatures: Any, body: Any, eye: float, reach: float) -> tuple[int, float]:
    """The nearest creature in the line of sight and its distance; (-1, -1) where there is none in reach."""
    yaw, pitch = radians(body.yaw), radians(body.pitch)
    way = (-sin(yaw) * cos(pitch), -sin(pitch), cos(yaw) * cos(pitch))
    best, nearest = -1, reach
    for m in range(body.n_mobs):
        mob = mobs[m]
        if mob.kind < 0:
            continue
        half, tall = creatures[mob.kind].half, creatures[mob.kind].height
        away = (mob.x - body.x, mob.y - body.y - eye, mob.z - body.z)
        if abs(away[0]) > reach + half or abs(away[2]) > reach + half:
            continue
        near, far = 0.0, reach
        for axis in range(3):
            low = away[axis] - half if axis != 1 else away[axis]
            high = away[axis] + half if axis != 1 else away[axis] + tall
            if abs(way[axis]) < 1e-12:
                if low > 0.0 or high < 0.0:
                    far = -1.0
            else:
                a, b = low / way[axis], high / way[axis]
                near, far = max(near, min(a, b)), min(far, max(a, b))
        if near <= far and near <= nearest:
            best, nearest = m, near
    return best, (nearest if best >= 0 else -1.0)
