"""What can be seen from where the body is."""

from math import floor, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import compiled
from rollouts.worlds.techtree.space import Blocks, Traits
from rollouts.worlds.techtree.state import OPAQUE


@compiled
def fill_window(
    blocks: Blocks, traits: Traits, x0: int, y0: int, z0: int, air: int, wall: int, unknown: int, out: Blocks
) -> None:
    """Fills `out`, at most 62 cells deep, with the blocks from (x0, y0, z0) on; `ValueError` for more.

    A cell is known if it does not hide what is behind it, or if one of its six neighbours does not: light may
    reach its face. That is cheap, and generous: a cave that no opening leads to is seen too when it lies
    inside the window.
    """
    nx, ny, nz = blocks.shape
    sx, sy, sz = out.shape
    if sz > 62:
        raise ValueError("a window of more than 62 cells")
    flat, window = blocks.reshape(nx * ny * nz), out.reshape(sx * sy * sz)
    one, none = np.uint64(1), np.uint64(0)
    # A bit per cell of a row, the cells around the window included: set where it lets light through. Beyond
    # the sides and the bottom nothing does, above the top everything. Indices are cast to spare the compiled
    # code the question whether they are negative.
    tall = sy + 2
    clear = np.zeros((sx + 2) * tall, np.uint64)
    for i in range(sx + 2):
        for j in range(tall):
            x, y, bits = x0 - 1 + i, y0 - 1 + j, none
            if y >= ny:
                bits = ~none
            elif y >= 0 and 0 <= x < nx:
                start = (x * ny + y) * nz
                for z in range(max(0, z0 - 1), min(nz, z0 + sz + 1)):
                    lets = np.uint64(traits[np.uint64(flat[np.uint64(start + z)])] & OPAQUE == 0)
                    bits |= lets << np.uint64(z - z0 + 1)
            clear[np.uint64(i * tall + j)] = bits
    first, last = min(max(0, -z0), sz), max(0, min(sz, nz - z0))
    for i in range(sx):
        for j in range(sy):
            x, y, at, start = x0 + i, y0 + j, (i * sy + j) * sz, ((x0 + i) * ny + y0 + j) * nz + z0
            if x < 0 or x >= nx or first >= last:
                for k in range(sz):
                    window[np.uint64(at + k)] = wall
                continue
            for k in range(first):
                window[np.uint64(at + k)] = wall
            for k in range(last, sz):
                window[np.uint64(at + k)] = wall
            if y < 0 or y >= ny:
                for k in range(first, last):
                    window[np.uint64(at + k)] = unknown if y < 0 else air
                continue
            own = np.uint64((i + 1) * tall + j + 1)
            row, wide, up = clear[own], np.uint64(tall), one
            seen = row | (row << one) | (row >> one) | clear[own - up] | clear[own + up]
            seen = (seen | clear[own - wide] | clear[own + wide]) >> one
            for k in range(first, last):
                block = flat[np.uint64(start + k)]
                window[np.uint64(at + k)] = block if (seen >> np.uint64(k)) & one else np.uint16(unknown)


@compiled
def nearest_in_view(
    blocks: Blocks,
    traits: Traits,
    way: npt.NDArray[np.float64],
    eye: float,
    side: int,
    tall: int,
    air: int,
    wall: int,
    unknown: int,
    wanted: npt.NDArray[np.bool_],
) -> float:
    """How near to the eyes a cell that shows a `wanted` block came in the windows along a way, rows of x, y
    and z of the feet; infinite for never. What a window shows is `fill_window`'s."""
    nx, ny, nz = blocks.shape
    best = np.inf
    at_x, at_y, at_z = 0, 0, 0
    for n in range(len(way)):
        x0, y0, z0 = floor(way[n, 0]) - side, floor(way[n, 1]) - tall, floor(way[n, 2]) - side
        if n > 0 and x0 == at_x and y0 == at_y and z0 == at_z:
            continue
        at_x, at_y, at_z = x0, y0, z0
        off_x = x0 + 0.5 - way[n, 0]
        off_y = y0 + 0.5 - (way[n, 1] + eye)
        off_z = z0 + 0.5 - way[n, 2]
        for i in range(2 * side + 1):
            x = x0 + i
            for j in range(2 * tall + 1):
                y = y0 + j
                for k in range(2 * side + 1):
                    z = z0 + k
                    if x < 0 or z < 0 or x >= nx or z >= nz:
                        shown = wall
                    elif y < 0 or y >= ny:
                        shown = unknown if y < 0 else air
                    else:
                        block = blocks[x, y, z]
                        # Only what is wanted is looked at closer: it is rare.
                        hidden = wanted[block] and not _open(blocks, traits, x, y, z)
                        shown = unknown if hidden else int(block)
                    if wanted[shown]:
                        dx, dy, dz = i + off_x, j + off_y, k + off_z
                        best = min(best, sqrt(dx * dx + dy * dy + dz * dz))
    return best


@compiled
def _open(blocks: Blocks, traits: Traits, x: int, y: int, z: int) -> bool:
    """Whether light may reach a cell of the world: it lets it through, or one of its neighbours does."""
    nx, ny, nz = blocks.shape
    seen = traits[blocks[x, y, z]] & OPAQUE == 0
    seen = seen or (x > 0 and traits[blocks[x - 1, y, z]] & OPAQUE == 0)
    seen = seen or (x + 1 < nx and traits[blocks[x + 1, y, z]] & OPAQUE == 0)
    seen = seen or y + 1 == ny or traits[blocks[x, y + 1, z]] & OPAQUE == 0
    seen = seen or (y > 0 and traits[blocks[x, y - 1, z]] & OPAQUE == 0)
    seen = seen or (z > 0 and traits[blocks[x, y, z - 1]] & OPAQUE == 0)
    return bool(seen or (z + 1 < nz and traits[blocks[x, y, z + 1]] & OPAQUE == 0))


@compiled
def fill_around(
    blocks: Blocks,
    traits: Traits,
    x0: int,
    y0: int,
    z0: int,
    x: int,
    y: int,
    z: int,
    unknown: int,
    out: Blocks,
) -> None:
    """Fills anew what a change of the cell (x, y, z) may have changed in a window from (x0, y0, z0) on: the
    cell and its six neighbours. What `out` shows of them is then `fill_window`'s."""
    nx, ny, nz = blocks.shape
    sx, sy, sz = out.shape
    for dx in range(-1, 2):
        for dy in range(-1, 2):
            for dz in range(-1, 2):
                if abs(dx) + abs(dy) + abs(dz) > 1:
                    continue
                u, v, w = x + dx, y + dy, z + dz
                inside = 0 <= u < nx and 0 <= v < ny and 0 <= w < nz
                i, j, k = u - x0, v - y0, w - z0
                if inside and 0 <= i < sx and 0 <= j < sy and 0 <= k < sz:
                    out[i, j, k] = blocks[u, v, w] if _open(blocks, traits, u, v, w) else unknown


@compiled
def find_near(
    bodies: Any,
    mobs: Any,
    items: Any,
    radius: float,
    known: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    before: int,
    fresh: npt.NDArray[np.int64],
    met: npt.NDArray[np.int64],
    n_kinds: int,
) -> tuple[int, int, bool]:
    """The creatures, then the things, within `radius` blocks: how many, how many of them are not as they were
    when they were last near, and whether they are the very ones that the first `before` of `rows` say, and
    all as they were.

    Rows of `known` are the creatures' and then the things': kind or item, x, y, z. `rows` gets those that are
    near, `fresh` those of them that had to be written anew; `met` gets the tick for every kind of creature,
    and from `n_kinds` on for every item, that is near.
    """
    body = bodies[0]
    count, n_fresh, same = 0, 0, True
    limit = radius * radius
    for n in range(body.n_mobs):
        mob = mobs[n]
        dx, dy, dz = mob.x - body.x, mob.y - body.y, mob.z - body.z
        if mob.kind >= 0 and dx * dx + dy * dy + dz * dz <= limit:
            same = same and count < before and rows[count] == n
            rows[count] = n
            count += 1
            met[mob.kind] = body.tick
            if _renew(known[n], mob.kind, mob.x, mob.y, mob.z):
                fresh[n_fresh] = n
                n_fresh += 1
    for n in range(body.n_items):
        item = items[n]
        dx, dy, dz = item.x - body.x, item.y - body.y, item.z - body.z
        if item.count > 0 and dx * dx + dy * dy + dz * dz <= limit:
            row = len(mobs) + n
            same = same and count < before and rows[count] == row
            rows[count] = row
            count += 1
            met[n_kinds + item.item] = body.tick
            if _renew(known[row], item.item, item.x, item.y, item.z):
                fresh[n_fresh] = row
                n_fresh += 1
    return count, n_fresh, same and count == before and n_fresh == 0


@compiled
def _renew(known: npt.NDArray[np.float64], number: int, x: float, y: float, z: float) -> bool:
    """Writes into a row of what is known; whether it said anything else before."""
    if known[0] == number and known[1] == x and known[2] == y and known[3] == z:
        return False
    known[0], known[1], known[2], known[3] = number, x, y, z
    return True
