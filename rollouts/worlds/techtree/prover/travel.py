"""Going: the cheapest way over the voxels, and the inputs that follow it cell by cell."""

import math
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.executors.geometry import Cell, Point, flat_distance, yaw_to
from rollouts.protocols import Action
from rollouts.worlds.techtree.catalogue import Catalogue
from rollouts.worlds.techtree.prover.course import Course
from rollouts.worlds.techtree.prover.way_kernel import HOT, NEVER, OPEN, WALL, WET, find_way
from rollouts.worlds.techtree.state import LAVA, SOLID, WATER

WEIGHT: Final = 2.0
"""how much more the rest of a way counts than what is behind: ways are found sooner, and are a bit longer"""
LIMIT: Final = 400_000
"""nodes that a search may visit"""
_PILES: Final = ("cobblestone", "dirt", "andesite", "diorite", "granite")
"""what is climbed on: what digging leaves in plenty"""
_PACE: Final = 0.2158  # blocks per tick on level ground
_GLIDE: Final = 0.26  # blocks that a body still goes after the key is let go
_TRIES: Final = 80
"""moves to get from one cell into the next"""


class Terms(NamedTuple):
    """What blocks are to a way, by number."""

    kind: npt.NDArray[np.uint8]
    loose: npt.NDArray[np.uint8]
    kept: npt.NDArray[np.bool_]
    """blocks that no way leads through: stations, and what a task may need"""


@cache
def terms(known: Catalogue) -> Terms:
    """The terms of a domain's blocks."""
    traits = known.traits
    kind = np.where(traits & SOLID, WALL, OPEN).astype(np.uint8)
    kind[(traits & WATER) != 0] = WET
    kind[(traits & LAVA) != 0] = HOT
    kind[known.block["fire"]] = HOT
    loose = np.isin(known.palette, known.parameters["falling"]["blocks"]).astype(np.uint8)
    kept = np.isin(known.palette, [*known.domain.stations, known.parameters["wash"]["station"]])
    return Terms(kind, loose, kept)


def go(course: Course, goals: Iterable[Cell], aims: Iterable[Cell]) -> bool:
    """Goes to the cheapest of the cells `goals`; `aims` are what they are around, which guides the search.

    False where no way was found, or the world did not give way as it should; the body is then wherever it
    got to.
    """
    way = find(course, goals, aims)
    return way is not None and follow(course, way)


def find(course: Course, goals: Iterable[Cell], aims: Iterable[Cell]) -> list[Cell] | None:
    """The way from here to one of `goals`, this cell first; None where there is none."""
    play = course.play
    goal = np.zeros(play.blocks.shape, np.uint8)
    for cell in goals:
        if play.inside(cell):
            goal[cell] = 1
    table = terms(play.catalogue)
    way = find_way(
        play.blocks,
        table.kind,
        _digging(course, table),
        table.loose,
        goal,
        np.asarray(sorted(aims), np.int64).reshape(-1, 3),
        np.asarray(course.feet, np.int64),
        sum(course.held(item) for item in _PILES),
        WEIGHT,
        LIMIT,
    )
    return [Cell(int(x), int(y), int(z)) for x, y, z in way] if len(way) else None


def _digging(course: Course, table: Terms) -> npt.NDArray[np.float32]:
    """Ticks to break each block, by number, with the best of what is held."""
    known = course.play.catalogue
    tools = [tool for tool in sorted(course.play.domain.tools) if course.held(tool)]
    speed = np.max([known.speed(tool) for tool in (None, *tools)], axis=0)
    with np.errstate(divide="ignore"):
        ticks = np.ceil(1.0 / speed) + np.where(speed >= 1, 0, course.play.parameters["rules"]["mine_wait"])
    ticks[(speed <= 0) | table.kept] = NEVER
    costs: npt.NDArray[np.float32] = np.minimum(ticks, NEVER).astype(np.float32)
    return costs


def follow(course: Course, way: list[Cell]) -> bool:
    """Goes along a way, digging and piling up as it asks; False where it could not go on."""
    here = 0
    while here < len(way) - 1:
        last = _straight_run(course, way, here)
        if last > here + 1:
            if not walk_into(course, way[last], settle=True):
                return False
            here = last
            continue
        if not _advance(course, way[here], way[here + 1]):
            return False
        here += 1
    return True


def _straight_run(course: Course, way: list[Cell], here: int) -> int:
    """The last cell of `way` that can be walked to in a line from `here` without a change of height."""
    first = way[here]
    if not _free(course, first) or _is_wet(course, first):
        return here + 1
    at = here + 1
    turn = (way[at].x - first.x, way[at].z - first.z)
    while at < len(way):
        step = (way[at].x - way[at - 1].x, way[at].z - way[at - 1].z)
        if way[at].y != first.y or step != turn or not _free(course, way[at]) or _is_wet(course, way[at]):
            break
        at += 1
    return at - 1


def _free(course: Course, cell: Cell) -> bool:
    """The body fits in, with ground under it."""
    play = course.play
    return not (play.traits(cell) | play.traits(cell.up())) & SOLID and bool(play.traits(cell.up(-1)) & SOLID)


def _is_wet(course: Course, cell: Cell) -> bool:
    return bool(course.play.traits(cell) & WATER)


def _advance(course: Course, start: Cell, goal: Cell) -> bool:
    """From one cell of a way into the next."""
    upright = (start.x, start.z) == (goal.x, goal.z)
    rises = goal.y > start.y
    if upright and rises:
        return _swim_up(course, goal) if _is_wet(course, start) else _pile_up(course, start)
    if upright:
        clear = [start.up(-n) for n in range(1, start.y - goal.y + 1)]
    elif rises:
        clear = [start.up(2), goal.up(), goal]
    else:
        front = Cell(goal.x, start.y, goal.z)
        clear = [front.up(1 - n) for n in range(start.y - goal.y + 2)]
    solid = [cell for cell in clear if course.play.traits(cell) & SOLID]
    if solid and not _is_wet(course, start) and not centre(course, start):
        return False
    if not all(course.dig(cell) for cell in solid):
        return False
    if not upright and not rises and start.y - goal.y > 1 and not centre(course, start):
        return False
    return walk_into(course, goal)


def centre(course: Course, cell: Cell) -> bool:
    """Comes to stand in the middle of a cell that the body is in, so near that it fits into a shaft."""
    middle = cell.centre()
    for _ in range(_TRIES):
        gap = flat_distance(course.place, middle)
        body = course.play.body
        still = abs(float(body["vx"])) + abs(float(body["vz"])) < 0.02
        if gap < 0.12 and still and course.grounded:
            return course.feet == cell
        if gap < 0.1 or not course.grounded:
            course.do(Action(), 1)
        else:
            slow = gap < 0.6
            course.do(Action(forward=1, sneak=slow, yaw=yaw_to(course.place, middle)), 1 if slow else 2)
    return False


def walk_into(course: Course, cell: Cell, *, settle: bool = False) -> bool:
    """Walks, jumps, drops or swims into a cell that is beside this one, or straight ahead on level ground."""
    middle = cell.centre()
    for _ in range(_TRIES):
        place = course.place
        gap = flat_distance(place, middle)
        wet = bool(course.play.traits(course.feet) & WATER)
        if _arrived(course, cell, gap, wet):
            if settle:
                course.do(Action(), 2)
            return True
        rises = place.y < cell.y - 0.01
        jump = rises or wet
        if gap < 0.15 and not jump:
            course.do(Action(), 1)
            continue
        ticks = 1 if jump or gap < 1 else max(1, math.floor((gap - _GLIDE) / _PACE))
        course.do(Action(forward=int(gap >= 0.1), jump=jump, yaw=yaw_to(place, middle)), ticks)
    return False


def _arrived(course: Course, cell: Cell, gap: float, wet: bool) -> bool:
    if _is_wet(course, cell):
        return gap <= 0.4 and abs(course.place.y - cell.y) < 1.2
    return gap <= 0.3 and course.feet == cell and (course.grounded or wet)


def _swim_up(course: Course, goal: Cell) -> bool:
    for _ in range(_TRIES):
        if course.place.y >= goal.y:
            return True
        course.do(Action(jump=True), 1)
    return False


def _pile_up(course: Course, start: Cell) -> bool:
    """Jumps and puts a block under the feet."""
    top = start.up(2)
    if not centre(course, start) or (course.play.traits(top) & SOLID and not course.dig(top)):
        return False
    item = next((each for each in _PILES if course.held(each)), None)
    if item is None:
        return False
    if course.play.traits(start) and not course.dig(start):
        return False
    course.do(Action(pitch=90.0))
    for _ in range(3):
        while course.grounded:
            course.do(Action(jump=True, pitch=90.0))
        for _ in range(12):
            if course.place.y >= start.y + 1.0:
                course.do(Action(place=item, pitch=90.0))
                break
            course.do(Action(jump=True, pitch=90.0))
            if course.grounded:
                break
        while not course.grounded:
            course.do(Action())
        if course.feet == start.up():
            return True
    return False


def around(cell: Cell) -> list[Cell]:
    """The cells to stand in from which a block can be worked on with nothing in between: it is then beside
    the feet or the head, over the head, or under the feet."""
    beside = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    level = [Cell(cell.x + dx, cell.y - dy, cell.z + dz) for dx, dz in beside for dy in (0, 1)]
    return [*level, cell.up(-2), cell.up()]


def near(point: Point, side: float, below: float, above: float) -> list[Cell]:
    """The cells whose middle of the floor has a point within `side` to each side, at most `below` under it
    and `above` over it."""
    x, y, z = point.cell()
    reach = math.ceil(side) + 1
    cells = []
    for i in range(x - reach, x + reach + 1):
        for k in range(z - reach, z + reach + 1):
            if max(abs(i + 0.5 - point.x), abs(k + 0.5 - point.z)) > side:
                continue
            cells += [
                Cell(i, j, k)
                for j in range(y - math.ceil(above) - 1, y + math.ceil(below) + 2)
                if -below <= point.y - j <= above
            ]
    return cells
