"""The compiled loops over the cells of a window (`rollouts.protocols.Window`): what is nearest, what lies on
a line of sight, what the next step meets. Cells outside the window count as solid.

`traits` has a row of bits per palette entry. Signatures are given, so that arrays that may and that may not
be written to share one compiled version; numba keeps it on disk.
"""

from collections.abc import Callable
from math import floor, inf, sqrt
from typing import Any, Final, Protocol, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types

Function = TypeVar("Function", bound=Callable[..., object])
Blocks = npt.NDArray[np.uint16]
Traits = npt.NDArray[np.uint8]
Members = npt.NDArray[np.bool_]

SOLID: Final = 1
RISKY: Final = 2
# What a step meets; the values of walking.Ground.
LEVEL: Final = 1
UP: Final = 2
WALL: Final = 3
LEDGE: Final = 4
RISK: Final = 5

_BLOCKS: Final = types.Array(types.uint16, 3, "A", readonly=True)
_TRAITS: Final = types.Array(types.uint8, 1, "C", readonly=True)
_MEMBERS: Final = types.Array(types.boolean, 1, "C", readonly=True)
_WHOLE, _REAL = types.int64, types.float64
_ORIGIN: Final = (_WHOLE, _WHOLE, _WHOLE)
_POINT: Final = (_REAL, _REAL, _REAL)
_CELL: Final[Any] = types.Tuple((_WHOLE,) * 4)  # type: ignore[no-untyped-call]  # numba has no types
_OUTLINE: Final[Any] = types.Tuple((_WHOLE, types.boolean))  # type: ignore[no-untyped-call]  # the same


class _Compiler(Protocol):
    def __call__(self, function: Function, /) -> Function: ...


def _compiled(signature: Any = None) -> _Compiler:
    return cast(_Compiler, numba.njit(signature, cache=True, error_model="numpy"))


@_compiled()
def _at(blocks: Blocks, traits: Traits, i: int, j: int, k: int) -> int:
    """The traits of a cell, counted from the window's corner."""
    nx, ny, nz = blocks.shape
    if i < 0 or j < 0 or k < 0 or i >= nx or j >= ny or k >= nz:
        return SOLID
    return int(traits[blocks[i, j, k]])


@_compiled(
    _OUTLINE(
        _BLOCKS, *_POINT, _REAL, _MEMBERS, types.float64[::1], _WHOLE, types.int64[::1], types.float64[::1]
    )
)
def nearest_cells(
    blocks: Blocks,
    x: float,
    y: float,
    z: float,
    reach: float,
    known: Members,
    squares: npt.NDArray[np.float64],
    before: int,
    found: npt.NDArray[np.int64],
    near: npt.NDArray[np.float64],
) -> tuple[int, bool]:
    """How many palette entries that are `known` are in the window, and whether they are the same, and the
    same of them within `reach`, as the first `before` of `found` and `near` say, which the last call left.

    `found` gets the entries, in order, `near` how far the nearest cell of each is. (x, y, z) leads from the
    eyes to the middle of the window's first cell. All arrays have a place per palette entry; `squares` is
    infinite throughout and is left so.
    """
    nx, ny, nz = blocks.shape
    met = np.empty(len(squares), np.int64)
    count = 0
    for i in range(nx):
        dx = (i + x) * (i + x)
        for j in range(ny):
            dy = (j + y) * (j + y)
            # Alike cells lie in rows, and the nearest of a row is written once.
            last, least = np.uint64(blocks[np.uint64(i), np.uint64(j), np.uint64(0)]), inf
            for k in range(nz + 1):
                away = dx + dy + (k + z) * (k + z)
                block = last
                if k < nz:
                    block = np.uint64(blocks[np.uint64(i), np.uint64(j), np.uint64(k)])
                if block == last and k < nz:
                    least = min(least, away)
                    continue
                if known[last] and least < squares[last]:
                    if squares[last] == inf:
                        at = count
                        while at > 0 and met[at - 1] > last:
                            met[at] = met[at - 1]
                            at -= 1
                        met[at] = last
                        count += 1
                    squares[last] = least
                last, least = block, away
    same = count == before
    for n in range(count):
        entry = met[n]
        away = sqrt(squares[entry])
        same = same and found[n] == entry and (near[n] <= reach) == (away <= reach)
        found[n], near[n] = entry, away
        squares[entry] = inf
    return count, same


@_compiled(types.void(_BLOCKS, types.float64[::1], types.int64[:, ::1]))
def nearest_places(blocks: Blocks, gaps: npt.NDArray[np.float64], places: npt.NDArray[np.int64]) -> None:
    """The place, from the window's corner, of the cell of each palette entry that is nearest to the window's
    middle, the last of equally near ones; -1 where there is none. `gaps` is scratch, a place per entry."""
    gaps[:], places[:] = inf, -1
    nx, ny, nz = blocks.shape
    for i in range(nx):
        dx = i - (nx - 1) / 2
        for j in range(ny):
            dy = j - (ny - 1) / 2
            for k in range(nz):
                dz = k - (nz - 1) / 2
                gap = dx * dx + dy * dy + dz * dz
                block = np.uint64(blocks[i, j, k])
                if gap <= gaps[block]:
                    gaps[block] = gap
                    places[block, 0], places[block, 1], places[block, 2] = i, j, k


@_compiled(_WHOLE(_BLOCKS, _MEMBERS, types.int64[:, ::1]))
def find_cells(blocks: Blocks, wanted: Members, out: npt.NDArray[np.int64]) -> int:
    """How many cells hold an entry that is `wanted`; `out` gets their places from the window's corner, in
    the window's order, as many as it has rows for."""
    nx, ny, nz = blocks.shape
    count = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if wanted[np.uint64(blocks[np.uint64(i), np.uint64(j), np.uint64(k)])]:
                    if count < len(out):
                        out[count, 0], out[count, 1], out[count, 2] = i, j, k
                    count += 1
    return count


@_compiled(_CELL(_BLOCKS, _TRAITS, *_ORIGIN, *_POINT, *_POINT))
def first_solid(
    blocks: Blocks,
    traits: Traits,
    x0: int,
    y0: int,
    z0: int,
    ex: float,
    ey: float,
    ez: float,
    px: float,
    py: float,
    pz: float,
) -> tuple[int, int, int, int]:
    """The first solid cell on the line from e to p, both ends included: (1, x, y, z), or zeros."""
    x, y, z = floor(ex), floor(ey), floor(ez)
    last_x, last_y, last_z = floor(px), floor(py), floor(pz)
    way_x, way_y, way_z = px - ex, py - ey, pz - ez
    # Shares of the line: from one boundary of an axis to the next, and to the first one.
    wide_x = abs(1.0 / way_x) if way_x != 0.0 else inf
    wide_y = abs(1.0 / way_y) if way_y != 0.0 else inf
    wide_z = abs(1.0 / way_z) if way_z != 0.0 else inf
    next_x = ((x + 1 - ex) if way_x > 0.0 else (ex - x)) * wide_x if way_x != 0.0 else inf
    next_y = ((y + 1 - ey) if way_y > 0.0 else (ey - y)) * wide_y if way_y != 0.0 else inf
    next_z = ((z + 1 - ez) if way_z > 0.0 else (ez - z)) * wide_z if way_z != 0.0 else inf
    while True:
        if _at(blocks, traits, x - x0, y - y0, z - z0) & SOLID:
            return 1, x, y, z
        if x == last_x and y == last_y and z == last_z:
            return 0, 0, 0, 0
        # Rounding at a corner can miss the last cell; where the line itself has ended, so does this.
        if min(next_x, next_y, next_z) > 1.0:
            return 0, 0, 0, 0
        if next_x <= next_y and next_x <= next_z:
            x += 1 if way_x > 0.0 else -1
            next_x += wide_x
        elif next_y <= next_z:
            y += 1 if way_y > 0.0 else -1
            next_y += wide_y
        else:
            z += 1 if way_z > 0.0 else -1
            next_z += wide_z


@_compiled()
def _side(blocks: Blocks, traits: Traits, i: int, j: int, k: int) -> int:
    """What the body meets in a column, feet in cell (i, j, k)."""
    low, high = _at(blocks, traits, i, j, k), _at(blocks, traits, i, j + 1, k)
    if (low | high) & RISKY:
        return RISK
    if high & SOLID:
        return WALL
    if low & SOLID:
        return WALL if _at(blocks, traits, i, j + 2, k) & SOLID else UP
    return LEVEL


@_compiled(_WHOLE(_BLOCKS, _TRAITS, *_ORIGIN, *_ORIGIN, _REAL, _REAL, _REAL, _WHOLE))
def ground(
    blocks: Blocks,
    traits: Traits,
    x0: int,
    y0: int,
    z0: int,
    feet_x: int,
    feet_y: int,
    feet_z: int,
    x: float,
    z: float,
    half: float,
    deepest: int,
) -> int:
    """What a body of half the width `half` meets that comes from the cell of its feet to (x, z). `deepest`:
    cells that it may drop without harm."""
    wall = risk = up = False
    for a in range(2):
        for b in range(2):
            i = floor(x - half if a == 0 else x + half)
            k = floor(z - half if b == 0 else z + half)
            if i == feet_x and k == feet_z:
                continue
            side = _side(blocks, traits, i - x0, feet_y - y0, k - z0)
            wall = wall or side == WALL
            risk = risk or side == RISK
            up = up or side == UP
    if wall:
        return WALL
    if risk:
        return RISK
    if up:
        over = _at(blocks, traits, feet_x - x0, feet_y + 2 - y0, feet_z - z0)
        return WALL if over & SOLID else UP
    i, k = floor(x) - x0, floor(z) - z0
    for depth in range(deepest + 1):
        under = _at(blocks, traits, i, feet_y - 1 - depth - y0, k)
        if under & RISKY:
            return RISK
        if under & SOLID:
            return LEVEL
    return LEDGE


@_compiled(_REAL(_BLOCKS, _TRAITS, *_ORIGIN, *_ORIGIN, *_POINT, _REAL, _REAL, _REAL, _REAL, _REAL, _WHOLE))
def level_run(
    blocks: Blocks,
    traits: Traits,
    x0: int,
    y0: int,
    z0: int,
    feet_x: int,
    feet_y: int,
    feet_z: int,
    x: float,
    y: float,
    z: float,
    ux: float,
    uz: float,
    look: float,
    limit: float,
    half: float,
    deepest: int,
) -> float:
    """How far one may go from (x, y, z) in direction (ux, uz) on level ground, in steps of `look`; at least
    one, and no more once `limit` is reached."""
    length = look
    while length < limit:
        further_x, further_z = x + ux * length, z + uz * length
        met = ground(
            blocks,
            traits,
            x0,
            y0,
            z0,
            feet_x,
            feet_y,
            feet_z,
            further_x + ux * look,
            further_z + uz * look,
            half,
            deepest,
        )
        under = _at(blocks, traits, floor(further_x) - x0, floor(y) - 1 - y0, floor(further_z) - z0)
        if met != LEVEL or under & RISKY or not under & SOLID:
            break
        length += look
    return length
