"""Kind `use`: what the subgoal's words ask for with its target: put down, eat, trade, wash, repair, store,
wear, open."""

from collections.abc import Callable
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.fighting import go_to_creature, nearest, place_of
from rollouts.executors.geometry import REACH, Cell, Look, Point, distance, look_at, straight
from rollouts.executors.goals import named_in, words
from rollouts.executors.making import craft_once, go_to_station, in_reach
from rollouts.executors.searching import explore
from rollouts.executors.walking import HALF_WIDTH, walk
from rollouts.protocols import Action, Move

EATING: Final = 40
"""ticks of holding what is eaten; a meal takes 32"""
PLACINGS: Final = 8
"""cells that a block is tried on before it gives up"""
_VERBS: Final = {
    "place": ("place", "put", "plant", "set"),
    "eat": ("eat", "drink", "consume"),
    "trade": ("trade", "barter", "buy", "sell"),
    "repair": ("repair", "mend"),
    "wash": ("wash", "clean", "rinse"),
    "store": ("deposit", "store", "stash"),
    "open": ("open",),
    "equip": ("equip", "wear", "wield", "hold"),
}
_MEANT: Final = {word: verb for verb, said in _VERBS.items() for word in said}


def use(body: Body) -> Doing:
    """Does what the condition's first known verb says; without one, what suits the target: food is eaten, a
    block that is held is put down, a creature is used, anything else is used on what is near."""
    return (yield from _WAYS[verb_of(body.subgoal.condition) or _default(body)](body))


def verb_of(text: str) -> str | None:
    """The first thing to do that a text names, by one word for it: place, eat, trade, repair, wash, store,
    open, equip; None where it names none."""
    return next((_MEANT[word] for word in words(text) if word in _MEANT), None)


def _default(body: Body) -> str:
    domain, target = body.domain, body.subgoal.target or ""
    if target in domain.foods:
        return "eat"
    if target in domain.entities and target not in domain.items:
        return "trade"
    if target in domain.stations and not body.held((target,)) and body.find((target,)) is not None:
        return "open"
    return "place" if target in domain.blocks else "apply"


def _place(body: Body) -> Doing:
    """Puts the target down `count` times, each on a free cell next to it."""
    item = _item(body)
    if item is None:
        return False
    yield from body.close_screen()
    placed = tried = 0
    while placed < body.subgoal.count and tried < PLACINGS:
        had = body.held((item,))
        spots = _spots(body)
        if not spots:
            # Nowhere to put it: the attempt itself shows what the world says to that.
            spots = [Look(body.observation.yaw, 60.0)]
        for look in spots[: PLACINGS - tried]:
            tried += 1
            yield Move(Action(place=item, yaw=look.yaw, pitch=look.pitch), 1)
            if body.held((item,)) >= had:
                yield from body.rest(2)
            if body.held((item,)) < had:
                placed += 1
                break
            if not had:
                return False
    return placed >= body.subgoal.count


def _spots(body: Body) -> list[Look]:
    """Where to look so that a block lands on the floor beside the body, ahead first; then on a step."""
    scene, yaw = body.scene, straight(body.observation.yaw)
    looks = []
    for height in (0, 1):
        for away in (1, 2):
            for turn in (0.0, 90.0, -90.0, 180.0):
                cell = scene.feet.towards(yaw + turn, away).up(height)
                top = Point(cell.x + 0.5, float(cell.y), cell.z + 0.5)
                free = scene.is_open(cell) and not scene.is_risky(cell) and scene.is_solid(cell.up(-1))
                reachable = distance(scene.eye, top) <= REACH and scene.sees(
                    Point(top.x, top.y + 0.05, top.z)
                )
                if free and reachable and scene.covers(cell.up(-1)) and not _occupied(body, cell):
                    looks.append(look_at(scene.eye, top))
    return looks


def _occupied(body: Body, cell: Cell) -> bool:
    """A creature stands there, or the own body does with an edge of it."""
    place = body.scene.place
    if max(abs(place.x - cell.x - 0.5), abs(place.z - cell.z - 0.5)) < 0.5 + HALF_WIDTH:
        return True
    return any(
        abs(seen.x - cell.x - 0.5) < 1.0 and abs(seen.z - cell.z - 0.5) < 1.0 and abs(seen.y - cell.y) < 1.5
        for seen in body.scene.entities
        if seen.name in body.domain.entities
    )


def _eat(body: Body) -> Doing:
    """Eats `count` of the target, or of the most filling food that is held."""
    foods = body.domain.foods & body.domain.expand(body.subgoal.target or "") or body.domain.foods
    yield from body.close_screen()
    for _ in range(body.subgoal.count):
        held = [food for food in sorted(foods) if body.held((food,))]
        food = max(held, key=lambda each: body.domain.food_points.get(each, 0.0), default=None)
        if food is None or not (yield from body.equip(food)):
            return False
        had, deadline = body.held((food,)), body.tick + EATING
        while body.held((food,)) == had and body.tick < deadline:
            yield Move(Action(use=True, pitch=-30.0), deadline - body.tick)
        if body.held((food,)) == had:
            return False
    return True


def _trade(body: Body) -> Doing:
    """Goes to the creature that the words name and uses it until the inventory changes, `count` times."""
    names = _creatures(body)
    if not names:
        return False
    if not (yield from explore(body, lambda: nearest(body, names) is not None)):
        return False
    for _ in range(body.subgoal.count):
        if not (yield from _use_on_creature(body, names)):
            return False
    return (yield from body.close_screen())


def _use_on_creature(body: Body, names: frozenset[str]) -> Doing:
    """Goes to the nearest of the creatures and uses it until the inventory changes, three times at most."""
    before = dict(body.observation.inventory)
    if not (yield from go_to_creature(body, names)):
        return False
    for _ in range(3):
        seen = nearest(body, names)
        if seen is None or dict(body.observation.inventory) != before:
            break
        place = place_of(seen)
        look = look_at(body.scene.eye, Point(place.x, place.y + 0.8, place.z))
        yield Move(Action(use=True, yaw=look.yaw, pitch=look.pitch), 1)
        yield from body.rest(20)
    return dict(body.observation.inventory) != before


def _repair(body: Body) -> Doing:
    """Puts worn ones together in the crafting grid, at a named station if one is seen."""
    item = _item(body)
    if item is None:
        return False
    station = _station(body)
    if station is not None:
        yield from go_to_station(body, station)
    for _ in range(body.subgoal.count):
        if not (yield from craft_once(body, item)):
            break
    else:
        return (yield from body.close_screen())
    yield from body.close_screen()
    return False


def _at_station(body: Body) -> Doing:
    """Takes the item in hand and uses it on the station that the words name (wash, store, open)."""
    station = _station(body)
    if station is None:
        return False
    yield from body.close_screen()
    if body.find((station,)) is None:
        yield from explore(body, lambda: body.find((station,)) is not None)
    if not (yield from go_to_station(body, station)):
        return False
    item = _item(body)
    if item is not None and item != station:
        yield from body.equip(item)
    cell = body.find((station,))
    if cell is None:
        return False
    if body.scene.aim(cell) is None and not (yield from _get_sight(body, cell)):
        return False
    look = body.scene.aim(cell) or look_at(body.scene.eye, cell.centre())
    return (yield from _use_towards(body, look))


def _get_sight(body: Body, cell: Cell) -> Doing:
    goal = cell.centre()
    return (
        yield from walk(body, lambda: goal, lambda: body.scene.aim(cell) is not None and in_reach(body, cell))
    )


def _apply(body: Body) -> Doing:
    """Takes the target in hand, if it is held, and uses it on the station in reach, else on the nearest
    creature, else on what is in front; two of a kind that found no use so are put together in the grid."""
    item = _item(body)
    if item is None:
        return False
    yield from body.close_screen()
    yield from body.equip(item)
    before = dict(body.observation.inventory)
    look = _station_in_reach(body) if body.held((item,)) else None
    if look is not None:
        yield from _use_towards(body, look)
    elif nearest(body, body.domain.entities) is not None:
        yield from _use_on_creature(body, body.domain.entities)
    elif body.held((item,)):
        yield Move(Action(use=True), 1)
        yield from body.rest(2)
    yield from body.close_screen()
    if dict(body.observation.inventory) == before and body.held((item,)) > 1:
        yield from craft_once(body, item)
    return dict(body.observation.inventory) != before


def _station_in_reach(body: Body) -> Look | None:
    """Where to look to use a station from here; one for making things only if there is no other."""
    makers = frozenset({body.domain.crafting_station, body.domain.smelting_station})
    for names in (body.domain.stations - makers, makers):
        for cell in body.scene.where(names):
            look = body.scene.aim(cell)
            if look is not None:
                return look
    return None


def _use_towards(body: Body, look: Look) -> Doing:
    """Uses what is held in a direction, twice at most; whether anything about the body changed."""
    before = _state(body)
    for _ in range(2):
        yield Move(Action(use=True, yaw=look.yaw, pitch=look.pitch), 1)
        yield from body.rest(4)
        if _state(body) != before:
            break
    return _state(body) != before


def _equip(body: Body) -> Doing:
    """Takes the target in hand and uses it once (which puts armour on)."""
    item = _item(body)
    if item is None or not (yield from body.equip(item)):
        return False
    before = _state(body)
    yield Move(Action(use=True), 1)
    yield from body.rest(2)
    return _state(body) != before or body.observation.equipped == item


def _state(body: Body) -> tuple[object, ...]:
    now = body.observation
    return dict(now.inventory), now.gui, now.message, now.equipped


def _item(body: Body) -> str | None:
    """The item that the target means, one that is held if there is one; else one that the words name."""
    target = body.subgoal.target or ""
    items = sorted(body.domain.expand(target))
    if not items or (target in body.domain.stations and not body.held((target,))):
        said = [item for item in named_in(body.subgoal.condition, body.domain.items) if body.held((item,))]
        items = [*said, *items]
    return next((item for item in items if body.held((item,))), items[0] if items else None)


def _station(body: Body) -> str | None:
    target = body.subgoal.target or ""
    if target in body.domain.stations:
        return target
    return next(iter(named_in(body.subgoal.condition, body.domain.stations)), None)


def _creatures(body: Body) -> frozenset[str]:
    target = body.subgoal.target or ""
    if target in body.domain.entities:
        return frozenset({target})
    return frozenset(named_in(body.subgoal.condition, body.domain.entities)[:1])


_WAYS: Final[dict[str, Callable[[Body], Doing]]] = {
    "place": _place,
    "eat": _eat,
    "trade": _trade,
    "repair": _repair,
    "wash": _at_station,
    "store": _at_station,
    "open": _at_station,
    "equip": _equip,
    "apply": _apply,
}
