"""Breaking blocks and picking up what falls, and the three ways of digging on: level, down in stairs, up in
stairs. Nothing is dug that borders on a liquid in view."""

import math
from collections.abc import Collection
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.geometry import Cell, Look, Point, distance, flat_distance, look_at, straight
from rollouts.executors.walking import DEEPEST_DROP, HALF_WIDTH, WALK_SPEED, walk_to
from rollouts.protocols import Action, Move

PATIENT_DIG: Final = 500
"""ticks after which a block that does not break is left alone"""
_HOLD: Final = 100
"""ticks that the attack is held for at a time; a world cuts it short when the block breaks"""
_DRIFT: Final = 4
"""ticks after which a body that stopped walking stands still"""
_ON_FOOT: Final = 12
"""tries to get from one cell into the next"""
_SOLES: Final = tuple((dx, dz) for dx in (-HALF_WIDTH, HALF_WIDTH) for dz in (-HALF_WIDTH, HALF_WIDTH))
"""the body's corners, from its middle"""


def dig(body: Body, cell: Cell) -> Doing:
    """Attacks the block at a cell with the best tool held until it is another; False when it does not break,
    or cannot be seen and reached from here."""
    name = body.scene.name(cell)
    if body.scene.is_open(cell):
        return True
    yield from body.equip(body.best_tool(name))
    started = body.tick
    while body.scene.name(cell) == name and body.tick - started < PATIENT_DIG:
        look = body.scene.aim(cell)
        if look is None:
            return False
        # A walk ends with a little drift, so the first look is soon corrected.
        hold = _HOLD if body.tick - started >= _DRIFT else _DRIFT
        yield Move(Action(attack=True, yaw=look.yaw, pitch=look.pitch), hold)
    return body.scene.name(cell) != name


def pick_up(body: Body, place: Point, items: Collection[str], before: int) -> Doing:
    """Walks over what fell at a place, and waits a moment for it; whether more of `items` are held than
    `before`."""
    for near in (0.9, 0.3):
        if body.held(items) > before:
            break
        yield from walk_to(body, _fallen(body, place, items), near, patience=40)
        if body.held(items) == before:
            yield Move(Action(), 12)
    return body.held(items) > before


def _fallen(body: Body, place: Point, items: Collection[str]) -> Point:
    """Where one of `items` lies near a place; the place itself when none is seen to."""
    lying = [Point(seen.x, seen.y, seen.z) for seen in body.scene.entities if seen.name in items]
    near = [(distance(place, each), each) for each in lying if flat_distance(place, each) <= 4.0]
    return min(near)[1] if near else place


def safe_to_dig(body: Body, cell: Cell) -> bool:
    """No liquid in view would come out of it, and it is no station."""
    if body.scene.name(cell) in body.domain.stations:
        return False
    return not any(body.scene.is_risky(each) for each in cell.neighbours())


def open_up(body: Body, cells: Collection[Cell]) -> Doing:
    """Digs what is solid among `cells`, in order; False when one is unsafe or does not give way."""
    for cell in cells:
        # Sand and gravel come down after the block under them, so a cell may have to be dug several times.
        for _ in range(4):
            if body.scene.is_open(cell):
                break
            if not safe_to_dig(body, cell) or not (yield from _dig_close(body, cell)):
                return False
        if body.scene.is_solid(cell):
            return False
    return True


def _dig_close(body: Body, cell: Cell) -> Doing:
    """As `dig`, also where no line of sight is found: a block that touches the body can be felt for."""
    if body.scene.aim(cell) is not None:
        return (yield from dig(body, cell))
    name = body.scene.name(cell)
    yield from body.equip(body.best_tool(name))
    look: Look = look_at(body.scene.eye, cell.centre())
    started = body.tick
    while body.scene.name(cell) == name and body.tick - started < PATIENT_DIG // 2:
        yield Move(Action(attack=True, yaw=look.yaw, pitch=look.pitch), _HOLD)
    return body.scene.name(cell) != name


def go_into(body: Body, cell: Cell) -> Doing:
    """Steps into the middle of a neighbouring column, jumping where it is a step up; False when it fails."""
    middle = cell.centre()
    for _ in range(_ON_FOOT):
        scene = body.scene
        gap = flat_distance(scene.place, middle)
        if gap <= 0.25 and scene.feet.y <= cell.y:
            if scene.place.y - scene.feet.y <= 0.05 or scene.is_risky(scene.feet):
                return True
            yield from body.rest(2)
            continue
        look = look_at(scene.place, middle)
        jump = scene.feet.y < cell.y or scene.is_risky(scene.feet)
        ticks = 6 if jump else max(1, min(6, round(gap / WALK_SPEED)))
        yield Move(Action(forward=int(gap > 0.1), jump=jump, yaw=look.yaw), ticks)
    return flat_distance(body.scene.place, middle) <= 0.5


def go_level(body: Body, heading: float) -> Doing:
    """One cell on, two high; False where it cannot be opened or there is no floor."""
    feet = body.scene.feet
    front = feet.towards(heading)
    if not (yield from open_up(body, (front.up(), front))):
        return False
    if _is_unsafe(body, front):
        return False
    return (yield from go_into(body, front))


def go_down(body: Body, heading: float) -> Doing:
    """One cell on and one down."""
    feet = body.scene.feet
    front = feet.towards(heading)
    if not (yield from open_up(body, (front.up(), front, front.up(-1)))):
        return False
    if _is_unsafe(body, front.up(-1)):
        return False
    return (yield from go_into(body, front.up(-1)))


def go_up(body: Body, heading: float) -> Doing:
    """One cell on and one up; where there is nothing to step on, one cell on."""
    feet = body.scene.feet
    front = feet.towards(heading)
    if body.scene.is_open(front):
        return (yield from go_level(body, heading))
    if not (yield from open_up(body, (feet.up(2), front.up(2), front.up()))):
        return False
    return (yield from go_into(body, front.up()))


def _is_unsafe(body: Body, cell: Cell) -> bool:
    scene = body.scene
    if scene.is_risky(cell) or scene.is_risky(cell.up()):
        return True
    return scene.drop(cell, DEEPEST_DROP + 1) > DEEPEST_DROP


def centre_on(body: Body, heading: float) -> Doing:
    """Stands in the middle of the own cell and faces one of the four main ways, to dig straight on."""
    yield from go_into(body, _footing(body))
    yield Move(Action(yaw=straight(heading), pitch=0.0), 1)
    return True


def _footing(body: Body) -> Cell:
    """The cell that the feet are in; where they reach out over an edge, the one that carries the body."""
    scene, place = body.scene, body.scene.place
    if not _is_unsafe(body, scene.feet):
        return scene.feet
    below = {scene.feet._replace(x=math.floor(place.x + dx), z=math.floor(place.z + dz)) for dx, dz in _SOLES}
    firm = [cell for cell in below if scene.can_stand(cell)]
    return min(firm, key=lambda cell: (flat_distance(place, cell.centre()), cell), default=scene.feet)
