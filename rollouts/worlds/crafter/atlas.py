"""What the executor remembers of a world, and the ways through it."""

import heapq
from collections.abc import Collection
from typing import Final

import numpy as np
import numpy.typing as npt

from rollouts.protocols import Observation, Seen, Window

Cell = tuple[int, int]
"""east, south"""
SIDES: Final[tuple[Cell, ...]] = ((0, 1), (-1, 0), (0, -1), (1, 0))
WALKABLE: Final = frozenset({"grass", "path", "sand"})
DUG_AWAY: Final = frozenset({"tree", "stone", "coal", "iron", "diamond"})
"""what gives way to a stroke with a fit tool, and can be walked over then"""
_SIZE: Final = 64
"""cells that a world is wide and high"""
_STEP, _DIG, _CROWD = 1.0, 2.5, 6.0
"""cost of entering a cell that is free, that is dug first, that somebody stands in"""


def beside(cell: Cell) -> tuple[Cell, ...]:
    """The four cells next to one."""
    return tuple((cell[0] + east, cell[1] + south) for east, south in SIDES)


class Atlas:
    """The cells that were seen in this episode, and who was seen last."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._cells = np.zeros((_SIZE, _SIZE), np.uint8)
        self._window: Window | None = None
        self.crowd: dict[Cell, str] = {}
        """who stands where, of those in view"""
        self.met: dict[str, Cell] = {}
        """creature -> where one was last seen"""

    def look(self, observation: Observation) -> None:
        """Takes in what is in view now."""
        window = observation.window
        assert window is not None
        self._names = window.palette
        left, _, top = window.origin
        if self._window is None or window.blocks is not self._window.blocks:
            wide, _, high = window.blocks.shape
            west, north = max(left, 0), max(top, 0)
            east, south = min(left + wide, _SIZE), min(top + high, _SIZE)
            seen = window.blocks[west - left : east - left, 0, north - top : south - top]
            self._cells[west:east, north:south] = seen
        self._window = window
        self.crowd = {_cell_of(each): each.name for each in window.entities}
        for name, cell in list(self.met.items()):
            # Whoever is no longer where he was is looked for elsewhere.
            if self._in_view(cell) and self.crowd.get(cell) != name:
                del self.met[name]
        self.met.update({name: cell for cell, name in self.crowd.items()})

    def _in_view(self, cell: Cell) -> bool:
        assert self._window is not None
        left, _, top = self._window.origin
        wide, _, high = self._window.blocks.shape
        return bool(left <= cell[0] < left + wide and top <= cell[1] < top + high)

    def material(self, cell: Cell) -> str:
        """What a cell is made of, "unknown" where it was never seen or lies beyond the edge."""
        inside = 0 <= cell[0] < _SIZE and 0 <= cell[1] < _SIZE
        return self._names[self._cells[cell]] if inside and self._names else "unknown"

    def all_of(self, names: Collection[str]) -> list[Cell]:
        """Every known cell of these materials."""
        found = np.argwhere(self._mask(names)).tolist()
        return [(int(east), int(south)) for east, south in found]

    def is_free(self, cell: Cell) -> bool:
        """Whether one can step there now."""
        return self.material(cell) in WALKABLE and cell not in self.crowd

    def frontier(self) -> set[Cell]:
        """Known cells beside unknown ones within the world."""
        unknown = self._cells == 0
        near = np.zeros_like(unknown)
        near[1:] |= unknown[:-1]
        near[:-1] |= unknown[1:]
        near[:, 1:] |= unknown[:, :-1]
        near[:, :-1] |= unknown[:, 1:]
        return {(int(east), int(south)) for east, south in np.argwhere(near & ~unknown).tolist()}

    def burrows(self, breaks: Collection[str]) -> dict[Cell, Cell]:
        """Where one can shut oneself in: door -> the side on which two cells in a row lie behind it, both
        open or to be dug, with something solid on every other side of them."""
        entered = self._mask(WALKABLE | (DUG_AWAY & set(breaks)))
        solid = ~self._mask(WALKABLE | {"lava", "unknown"}) & (self._cells > 0)
        found: dict[Cell, Cell] = {}
        for east, south in SIDES:
            inner, outer = (_moved(entered, east * n, south * n) for n in (1, 2))
            walls = [
                _moved(solid, east * n + south * side, south * n + east * side)
                for n in (1, 2)
                for side in (-1, 1)
            ]
            shut = entered & inner & outer & np.logical_and.reduce(walls)
            shut &= _moved(solid, east * 3, south * 3)
            found |= {(int(x), int(z)): (east, south) for x, z in np.argwhere(shut).tolist()}
        return found

    def way(self, start: Cell, goals: Collection[Cell], breaks: Collection[str] = ()) -> list[Cell] | None:
        """The cells to walk through to the nearest of `goals`, the first step first; empty where one is
        there, None where no way is known. `breaks` are the materials that can be dug through."""
        if start in goals:
            return []
        cost = self._costs(breaks)
        best: dict[Cell, float] = {start: 0.0}
        came: dict[Cell, Cell] = {}
        queue = [(0.0, start)]
        while queue:
            far, cell = heapq.heappop(queue)
            if cell in goals:
                return _traced(came, start, cell)
            if far > best[cell]:
                continue
            for other in beside(cell):
                step = cost.get(other)
                if step is None:
                    continue
                if other in self.crowd:
                    step += _CROWD
                if far + step < best.get(other, np.inf):
                    best[other] = far + step
                    came[other] = cell
                    heapq.heappush(queue, (far + step, other))
        return None

    def _costs(self, breaks: Collection[str]) -> dict[Cell, float]:
        costs = dict.fromkeys(self.all_of(DUG_AWAY & set(breaks)), _DIG)
        return costs | dict.fromkeys(self.all_of(WALKABLE), _STEP)

    def _mask(self, names: Collection[str]) -> npt.NDArray[np.bool_]:
        numbers = [number for number, name in enumerate(self._names) if name in names]
        return np.isin(self._cells, numbers)


def _moved(mask: npt.NDArray[np.bool_], east: int, south: int) -> npt.NDArray[np.bool_]:
    """What `mask` says of the cell so far to the east and south of each; False beyond the edge."""
    wide = np.zeros((_SIZE + 6, _SIZE + 6), np.bool_)
    wide[3:-3, 3:-3] = mask
    return wide[3 + east : 3 + east + _SIZE, 3 + south : 3 + south + _SIZE]


def _traced(came: dict[Cell, Cell], start: Cell, goal: Cell) -> list[Cell]:
    cells = [goal]
    while came[cells[-1]] != start:
        cells.append(came[cells[-1]])
    return cells[::-1]


def _cell_of(seen: Seen) -> Cell:
    return int(np.floor(seen.x)), int(np.floor(seen.z))
