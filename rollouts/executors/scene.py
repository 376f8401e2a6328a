"""One observation, read: what is where in the window, what can be stood on, seen and reached."""

import math
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Final

import numpy as np

from rollouts.executors.geometry import EYE_HEIGHT, REACH, Cell, Look, Point, distance, look_at
from rollouts.executors.terrain import UNKNOWN, Palette, Terrain
from rollouts.protocols import Observation, Seen
from rollouts.window_kernel import WALL, find_cells, first_solid, ground, level_run, nearest_places

# Where on a block one may aim: its middle, then its faces a little inside, the top first.
_AIMS: Final = (
    (0.5, 0.5, 0.5),
    (0.5, 0.95, 0.5),
    (0.05, 0.5, 0.5),
    (0.95, 0.5, 0.5),
    (0.5, 0.5, 0.05),
    (0.5, 0.5, 0.95),
    (0.5, 0.05, 0.5),
)

_HALF_DIAGONAL: Final = 0.87
_PLACES: Final = np.empty((4096, 3), np.int64)
"""what `find_cells` writes to: more places than the usual window has cells"""
_ASKED: Final = 16
"""cells that are made at a time: mostly the nearest few are looked at"""


class Scene:
    """What an observation shows. Cells outside the window are unknown, and the unknown counts as solid."""

    def __init__(self, observation: Observation, terrain: Terrain) -> None:
        self.observation = observation
        self._terrain = terrain
        window = observation.window
        self._window = window
        if window is not None:
            self._blocks = window.blocks
            self._origin = window.origin
            self._shape = window.blocks.shape
            self._palette = window.palette
        x, y, z = observation.x, observation.y, observation.z
        self.place = Point(x, y, z)
        """the middle of the soles"""
        self.eye = Point(x, y + EYE_HEIGHT, z)
        self.feet = Cell(math.floor(x), math.floor(y + 0.1), math.floor(z))
        """the cell that the feet are in; standing a hair below a block's top counts as on it"""

    @property
    def airborne(self) -> bool:
        """The soles are at no block's top, nor in a liquid: a jump or a fall is under way."""
        return 0.02 < self.place.y % 1.0 < 0.98 and not self.is_risky(self.feet)

    @property
    def entities(self) -> tuple[Seen, ...]:
        return self._window.entities if self._window is not None else ()

    def name(self, cell: Cell) -> str:
        """The block there, or "unknown"."""
        index = self._index(cell)
        return UNKNOWN if index < 0 else self._palette[index]

    def _index(self, cell: Cell) -> int:
        """The palette's index of the block there; -1 outside the window."""
        if self._window is None:
            return -1
        i, j, k = cell[0] - self._origin[0], cell[1] - self._origin[1], cell[2] - self._origin[2]
        if not (0 <= i < self._shape[0] and 0 <= j < self._shape[1] and 0 <= k < self._shape[2]):
            return -1
        return self._blocks.item(i, j, k)

    @cached_property
    def _known(self) -> Palette:
        return self._terrain.palette(self._palette)

    def names(self) -> list[str]:
        """The blocks in the window, the commonest first."""
        if self._window is None:
            return []
        counts = np.bincount(self._blocks.reshape(-1), minlength=len(self._palette))
        order = np.argsort(-counts, kind="stable")
        return [self._palette[int(index)] for index in order if counts[index]]

    def covers(self, cell: Cell) -> bool:
        """The window says what is there."""
        index = self._index(cell)
        return index >= 0 and index != self._known.unknown

    def is_open(self, cell: Cell) -> bool:
        return not self.is_solid(cell)

    def is_risky(self, cell: Cell) -> bool:
        index = self._index(cell)
        return index >= 0 and self._known.risky[index]

    def is_solid(self, cell: Cell) -> bool:
        index = self._index(cell)
        return index < 0 or self._known.solid[index]

    def can_stand(self, cell: Cell) -> bool:
        """Feet in `cell`, head above it, something under it, and none of these a risk."""
        return (
            self.is_solid(cell.up(-1))
            and all(self.is_open(part) and not self.is_risky(part) for part in (cell, cell.up()))
            and self.covers(cell.up(-1))
        )

    def drop(self, cell: Cell, limit: int) -> int:
        """How many open cells lie under `cell`, at most `limit`; a risk on the way counts as bottomless."""
        for depth in range(limit):
            under = cell.up(-1 - depth)
            if self.is_risky(under):
                return limit
            if self.is_solid(under):
                return depth
        return limit

    def where(self, names: Collection[str]) -> Iterator[Cell]:
        """The cells in the window that hold any of `names`, nearest to the eyes first."""
        if self._window is None:
            return
        wanted = self._terrain.members(self._palette, frozenset(names))
        if wanted is None:
            return
        count = find_cells(self._blocks, wanted, _PLACES)
        if not count:
            return
        found = _PLACES[:count] if count <= len(_PLACES) else np.argwhere(wanted[self._blocks])
        cells = found + np.asarray(self._origin)
        gaps = ((cells + 0.5 - np.asarray(self.eye)) ** 2).sum(axis=1)
        # The cell itself breaks ties, so that equally near ones come in the same order everywhere.
        order = np.lexsort((cells[:, 1], cells[:, 2], cells[:, 0], gaps.round(6)))
        for start in range(0, len(order), _ASKED):
            for x, y, z in cells[order[start : start + _ASKED]].tolist():
                yield Cell(x, y, z)

    def nearest_of_each(self) -> dict[str, Cell]:
        """Every block name in the window, air and the unknown left out, with its nearest cell."""
        if self._window is None:
            return {}
        places = np.empty((len(self._palette), 3), np.int64)
        nearest_places(self._blocks, np.empty(len(self._palette)), places)
        present = np.flatnonzero(places[:, 0] >= 0)
        found = {}
        x, y, z = self._origin
        for index, (i, j, k) in zip(present.tolist(), places[present].tolist(), strict=True):
            name = self._palette[index]
            if name != UNKNOWN and not self._terrain.is_air(name):
                found[name] = Cell(i + x, j + y, k + z)
        return found

    def aim(self, cell: Cell) -> Look | None:
        """Where to look to work on the block at `cell`; None when it is out of reach or hidden."""
        if distance(self.eye, cell.centre()) > REACH + _HALF_DIAGONAL:
            return None
        for part in _AIMS:
            point = Point(cell.x + part[0], cell.y + part[1], cell.z + part[2])
            if distance(self.eye, point) <= REACH and self._first_solid(point) in (cell, None):
                return look_at(self.eye, point)
        return None

    def sees(self, point: Point) -> bool:
        """Nothing solid lies between the eyes and a point."""
        return self._first_solid(point) is None

    def ground(self, x: float, z: float, half: float, deepest: int) -> int:
        """What the body meets on its way from the cell of its feet to (x, z), as the kernel's numbers."""
        if self._window is None:
            return WALL
        return ground(self._blocks, self._known.traits, *self._origin, *self.feet, x, z, half, deepest)

    def level_run(
        self, direction: tuple[float, float], look: float, limit: float, half: float, deepest: int
    ) -> float:
        """Blocks that one may go on level ground in a direction, in steps of `look`, at least one."""
        if self._window is None:
            return look
        return level_run(
            self._blocks,
            self._known.traits,
            *self._origin,
            *self.feet,
            *self.place,
            *direction,
            look,
            limit,
            half,
            deepest,
        )

    def _first_solid(self, point: Point) -> Cell | None:
        if self._window is None:
            return self.eye.cell()
        found, x, y, z = first_solid(self._blocks, self._known.traits, *self._origin, *self.eye, *point)
        return Cell(x, y, z) if found else None


def ticks_for(blocks: float, speed: float) -> int:
    """Ticks to go so far at `speed` blocks per tick, at least 1."""
    return max(1, math.ceil(blocks / speed))
