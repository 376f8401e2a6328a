"""Getting past what a greedy walk stays at: removing it, going another way round, digging down, climbing."""

from collections.abc import Callable
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.digging import centre_on, go_down, go_into, go_level, go_up, open_up
from rollouts.executors.geometry import (
    REACH,
    Cell,
    Point,
    distance,
    flat_distance,
    straight,
    unit,
    wrapped,
    yaw_to,
)
from rollouts.executors.searching import OPEN_GROUND, explore
from rollouts.executors.walking import DEEPEST_DROP, Ground, ahead, walk

CLEARED: Final = 8
"""level columns after which clearing a way ends, open or not; steps up are as many as it takes"""
AWAY: Final = 12.0
"""blocks that another route leads away before it counts as taken"""
_NEAR_BLOCKAGE: Final = 6.0
_DEEP: Final = 64
"""cells that are looked down at an edge: more than any window shows"""
_SIDES: Final = (0.0, 90.0, -90.0)
"""ways off the heading that steps are cut in, where a liquid or a station is in the way of the first"""
_TURNS: Final = (90.0, -90.0, 180.0, 45.0, -45.0, 135.0, -135.0)
"""ways off the blocked heading, one per try"""
_DEAD_ENDS: Final = 4
_WALKABLE: Final = (Ground.LEVEL, Ground.UP)


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
    """Removes what blocks the way in the heading until two steps on are free, or the goal is in reach: a wall
    is cut into steps where the goal is higher and tunnelled where it is not, an edge is dug down to a drop
    that one can take. Whether the way leads on from here."""
    heading = straight(blocked_heading(body))
    goal = blockage(body)
    # A body may be inside a block: leaves that grew, sand that fell.
    yield from open_up(body, (body.scene.feet.up(), body.scene.feet))
    yield from centre_on(body, heading)
    level, removed = 0, blockage(body) is None
    while level < CLEARED:
        feet, scene = body.scene.feet, body.scene
        if goal is not None and distance(scene.eye, goal) <= REACH and scene.aim(goal.cell()) is not None:
            return True
        ground = ahead(scene, scene.place, heading, 1.0)
        if ground is Ground.RISK:
            return False
        if ground is Ground.LEDGE:
            # Nobody digs down to a bottom that is out of sight.
            went = _bottom_in_view(body, heading) and (yield from _lower_edge(body))
        elif ground is Ground.WALL:
            higher = goal is None or goal.y > feet.y + 0.6
            went = yield from (_cut_up if higher else go_level)(body, heading)
        else:
            went = yield from go_into(body, _next(body, heading))
            # A body that is walled in may have got stuck some way off the wall.
            if went and removed and ahead(body.scene, body.scene.place, heading, 1.0) in _WALKABLE:
                return True
        if not went:
            return False
        removed = removed or ground in (Ground.LEDGE, Ground.WALL)
        level += body.scene.feet.y <= feet.y
    return True


def any_way(body: Body) -> Doing:
    """Gets on by a way that is clear: clears what blocks it, goes round what cannot be cleared; where nothing
    is known to be in the way it only walks on for a leg."""
    if blockage(body) is None:
        at = body.scene.place
        if (yield from explore(body, lambda: flat_distance(at, body.scene.place) >= AWAY)):
            return True
        # Now it is known that no heading leads on.
    if (yield from clear_way(body)):
        return True
    return (yield from other_route(body))


def _next(body: Body, heading: float) -> Cell:
    front = body.scene.feet.towards(heading)
    if body.scene.is_solid(front):
        return front.up()
    return front.up(-body.scene.drop(front, DEEPEST_DROP))


def _cut_up(body: Body, heading: float) -> Doing:
    """A step up in the heading, else to a side."""
    for turn in _SIDES:
        if (yield from go_up(body, heading + turn)):
            return True
    return False


def _bottom_in_view(body: Body, heading: float) -> bool:
    """The ground below an edge is seen, and no liquid."""
    front = body.scene.feet.towards(heading)
    return body.scene.covers(front.up(-1 - body.scene.drop(front, _DEEP)))


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
    known_at, known_goal = body.memory.blocked_at, blockage(body)
    for _ in range(_DEAD_ENDS):
        way = wrapped(blocked + _TURNS[body.memory.reroutes % len(_TURNS)])
        body.memory.reroutes += 1
        body.memory.heading = way
        ux, uz = unit(way)
        goal = Point(start.x + ux * AWAY, OPEN_GROUND, start.z + uz * AWAY)
        yield from _off(body, start, goal)
        if flat_distance(start, body.scene.place) >= AWAY / 2:
            return True
    # What was in the way before is what is to be got past; that these ways are closed too says no more.
    if known_goal is not None:
        body.memory.blocked_at, body.memory.blocked_goal = known_at, known_goal
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
