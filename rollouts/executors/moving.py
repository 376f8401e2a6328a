"""Kinds `move` and `wait`."""

from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.fighting import nearest, place_of
from rollouts.executors.geometry import Point, distance
from rollouts.executors.goals import blocks_for, creatures_for, words
from rollouts.executors.making import in_reach
from rollouts.executors.searching import explore
from rollouts.executors.walking import walk
from rollouts.executors.ways import any_way, clear_way, climb, descend, other_route
from rollouts.protocols import Action, Move

BESIDE: Final = 3.0
"""blocks from the eyes at which a place counts as reached"""
TICKS_PER_SECOND: Final = 20
_ROUTE_WORDS: Final = frozenset({"route", "around", "detour", "another", "alternative", "away"})


def move(body: Body) -> Doing:
    """Another route, a clear way, a height, a thing; any other word for a place makes it explore."""
    yield from body.close_screen()
    if not _ROUTE_WORDS.isdisjoint(words(body.subgoal.condition)):
        went = yield from other_route(body)
        if went or not body.asked("path_clear"):
            return went
        # In a pit there is no other route.
        return (yield from clear_way(body))
    if body.asked("path_clear") and body.subgoal.target is None:
        return (yield from any_way(body))
    low, high = body.check("ypos_le"), body.check("ypos_ge")
    if isinstance(low, int | float):
        return (yield from descend(body, float(low), lambda: False))
    if isinstance(high, int | float):
        return (yield from climb(body, float(high)))
    station = body.check("station_near")
    target = station if isinstance(station, str) else body.subgoal.target
    return (yield from _go_to(body, target))


def _go_to(body: Body, target: str | None) -> Doing:
    """Walks to the nearest such thing, and looks for one first when none is in sight or remembered."""
    blocks = blocks_for(body.domain, target) if target else frozenset()
    creatures = creatures_for(body.domain, target) if target else frozenset()
    if not blocks and not creatures:
        return (yield from explore(body, lambda: False))

    def place() -> Point | None:
        cell = body.find(blocks) if blocks else None
        if cell is not None:
            return cell.centre()
        seen = nearest(body, creatures)
        return place_of(seen) if seen is not None else None

    def there() -> bool:
        goal = place()
        # What a jump brings into reach is out of reach again when it ends.
        if goal is None or not body.steady:
            return False
        return distance(body.scene.eye, goal) <= BESIDE or in_reach(body, goal.cell())

    if not (yield from explore(body, lambda: place() is not None)):
        return False
    return (yield from walk(body, place, there))


def wait(body: Body) -> Doing:
    """Closes a screen that is open, then does nothing: until it is closed if that is what the checks ask for,
    else for the subgoal's whole time."""
    started = body.tick
    yield from body.close_screen()
    if body.asked("gui_closed"):
        return body.observation.gui == "none"
    end = started + round(body.subgoal.timeout_s * TICKS_PER_SECOND)
    while body.tick < end:
        yield Move(Action(), end - body.tick)
    return True
