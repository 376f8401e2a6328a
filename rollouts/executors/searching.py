"""Looking for what is not in sight: over the ground in one heading, under it in a straight tunnel."""

import math
from collections.abc import Callable
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.digging import centre_on, go_level
from rollouts.executors.geometry import Point, flat_distance, unit
from rollouts.executors.walking import walk

LEG: Final = 16.0
"""blocks that are walked before the goal ahead is set anew"""
LEGS: Final = 4
"""legs after which the way turns by 90 degrees"""
DEAD_ENDS: Final = 4
"""headings in a row that lead nowhere, after which a search gives up"""
_STUCK_IN: Final = 100
OPEN_GROUND: Final = math.inf
"""the height of a goal that is no thing: what walls one in on the way there is to be left upwards"""


def explore(body: Body, found: Callable[[], bool]) -> Doing:
    """Walks in the remembered heading until `found()`; False when four headings in a row are dead ends.

    A dead end turns the heading by 90 degrees, and so does every fourth leg, so that the way winds outwards.
    """
    legs = ends = 0
    while not found() and ends < DEAD_ENDS:
        start = body.scene.place
        ux, uz = unit(body.memory.heading)
        goal = Point(start.x + ux * LEG, OPEN_GROUND, start.z + uz * LEG)
        free = yield from _leg(body, goal, found)
        legs += 1
        if not free:
            ends = 1 if flat_distance(start, body.scene.place) > 4.0 else ends + 1
            body.turn(90.0)
        else:
            ends = 0
            if legs % LEGS == 0 and not found():
                body.turn(90.0)
    return found()


def _leg(body: Body, goal: Point, found: Callable[[], bool]) -> Doing:
    return (
        yield from walk(
            body,
            lambda: goal,
            lambda: found() or flat_distance(body.scene.place, goal) <= 1.5,
            _STUCK_IN,
        )
    )


def tunnel(body: Body, found: Callable[[], bool]) -> Doing:
    """Digs a level tunnel in the remembered heading until `found()`; turns by 90 degrees where it cannot go
    on; False after four turns in a row."""
    ends = 0
    yield from centre_on(body, body.memory.heading)
    while not found() and ends < DEAD_ENDS:
        at = body.scene.feet
        yield from go_level(body, body.memory.heading)
        if body.scene.feet == at and not found():
            body.turn(90.0)
            ends += 1
        elif body.scene.feet != at:
            ends = 0
    return found()
