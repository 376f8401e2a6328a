"""Tables and furnaces: the one that stands near, or one that is put down and taken along again."""

from typing import Any, Final

import numpy as np

from rollouts.executors.geometry import Cell, distance
from rollouts.protocols import Action
from rollouts.worlds.techtree.furnaces import furnace_at
from rollouts.worlds.techtree.prover.course import Course
from rollouts.worlds.techtree.prover.gathering import StuckError
from rollouts.worlds.techtree.prover.travel import around, go
from rollouts.worlds.techtree.state import LAVA, SOLID

CLOSE: Final = 10
"""blocks from which it goes back to a station rather than make another"""


class Stations:
    """The stations of one course."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._names = (course.play.domain.crafting_station, course.play.domain.smelting_station)

    def close(self) -> frozenset[str]:
        """Those that stand close by."""
        return frozenset(name for name in self._names if self._nearest(name) is not None)

    def be_at(self, name: str) -> Cell:
        """Stands within reach of a station, puts one down where there is none; `StuckError` if that fails."""
        course = self._course
        cell = course.play.station(name)
        if cell is None:
            cell = self._go_back(name) or self._put_down(name)
        return Cell(*cell)

    def _go_back(self, name: str) -> tuple[int, int, int] | None:
        standing = self._nearest(name)
        if standing is None or not go(self._course, around(standing), [standing]):
            return None
        return self._course.play.station(name)

    def _put_down(self, name: str) -> tuple[int, int, int]:
        if not self._course.held(name):
            raise StuckError(f"no {name} is held")
        found = self._put_beside(name)
        # On a tree's top or on a pile there is nothing beside one to put it on.
        if found is None and go(self._course, self._level_places(), [self._course.feet]):
            found = self._put_beside(name)
        if found is None:
            raise StuckError(f"there is no place for a {name}")
        return found

    def _put_beside(self, name: str) -> tuple[int, int, int] | None:
        course = self._course
        feet = course.feet
        sides = [feet.up(up).towards(yaw) for up in (0, 1) for yaw in (0.0, 90.0, 180.0, 270.0)]
        free = [cell for cell in sides if not course.play.traits(cell) & (SOLID | LAVA)]
        for cell in [*free, *(cell for cell in sides if cell not in free)]:
            if (cell in free or course.dig(cell)) and course.put(name, cell):
                return course.play.station(name)
        return None

    def _level_places(self) -> list[Cell]:
        """Where one can stand close by, with an equal place to the east."""
        play, here = self._course.play, self._course.feet
        low = [max(1, at - CLOSE) for at in here]
        part = play.blocks[
            low[0] : here.x + CLOSE + 1, low[1] - 1 : here.y + CLOSE + 1, low[2] : here.z + CLOSE + 1
        ]
        solid = (play.catalogue.traits[part] & SOLID) != 0
        stands = solid[:, :-2] & ~solid[:, 1:-1] & ~solid[:, 2:]
        return [Cell(int(x), int(y), int(z)) for x, y, z in np.argwhere(stands[:-1] & stands[1:]) + low]

    def take_along(self, names: frozenset[str]) -> None:
        """Breaks those that stand close by and picks them up, where they will be needed again elsewhere."""
        course = self._course
        for name in sorted(names):
            cell = self._nearest(name)
            if cell is None or course.held(name):
                continue
            if course.aim(cell) is None and not go(course, around(cell), [cell]):
                continue
            before = course.held(name)
            course.dig(cell)
            for _ in range(4):
                if course.held(name) > before:
                    break
                course.do(Action(), 8)
            if course.held(name) == before:
                go(course, [cell], [cell])
                course.rest(12)

    def oven(self, cell: Cell) -> Any:
        """The inside of a furnace."""
        return furnace_at(self._course.play, cell)

    def _nearest(self, name: str) -> Cell | None:
        play = self._course.play
        here = self._course.feet
        low = [max(0, at - CLOSE) for at in here]
        part = play.blocks[
            low[0] : here.x + CLOSE + 1, low[1] : here.y + CLOSE + 1, low[2] : here.z + CLOSE + 1
        ]
        found = np.argwhere(part == play.catalogue.block[name]) + low
        cells = [Cell(int(x), int(y), int(z)) for x, y, z in found]
        return min(cells, key=lambda cell: (distance(here.centre(), cell.centre()), cell), default=None)
