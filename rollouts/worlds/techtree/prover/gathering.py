"""Getting things out of the world: breaking blocks, killing creatures, picking up what lies about."""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from rollouts.executors.geometry import Cell, Look, Point, distance, flat_distance, look_at
from rollouts.protocols import Action
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.prover.course import Course
from rollouts.worlds.techtree.prover.travel import around, centre, find, follow, go, near
from rollouts.worlds.techtree.state import LAVA, SOLID, WATER

NEAREST: Final = 16
"""blocks of a kind that a search may end at"""
_SIDES: Final = (6, 16, 40, 128)
"""blocks to each side that are looked through, until there are so many"""
REACH: Final = 4.3
_PICK_SIDE, _PICK_BELOW, _PICK_ABOVE = 1.1, 0.6, 2.0
_LYING: Final = 24.0
"""blocks within which what lies about is fetched"""
_GIVE_UP: Final = 12
"""targets in a row that could not be got"""
_BLOW: Final = 2.2
"""blocks, flat, from which a creature is struck"""
_CLOSE: Final = 0.9
"""and from which it is where something hides it"""


class StuckError(Exception):
    """A step could not be carried out; the text says what stopped it."""


def mine(course: Course, blocks: Iterable[str], item: str, count: int) -> None:
    """Breaks blocks of these kinds until `count` more of `item` are held; `StuckError` where that fails."""
    names = sorted(blocks)
    wanted = course.held(item) + count
    avoided: set[Cell] = set()
    failed = 0
    while course.held(item) < wanted:
        lying = [thing for thing in _lying(course, item) if thing.cell() not in avoided]
        enough = bool(lying) and course.held(item) + len(lying) >= wanted
        here = None if enough else _in_reach(course, names, avoided)
        if here is not None:
            done = course.dig(here)
        elif lying:
            # What lies out of reach may fall when more is broken; it is tried again in its new place.
            here, done = lying[0].cell(), _fetch(course, lying[0])
        else:
            targets = nearest_blocks(course.play, names, course.place, avoided)
            if not targets:
                raise StuckError(f"no {names[0]} is left that can be got at")
            way = find(course, (cell for each in targets for cell in around(each)), targets)
            if way is None:
                raise StuckError(f"there is no way to any {names[0]}")
            done = follow(course, way)
            here = min(targets, key=lambda cell: (distance(way[-1].centre(), cell.centre()), cell))
            done = done and course.dig(here)
        failed = 0 if done else failed + 1
        if not done and here is not None:
            avoided.add(here)
            course.rest(5)
        if failed >= _GIVE_UP:
            raise StuckError(f"{failed} times in a row no {names[0]} could be got at")


def _in_reach(course: Course, names: list[str], avoided: set[Cell]) -> Cell | None:
    """The nearest of the blocks that can be seen and reached from here and that nobody stands on."""
    play, eye = course.play, course.eye
    wanted = np.zeros(len(play.catalogue.palette), np.bool_)
    wanted[[play.catalogue.block[name] for name in names]] = True
    found = _within(play, wanted, eye, math.ceil(REACH))
    away = np.sqrt(((found + 0.5 - np.asarray(eye)) ** 2).sum(axis=1))
    close = away <= REACH + 0.9
    for cell in _sorted(found[close], away[close], len(found)):
        if cell not in avoided and not _carries(course, cell) and course.aim(cell) is not None:
            return cell
    return None


def _carries(course: Course, cell: Cell) -> bool:
    """Whether the body stands on a block, over something worse."""
    place = course.place
    under = (
        max(abs(place.x - cell.x - 0.5), abs(place.z - cell.z - 0.5)) < 0.8 and cell.y == course.feet.y - 1
    )
    return under and not course.play.traits(cell.up(-1)) & SOLID


def nearest_blocks(play: Play, names: Iterable[str], place: Point, avoided: set[Cell]) -> list[Cell]:
    """The nearest blocks of these kinds, `NEAREST` at most. Going down is easier than going on, and counts
    half."""
    wanted = np.zeros(len(play.catalogue.palette), np.bool_)
    wanted[[play.catalogue.block[name] for name in names]] = True
    found = np.empty((0, 3), np.int64)
    for side in _SIDES:
        found = _within(play, wanted, place, side)
        if len(found) >= NEAREST + len(avoided):
            break
    gaps = np.abs(found + 0.5 - np.asarray(place)) * (1.0, 0.5, 1.0)
    return [cell for cell in _sorted(found, gaps.sum(axis=1), NEAREST + len(avoided)) if cell not in avoided]


def _within(play: Play, wanted: npt.NDArray[np.bool_], place: Point, side: int) -> npt.NDArray[np.int64]:
    """The cells within `side` of a place, each way, whose blocks are wanted."""
    x, y, z = place.cell()
    low = (max(0, x - side), max(0, y - side), max(0, z - side))
    part = play.blocks[low[0] : x + side + 1, low[1] : y + side + 1, low[2] : z + side + 1]
    return np.argwhere(wanted[part]) + low


def _sorted(found: npt.NDArray[np.int64], away: npt.NDArray[np.float64], most: int) -> list[Cell]:
    order = np.lexsort((found[:, 2], found[:, 1], found[:, 0], away.round(6)))
    return [Cell(int(x), int(y), int(z)) for x, y, z in found[order[:most]]]


def _lying(course: Course, item: str) -> list[Point]:
    """Where `item` lies about, the nearest first; not what is in lava."""
    things = course.play.state.items
    number = course.play.catalogue.item[item]
    points = [
        Point(float(row["x"]), float(row["y"]), float(row["z"]))
        for row in things[(things["count"] > 0) & (things["item"] == number) & (things["refused"] == 0)]
    ]
    here = course.place
    close = [point for point in points if distance(here, point) <= _LYING]
    return sorted(close, key=lambda point: (distance(here, point), point))


def _fetch(course: Course, thing: Point) -> bool:
    """Goes to where a thing lies and waits until it may be picked up."""
    cells = near(thing, _PICK_SIDE, _PICK_BELOW, _PICK_ABOVE)
    if course.feet not in cells and not go(course, cells, [thing.cell()]):
        return False
    before = dict(course.play.pack.counts)
    if flat_distance(course.place, thing) > _PICK_SIDE:
        centre(course, course.feet)
    for _ in range(6):
        if dict(course.play.pack.counts) != before:
            return True
        course.do(Action(), 4)
    return dict(course.play.pack.counts) != before


def kill(course: Course, creature: str, item: str, count: int) -> None:
    """Kills creatures of a kind until `count` more of `item` are held; `StuckError` when none are left."""
    wanted = course.held(item) + count
    failed = 0
    while course.held(item) < wanted:
        lying = _lying(course, item)
        if lying and _fetch(course, lying[0]):
            continue
        row = nearest_creature(course, creature)
        if row is None:
            raise StuckError(f"no {creature} is left, {wanted - course.held(item)} {item} short")
        failed = 0 if _strike_down(course, row) else failed + 1
        if failed >= _GIVE_UP:
            raise StuckError(f"no {creature} can be got at")


def nearest_creature(course: Course, creature: str) -> int | None:
    """The row of the nearest living creature of a kind."""
    mobs = course.play.state.mobs
    kind = course.play.catalogue.creatures.index(creature)
    rows = [int(row) for row in np.flatnonzero(mobs["kind"] == kind)]
    here = course.place
    return min(rows, key=lambda row: (distance(here, spot(course, row)), row), default=None)


def spot(course: Course, row: int) -> Point:
    """Where a creature stands."""
    mob = course.play.state.mobs[row]
    return Point(float(mob["x"]), float(mob["y"]), float(mob["z"]))


def approach(course: Course, row: int) -> Look | None:
    """Goes to a creature and looks at it: where to look, None where it could not be come near."""
    for _ in range(30):
        at = _face(course, row)
        if at is not None:
            return at
        place = spot(course, row)
        if distance(course.eye, place) < REACH and course.unveil(Point(place.x, place.y + 0.7, place.z)):
            continue
        cells = near(place, _BLOW, 1.6, 1.6)
        if course.feet in cells:
            # Near enough, and yet something is in between.
            cells = near(place, _CLOSE, 1.6, 1.6)
            course.rest(2)
        way = find(course, cells, [place.cell()])
        if way is None:
            return None
        # It walks on meanwhile, so a long way is looked for anew half way.
        follow(course, way[: max(3, len(way) // 2 + 1)])
    return None


def _face(course: Course, row: int) -> Look | None:
    place = spot(course, row)
    tall = float(course.play.catalogue.creature_table[int(course.play.state.mobs[row]["kind"])]["height"])
    for part in (0.5, 0.9, 0.1):
        at = look_at(course.eye, Point(place.x, place.y + part * tall, place.z))
        if course.faces_creature(at, row):
            return at
    return None


def _strike_down(course: Course, row: int) -> bool:
    """Goes after a creature and strikes it until it is dead."""
    mobs, known = course.play.state.mobs, course.play.catalogue
    weapons = [tool for tool in sorted(course.play.domain.tools) if course.held(tool)]
    weapon = max([None, *weapons], key=lambda tool: known.strike(tool).damage)
    started = course.tick
    while int(mobs[row]["kind"]) >= 0:
        at = approach(course, row)
        if at is None or course.tick - started > 1200:
            return False
        course.do(Action(attack=True, equip=weapon or "none", yaw=at.yaw, pitch=at.pitch))
        if int(mobs[row]["kind"]) >= 0:
            wait = max(int(course.play.body["attack_wait"]), int(mobs[row]["hurt"]))
            place = spot(course, row)
            run = flat_distance(course.place, place) > 1.2
            yaw = look_at(course.eye, place).yaw
            if wait:
                course.do(Action(forward=int(run and _level(course, place)), yaw=yaw), min(wait, 5))
    return True


def _level(course: Course, place: Point) -> bool:
    """Nothing to fall into or to burn in on the next steps towards a place."""
    here = course.place
    gap = max(flat_distance(here, place), 0.1)
    for step in (0.6, 1.2, 1.8):
        x, z = here.x + (place.x - here.x) / gap * step, here.z + (place.z - here.z) / gap * step
        cell = Point(x, here.y + 0.1, z).cell()
        if not course.play.inside(cell) or course.play.traits(cell.up(-1)) & (WATER | LAVA):
            return False
        if not (course.play.traits(cell.up(-1)) | course.play.traits(cell)) & SOLID:
            return False
    return True
