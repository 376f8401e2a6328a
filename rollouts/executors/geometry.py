"""Cells, directions and lines of sight. Blocks are unit cubes at integer corners, y upwards; angles are
degrees as in the game (yaw 0 looks to +z, 90 to -x; pitch 90 looks down)."""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

EYE_HEIGHT: Final = 1.62
"""blocks from the feet to the eyes"""
REACH: Final = 4.4
"""blocks from the eyes at which a block can be worked on; a little less than the game's 4.5"""


class Cell(NamedTuple):
    """The integer corner of a block."""

    x: int
    y: int
    z: int

    def up(self, by: int = 1) -> "Cell":
        return Cell(self.x, self.y + by, self.z)

    def towards(self, heading: float, by: int = 1) -> "Cell":
        """The cell `by` cells along the compass direction (of four) that is nearest to `heading`."""
        dx, dz = compass(heading)
        return Cell(self.x + by * dx, self.y, self.z + by * dz)

    def centre(self) -> "Point":
        return Point(self.x + 0.5, self.y + 0.5, self.z + 0.5)

    def neighbours(self) -> tuple["Cell", ...]:
        """The six cells that share a face."""
        x, y, z = self
        sides = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
        return tuple(Cell(x + dx, y + dy, z + dz) for dx, dy, dz in sides)


class Point(NamedTuple):
    """A place, in blocks."""

    x: float
    y: float
    z: float

    def cell(self) -> Cell:
        return Cell(math.floor(self.x), math.floor(self.y), math.floor(self.z))


class Look(NamedTuple):
    """A direction to look in, degrees."""

    yaw: float
    pitch: float


def unit(yaw: float) -> tuple[float, float]:
    """The horizontal direction (x, z) of a yaw, of length 1."""
    angle = math.radians(yaw)
    return -math.sin(angle), math.cos(angle)


def compass(yaw: float) -> tuple[int, int]:
    """The direction (x, z) of the nearest of the four main yaws."""
    quarter = round(yaw / 90.0) % 4
    return ((0, 1), (-1, 0), (0, -1), (1, 0))[quarter]


def straight(yaw: float) -> float:
    """The nearest of the four main yaws, 0 to 270."""
    return 90.0 * (round(yaw / 90.0) % 4)


def wrapped(yaw: float) -> float:
    """The same direction in [-180, 180)."""
    return (yaw + 180.0) % 360.0 - 180.0


def yaw_to(start: Point, goal: Point) -> float:
    """The yaw that looks from `start` to `goal`, in (-180, 180]; 0 when one is right above the other."""
    dx, dz = goal.x - start.x, goal.z - start.z
    return math.degrees(math.atan2(-dx, dz)) if dx or dz else 0.0


def look_at(eye: Point, goal: Point) -> Look:
    """Where eyes at `eye` look to see `goal`."""
    flat = math.hypot(goal.x - eye.x, goal.z - eye.z)
    return Look(yaw_to(eye, goal), math.degrees(math.atan2(eye.y - goal.y, flat)))


def distance(start: Point, goal: Point) -> float:
    """Blocks, through the air."""
    return math.dist(start, goal)


def flat_distance(start: Point, goal: Point) -> float:
    """Blocks over the ground, heights left out."""
    return math.hypot(goal.x - start.x, goal.z - start.z)


def cells_between(start: Point, end: Point) -> Iterator[Cell]:
    """The cells that a line from `start` to `end` goes through, in order, both ends included."""
    cell, last = list(start.cell()), end.cell()
    steps, nexts, widths = [], [], []
    for at, to, corner in zip(start, end, cell, strict=True):
        way = to - at
        steps.append((way > 0) - (way < 0))
        widths.append(abs(1.0 / way) if way else math.inf)
        gap = (corner + 1 - at) if way > 0 else (at - corner)
        nexts.append(gap * widths[-1] if way else math.inf)
    yield Cell(*cell)
    while tuple(cell) != last:
        axis = nexts.index(min(nexts))
        if nexts[axis] > 1.0:
            # Rounding at a corner can miss the last cell; the line itself has ended.
            return
        cell[axis] += steps[axis]
        nexts[axis] += widths[axis]
        yield Cell(*cell)
