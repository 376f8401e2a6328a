"""What the executor does unasked so that it lives: strikes back, drinks, eats, sleeps."""

from functools import partial
from typing import Final

from rollouts.protocols import Action, Move
from rollouts.worlds.crafter.atlas import beside
from rollouts.worlds.crafter.body import HOSTILE, Body, Doing

LOW: Final = 3.0
"""thirst and hunger, of 9, at which it sees to them"""
TIRED: Final = 2.0
"""energy, of 9, at which it lies down"""
_ENOUGH: Final = 8.0
_RANGE: Final = 4
"""cells within which a skeleton shoots"""
_SKIRMISH: Final = 20
"""ticks that it is gone after"""
_TURNS: Final = 4
_SEARCH: Final = 120
"""ticks that one search for water or a cow may take"""


def need(body: Body) -> Doing | None:
    """The most pressing thing to do, None where nothing presses."""
    now = body.observation
    # Crafter tells both.
    assert now.hunger is not None
    assert now.health is not None
    if now.vitals["asleep"]:
        return rest(body)
    if any(body.atlas.crowd.get(cell) in HOSTILE for cell in beside(body.at)):
        return strike_back(body)
    if _archer_near(body):
        return hunt(body, "skeleton", now.tick + _SKIRMISH)
    if now.vitals["drink"] <= LOW and (body.atlas.all_of({"water"}) or now.vitals["drink"] < 2):
        return drink(body, now.tick + _SEARCH)
    if now.hunger <= LOW and ("cow" in body.atlas.met or now.hunger < 2):
        return hunt(body, "cow", now.tick + _SEARCH)
    weak = now.health <= LOW and now.vitals["energy"] < _ENOUGH
    tired = now.vitals["energy"] <= TIRED or weak
    if tired and "stone" in body.breaks() and body.atlas.burrows(body.breaks()):
        return shut_in(body)
    if now.vitals["energy"] == 0:
        return rest(body)
    return None


def _archer_near(body: Body) -> bool:
    """Whether somebody who shoots is in range and can be got to: better to be beside him."""
    east, south = body.at
    archers = [
        cell
        for cell, name in body.atlas.crowd.items()
        if name == "skeleton" and abs(cell[0] - east) + abs(cell[1] - south) <= _RANGE
    ]
    sides = {side for cell in archers for side in beside(cell)}
    return bool(archers) and body.atlas.way(body.at, sides, body.breaks()) is not None


def shut_in(body: Body) -> Doing:
    """Digs itself in, shuts the door with a stone and sleeps: nobody comes to somebody who is walled in."""
    burrows = body.atlas.burrows(body.breaks())
    if (yield from body.go(lambda: burrows, lambda: False)) and body.at in burrows:
        side, door = burrows[body.at], body.at
        for depth in (1, 2):
            inner = door[0] + depth * side[0], door[1] + depth * side[1]
            yield from body.go(partial(frozenset, (inner,)), lambda: False)
        for _ in range(_TURNS):
            if body.ahead == door:
                break
            yield body.press((door[0] + side[0], door[1] + side[1]) if body.at != door else door)
        yield Move(Action(place="stone"), 1)
    return (yield from rest(body))


def strike_back(body: Body) -> Doing:
    """Strikes whoever is near until nobody is."""
    while True:
        foes = [cell for cell in beside(body.at) if body.atlas.crowd.get(cell) in HOSTILE]
        if not foes:
            return True
        yield Move(Action(attack=True), 1) if body.ahead == foes[0] else body.press(foes[0])


def rest(body: Body) -> Doing:
    """Sleeps until it wakes."""
    yield Move(Action(sleep=True), 1)
    while body.observation.vitals["asleep"]:
        yield Move(Action(sleep=True), 20)
    return True


def drink(body: Body, deadline: int) -> Doing:
    """Drinks until the thirst is quenched; looks for water where none is known."""

    def over() -> bool:
        return body.observation.tick >= deadline

    if not (yield from body.explore(lambda: over() or bool(body.atlas.all_of({"water"})))):
        return False
    if not (yield from body.go_to_face(lambda: body.atlas.all_of({"water"}), over)):
        return False
    while body.observation.vitals["drink"] < _ENOUGH and not over():
        if body.atlas.material(body.ahead) != "water":
            return False
        yield Move(Action(use=True), 1)
    return True


def hunt(body: Body, name: str, deadline: int) -> Doing:
    """Goes after the creature that was seen last, or the next one, and strikes until it is gone."""

    def over() -> bool:
        return body.observation.tick >= deadline

    while not over():
        if not (yield from body.explore(lambda: over() or name in body.atlas.met)) or over():
            return False
        there = body.atlas.met[name]
        if there in beside(body.at) and body.atlas.crowd.get(there) == name:
            if body.ahead != there:
                yield body.press(there)
                continue
            yield Move(Action(attack=True), 1)
            east, south = there
            # It may have stepped aside; nobody within two cells is left of it.
            near = (c for c, who in body.atlas.crowd.items() if who == name)
            if not any(abs(c[0] - east) + abs(c[1] - south) <= 2 for c in near):
                return True
            continue
        way = body.atlas.way(body.at, set(beside(there)), body.breaks())
        if way is None:
            del body.atlas.met[name]
            yield Move(Action(), 1)
        elif way:
            yield Move(Action(attack=True), 1) if _digs(body, way[0]) else body.press(way[0])
        else:
            body.atlas.met.pop(name, None)
            yield Move(Action(), 1)
    return False


def _digs(body: Body, cell: tuple[int, int]) -> bool:
    return body.ahead == cell and body.atlas.material(cell) in body.breaks()
