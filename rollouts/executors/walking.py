"""Greedy walking: straight towards the goal, up single steps, a short look past an obstacle on either side,
and no plan of a way. What it cannot get past that way it stays at."""

from collections.abc import Callable
from enum import Enum
from typing import Final

from rollouts import window_kernel
from rollouts.executors.body import Body, Doing
from rollouts.executors.geometry import Cell, Point, flat_distance, straight, unit, wrapped, yaw_to
from rollouts.executors.scene import Scene, ticks_for
from rollouts.protocols import Action, Move

WALK_SPEED: Final = 0.2158
"""blocks per tick on level ground"""
DEEPEST_DROP: Final = 3
"""blocks that one may drop without harm"""
PATIENCE: Final = 160
"""ticks without coming nearer after which a walk counts as stuck"""
_FAR: Final = 6
"""cells that a single move may lead over"""
_LOOK: Final = 0.7
"""blocks ahead that are looked at for the next step; a step that is not known to be level goes no farther"""
HALF_WIDTH: Final = 0.3
"""half the width of the body, in blocks"""
_SKIRTS: Final = (4, 8)
"""cells to go to one side and then to the other when the straight way is blocked"""
_UNDER: Final = 0.35
"""blocks beside the goal, heights left out, at which one is below it"""
_PRESS: Final = 8
"""ticks of pushing at what is in the way"""
_HALT: Final = 4
"""ticks in which a walk that came up against something comes to rest"""


class Ground(Enum):
    """What the next step meets."""

    LEVEL = window_kernel.LEVEL
    UP = window_kernel.UP
    WALL = window_kernel.WALL
    LEDGE = window_kernel.LEDGE
    RISK = window_kernel.RISK


_GROUNDS: Final = tuple(Ground)


def ahead(scene: Scene, start: Point, yaw: float, by: float = _LOOK) -> Ground:
    """What the body meets that goes `by` blocks from `start` in direction `yaw`."""
    ux, uz = unit(yaw)
    met = scene.ground(start.x + ux * by, start.z + uz * by, HALF_WIDTH, DEEPEST_DROP)
    return _GROUNDS[met - 1]


def walk(
    body: Body,
    goal: Callable[[], Point | None],
    arrived: Callable[[], bool],
    patience: int = PATIENCE,
) -> Doing:
    """Walks towards `goal()` until `arrived()`; False when stuck or when there is no goal any more.

    `goal` is asked before every move, so that it may be a creature's place.
    """
    nearest, since, skirted = float("inf"), body.tick, 0
    while not arrived():
        target = goal()
        if target is None:
            return False
        scene = body.scene
        gap = flat_distance(scene.place, target)
        if gap < nearest - 0.5:
            nearest, since, skirted = gap, body.tick, 0
        if gap < _UNDER and scene.feet.y < target.y - 1.0:
            # Right below it: no step leads up there.
            body.memory.blocked_at, body.memory.blocked_goal = scene.place, target
            return False
        if body.tick - since >= patience:
            body.memory.blocked_at, body.memory.blocked_goal = scene.place, target
            return False
        yaw = yaw_to(scene.place, target)
        if scene.is_risky(scene.feet):
            yield swim(body, yaw)
            continue
        ground = ahead(scene, scene.place, yaw)
        if gap > 0.3 and ground in (Ground.LEVEL, Ground.UP):
            yield step(scene, yaw, gap)
        elif scene.airborne:
            # What lies ahead of a jump or a fall says little of what lies ahead of where it ends.
            yield Move(Action(yaw=yaw), 2)
        elif skirted < sum(_SKIRTS) and gap > 0.3:
            went = yield from _skirt(body, yaw, skirted)
            skirted = skirted + 1 if went else max(skirted + 1, _SKIRTS[0])
        else:
            yield from _push(body, yaw)
    body.memory.blocked_at = None
    return True


def step(scene: Scene, yaw: float, gap: float = float("inf")) -> Move:
    """Ahead in a direction: over as many level cells as are in view, or up one block."""
    if ahead(scene, scene.place, yaw) is Ground.UP:
        # Up a step one goes at right angles to it where one can, so as not to slide off beside it.
        square = straight(yaw)
        way = square if ahead(scene, scene.place, square) is Ground.UP else yaw
        return Move(Action(forward=1, jump=True, yaw=way), 6)
    length = scene.level_run(unit(yaw), _LOOK, min(gap, _FAR), HALF_WIDTH, DEEPEST_DROP)
    return Move(Action(forward=1, yaw=yaw), ticks_for(min(length, max(gap, 0.3)), WALK_SPEED))


def swim(body: Body, yaw: float) -> Move:
    """Keeps the head up and makes for the nearest place to stand; onwards where none is in view."""
    scene = body.scene
    shore = _nearest_footing(scene)
    return Move(Action(forward=1, jump=True, yaw=yaw_to(scene.place, shore) if shore else yaw), 5)


def _nearest_footing(scene: Scene) -> Point | None:
    feet = scene.feet
    best = None
    for dx in range(-6, 7):
        for dz in range(-6, 7):
            for dy in (0, 1):
                cell = Cell(feet.x + dx, feet.y + dy, feet.z + dz)
                far = dx * dx + dz * dz
                if (best is None or far < best[0]) and scene.can_stand(cell):
                    best = (far, cell.centre())
    return best[1] if best else None


def _skirt(body: Body, yaw: float, done: int) -> Doing:
    """One step to the side: first one side for some cells, then the other; False when that is closed too."""
    side = 1.0 if done < _SKIRTS[0] else -1.0
    for turn in (50.0, 90.0):
        way = wrapped(yaw + side * turn)
        scene = body.scene
        if ahead(scene, scene.place, way) in (Ground.LEVEL, Ground.UP):
            yield step(scene, way, 1.0)
            return True
    return False


def _push(body: Body, yaw: float) -> Doing:
    """Keeps trying where nothing gives way: straight against a wall, or to and fro before an edge."""
    scene = body.scene
    if ahead(scene, scene.place, yaw) not in (Ground.LEDGE, Ground.RISK):
        for way in (straight(yaw), straight(yaw + 45.0), straight(yaw - 45.0)):
            if ahead(scene, scene.place, way) is Ground.WALL:
                # What is left of the walk would carry a jump off sideways.
                yield Move(Action(forward=1, yaw=way), _HALT)
                yield Move(Action(forward=1, jump=True, yaw=way), _PRESS)
                return True
    if ahead(scene, scene.place, yaw + 180.0) is Ground.LEVEL:
        yield Move(Action(forward=-1, yaw=yaw), 5)
        yield Move(Action(forward=1, yaw=yaw), 3)
    else:
        yield Move(Action(yaw=yaw), 6)
    return True


def walk_to(body: Body, goal: Point, near: float = 0.6, patience: int = PATIENCE) -> Doing:
    """Walks until the feet are within `near` blocks of a place, heights left out."""
    return (
        yield from walk(body, lambda: goal, lambda: flat_distance(body.scene.place, goal) <= near, patience)
    )
