"""The executor's behaviours by kind of subgoal."""

from collections.abc import Callable, Collection
from typing import Final

from rollouts.protocols import Action, Move
from rollouts.worlds.crafter.atlas import WALKABLE, Cell, beside
from rollouts.worlds.crafter.body import Body, Doing
from rollouts.worlds.crafter.survival import hunt, rest
from warehouse.domains import Recipe
from warehouse.grammar import blocks_for, known_names
from warehouse.records import TICKS_PER_SECOND

_STROKES: Final = 3
"""strokes that change nothing after which a block is given up"""
_LUCKY_STROKES: Final = 60
"""the same where it is a matter of luck whether something comes"""
_TRIES: Final = 2
_AWAY: Final = 12
"""cells that one goes where nothing is said but to go on"""
PLACED_ON: Final = {
    "stone": frozenset({"grass", "sand", "path", "water", "lava"}),
    "sapling": frozenset({"grass"}),
    "table": frozenset({"grass", "sand", "path"}),
    "furnace": frozenset({"grass", "sand", "path"}),
}
"""the game's rules: what can be put down on what"""


def mine(body: Body) -> Doing:
    """Finds a block, goes to it and strikes until so many of what it leaves have come."""
    domain, target = body.domain, body.subgoal.target or ""
    blocks = blocks_for(target, domain)
    items = domain.accepts(target, "mine")
    wanted = body.held(items) + body.subgoal.count
    goal = body.subgoal.checks[0].value if body.subgoal.checks else None
    wanted = wanted if goal is None else max(int(goal), 1)
    lucky = any(items & domain.rare_drops.get(block, frozenset()) for block in blocks)
    vain = 0
    while body.held(items) < wanted:
        if not blocks or not (yield from _to_a_block(body, blocks)):
            return False
        before = body.held(items), body.atlas.material(body.ahead)
        yield Move(Action(attack=True), 1)
        vain = 0 if (body.held(items), body.atlas.material(body.ahead)) != before else vain + 1
        if vain >= (_LUCKY_STROKES if lucky else _STROKES):
            return False
    return True


def _to_a_block(body: Body, blocks: Collection[str]) -> Doing:
    """Looks at one of these blocks, from beside it."""
    if body.atlas.material(body.ahead) in blocks and body.ahead not in body.atlas.crowd:
        return True

    def known() -> list[Cell]:
        return body.atlas.all_of(blocks)

    if not (yield from body.explore(lambda: bool(known()))):
        return False
    if WALKABLE.isdisjoint(blocks):
        if (yield from body.go_to_face(known, lambda: False)):
            return True
        # Known but not to be got to: there may be another behind what was not seen yet.
        seen = len(known())
        if not (yield from body.explore(lambda: len(known()) > seen)):
            return False
        return (yield from body.go_to_face(known, lambda: False))
    # What can be walked on is looked at on the way to it.
    if not (yield from body.go(known, lambda: body.atlas.material(body.ahead) in blocks)):
        return False
    for side in beside(body.at):
        if body.atlas.material(body.ahead) in blocks and body.ahead not in body.atlas.crowd:
            return True
        yield body.press(side)
    return body.atlas.material(body.ahead) in blocks


def craft(body: Body) -> Doing:
    """Makes something where its stations are in reach, as far as any are known; a station on the spot."""
    target = body.subgoal.target or ""
    if target in body.domain.built_in_place:
        return (yield from build(body, target))
    items = body.domain.expand(target)
    recipes = [recipe for item in sorted(items) for recipe in body.domain.recipes.get(item, ())]
    if not recipes:
        return False
    before = body.held(items)
    yield from _to_stations(body, recipes[0])
    for _ in range(_TRIES * body.subgoal.count):
        yield Move(Action(craft=recipes[0].item), 1)
        if body.held(items) >= before + body.subgoal.count:
            return True
    return False


def _to_stations(body: Body, recipe: Recipe) -> Doing:
    """A place with all stations around it, if one is known; else one with the first of them."""
    stations = body.domain.stations_of(recipe)
    around = [
        {
            (east + a, south + b)
            for east, south in body.atlas.all_of({station})
            for a in (-1, 0, 1)
            for b in (-1, 0, 1)
        }
        for station in stations
    ]
    if not around or all(body.is_near(station) for station in stations):
        return True
    both = set.intersection(*around)
    return (yield from body.go(lambda: both or around[0], lambda: False))


def build(body: Body, station: str) -> Doing:
    """Puts a station before the body, beside those that stand in reach already."""
    kept = sorted(each for each in body.domain.stations if body.is_near(each))
    for _ in range(_TRIES):
        yield from _room_ahead(body, PLACED_ON.get(station, frozenset()), kept)
        yield Move(Action(craft=station), 1)
        if body.is_near(station):
            return True
    return False


def _room_ahead(body: Body, where: Collection[str], kept: Collection[str] = ()) -> Doing:
    """Looks at a cell on which something can be put down, and stays near the stations `kept`."""

    def is_room(cell: Cell) -> bool:
        return body.atlas.material(cell) in where and cell not in body.atlas.crowd

    for turn in range(8):
        if is_room(body.ahead):
            return True
        sides = [
            side
            for side in beside(body.at)
            if (body.atlas.is_free(side) or is_room(side)) and _keeps(body, side, kept)
        ]
        if not sides:
            return False
        yield body.press(sides[turn % len(sides)])
    return is_room(body.ahead)


def _keeps(body: Body, cell: Cell, stations: Collection[str]) -> bool:
    around = [(cell[0] + a, cell[1] + b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    return all(any(body.atlas.material(each) == station for each in around) for station in stations)


def use(body: Body) -> Doing:
    """Puts something down, drinks from a block, eats what has ripened, or goes to a station."""
    target = body.subgoal.target or ""
    if target in body.domain.stations:
        return (yield from _go_to(body, target))
    if target in PLACED_ON and target in body.domain.items:
        before = body.held({target})
        for _ in range(_TRIES):
            if not (yield from _room_ahead(body, PLACED_ON[target])):
                yield from _to_a_block(body, PLACED_ON[target])
            yield Move(Action(place=target), 1)
            if body.held({target}) < before:
                return True
        return False
    if target in body.domain.entities:
        return (yield from _use_on(body, target))
    if target in body.domain.blocks:
        if not (yield from _to_a_block(body, {target})):
            return False
        yield Move(Action(use=True), 1)
        return True
    return False


def _use_on(body: Body, name: str) -> Doing:
    if not (yield from body.explore(lambda: name in body.atlas.met)):
        return False

    def there() -> list[Cell]:
        return [body.atlas.met[name]] if name in body.atlas.met else []

    if not (yield from body.go_to_face(there, lambda: False)):
        return False
    yield Move(Action(use=True), 1)
    return True


def combat(body: Body) -> Doing:
    """Fights so many of a creature."""
    deadline = body.observation.tick + round(body.subgoal.timeout_s * TICKS_PER_SECOND)
    for _ in range(body.subgoal.count):
        if not (yield from hunt(body, body.subgoal.target or "", deadline)):
            return False
    return True


def move(body: Body) -> Doing:
    """Goes to a thing, and looks for one first; without one it goes on into what it does not know."""
    target = body.subgoal.target
    if target is not None and known_names(target, body.domain):
        return (yield from _go_to(body, target))
    began = body.at
    return (yield from body.explore(lambda: abs(body.at[0] - began[0]) + abs(body.at[1] - began[1]) >= _AWAY))


def _go_to(body: Body, target: str) -> Doing:
    names = blocks_for(target, body.domain) or known_names(target, body.domain)

    def places() -> list[Cell]:
        creatures = [cell for name, cell in sorted(body.atlas.met.items()) if name in names]
        return [*body.atlas.all_of(names), *creatures]

    def next_to() -> set[Cell]:
        return {side for cell in places() for side in beside(cell)}

    if not (yield from body.explore(lambda: bool(places()))):
        return False
    return (yield from body.go(next_to, lambda: False))


def wait(body: Body) -> Doing:
    """Sleeps where it is tired at all, else stands, for the subgoal's whole time."""
    end = body.observation.tick + round(body.subgoal.timeout_s * TICKS_PER_SECOND)
    while body.observation.tick < end:
        if body.observation.vitals["energy"] < body.domain.spawn_health:
            yield from rest(body)
        else:
            yield Move(Action(), 20)
    return True


KINDS: Final[dict[str, Callable[[Body], Doing]]] = {
    "mine": mine,
    "craft": craft,
    "use": use,
    "combat": combat,
    "move": move,
    "wait": wait,
}
