"""Getting past what a greedy walk stays at: removing it, going another way round, digging down, climbing."""

from collections.abc import Callable
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.digging import centre_on, go_down, go_into, go_level, go_up, open_up
from rollouts.executors.geometry import Cell, Point, flat_distance, straight, unit, wrapped, yaw_to
from rollouts.executors.searching import explore
from rollouts.executors.walking import DEEPEST_DROP, Ground, ahead, walk

CLEARED: Final = 8
"""columns after which clearing a way ends, open or not"""
AWAY: Final = 12.0
"""blocks that another route leads away before it counts as taken"""
_NEAR_BLOCKAGE: Final = 6.0
_TURNS: Final = (90.0, -90.0, 180.0, 45.0, -45.0, 135.0, -135.0)
"""ways off the blocked heading, one per try"""
_DEAD_ENDS: Final = 4


def blockage(body: Body) -> Point | None:
    """The goal of the last walk, if that got stuck and near here; None when nothing is known
    to be in the way."""
    at = body.memory.blocked_at
    near = at is not None and flat_distance(at, body.scene.place) <= _NEAR_BLOCKAGE
    return body.memory.blocked_goal if near else None


def blocked_heading(body: Body) -> float:
    """Where the way was blocked: towards the goal that was not reached, else where the eyes look."""
    goal = blockage(body)
    return yaw_to(body.scene.place, goal) if goal is not None else body.observation.yaw


def clear_way(body: Body) -> Doing:
    """Removes what blocks the way in the heading until two steps on are free: a wall is cut into steps where
    the goal is higher and tunnelled where it is not, an edge is dug down to a drop that one can take."""
    heading = straight(blocked_heading(body))
    goal = blockage(body)
    # A body may be inside a block: leaves that grew, sand that fell.
    yield from open_up(body, (body.scene.feet.up(), body.scene.feet))
    yield from centre_on(body, heading)
    for _ in range(CLEARED):
        feet, scene = body.scene.feet, body.scene
        ground = ahead(scene, scene.place, heading, 1.0)
        if ground is Ground.RISK:
            return False
        if ground is Ground.LEDGE:
            went = yield from _lower_edge(body)
        elif ground is Ground.WALL:
            higher = goal is None or goal.y > feet.y + 0.6
            went = yield from (go_up if higher else go_level)(body, heading)
        else:
            went = yield from go_into(body, _next(body, heading))
            if went and ahead(body.scene, body.scene.place, heading, 1.0) in (Ground.LEVEL, Ground.UP):
                return True
        if not went:
            return False
    return False


def any_way(body: Body) -> Doing:
    """Gets on by a way that is clear: clears what blocks it, goes round what cannot be cleared; where nothing
    is known to be in the way it only walks on for a leg."""
    if blockage(body) is None:
        at = body.scene.place
        return (yield from explore(body, lambda: flat_distance(at, body.scene.place) >= AWAY))
    if (yield from clear_way(body)):
        return True
    return (yield from other_route(body))


def _next(body: Body, heading: float) -> Cell:
    front = body.scene.feet.towards(heading)
    if body.scene.is_solid(front):
        return front.up()
    return front.up(-body.scene.drop(front, DEEPEST_DROP))


def _lower_edge(body: Body) -> Doing:
    """Digs away the block under the feet."""
    feet = body.scene.feet
    under = feet.up(-1)
    if body.scene.drop(under, DEEPEST_DROP + 1) > DEEPEST_DROP:
        return False
    if not (yield from open_up(body, (under,))):
        return False
    yield from body.rest(8)
    return body.scene.feet.y < feet.y


def other_route(body: Body) -> Doing:
    """Walks some blocks away from where the way was blocked, in another heading at every try."""
    blocked = blocked_heading(body)
    start = body.scene.place
    for _ in range(_DEAD_ENDS):
        way = wrapped(blocked + _TURNS[body.memory.reroutes % len(_TURNS)])
        body.memory.reroutes += 1
        body.memory.heading = way
        ux, uz = unit(way)
        goal = Point(start.x + ux * AWAY, start.y, start.z + uz * AWAY)
        yield from _off(body, start, goal)
        if flat_distance(start, body.scene.place) >= AWAY / 2:
            return True
    return False


def _off(body: Body, start: Point, goal: Point) -> Doing:
    return (
        yield from walk(
            body, lambda: goal, lambda: flat_distance(start, body.scene.place) >= AWAY - 1.0, patience=80
        )
    )


def descend(body: Body, y: float, found: Callable[[], bool]) -> Doing:
    """Digs stairs down until the feet are at height `y` or lower, or `found()`; False where that ends."""
    ends = 0
    yield from centre_on(body, body.memory.heading)
    while body.observation.y > y and not found() and ends < _DEAD_ENDS:
        at = body.scene.feet
        yield from go_down(body, body.memory.heading)
        if body.scene.feet == at and not found():
            body.turn(90.0)
            ends += 1
        elif body.scene.feet != at:
            ends = 0
            body.memory.dug_to = body.observation.y
    return body.observation.y <= y or found()


def climb(body: Body, y: float) -> Doing:
    """Cuts stairs up until the feet are at height `y` or higher; in the open it goes on until it meets a
    slope. False where it cannot go on."""
    ends = level = 0
    yield from centre_on(body, body.memory.heading)
    while body.observation.y < y and ends < _DEAD_ENDS:
        at = body.scene.feet
        yield from go_up(body, body.memory.heading)
        level = 0 if body.scene.feet.y > at.y else level + 1
        if body.scene.feet == at or level > 16:
            body.turn(90.0)
            ends, level = ends + 1, 0
        elif body.scene.feet.y > at.y:
            ends = 0
    return body.observation.y >= y
