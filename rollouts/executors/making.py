"""Kinds `craft` and `smelt`: at a station that is seen or remembered; none is ever put down here."""

from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.geometry import REACH, Cell, distance
from rollouts.executors.goals import gained
from rollouts.executors.walking import walk
from rollouts.protocols import Action, Move

IN_VAIN: Final = 2
"""crafts (or loads, or collections) in a row that change nothing before it gives up"""
SETTLE: Final = 40
"""ticks that a screen is waited for to close by itself"""
BATCH: Final = 8
"""pieces that are put into a furnace at a time"""
SMELT_TICKS: Final = 200
"""ticks that a furnace takes for a piece"""


def craft(body: Body) -> Doing:
    """Crafts the target until the count is held, or until two crafts in a row changed nothing."""
    item = _which(body)
    if item is None:
        return False
    recipes = body.domain.recipes.get(item, ())
    if recipes and all(recipe.needs_table for recipe in recipes):
        yield from go_to_station(body, body.domain.crafting_station)
    done, vain = gained(body, body.domain.expand(body.subgoal.target or "")), 0
    while not done() and vain < IN_VAIN:
        changed = yield from craft_once(body, item)
        vain = 0 if changed else vain + 1
    yield from body.close_screen()
    return done()


def craft_once(body: Body, item: str) -> Doing:
    """One craft, wherever one stands; whether the inventory changed."""
    before = dict(body.observation.inventory)
    yield Move(Action(craft=item), 1)
    return (yield from _settle(body, before))


def _settle(body: Body, before: dict[str, int]) -> Doing:
    """Waits while the screen of an operation is open and for a moment more, until the inventory differs from
    `before`."""
    deadline = body.tick + SETTLE
    while body.observation.gui != "none" and body.tick < deadline:
        yield Move(Action(), deadline - body.tick)
    if dict(body.observation.inventory) == before:
        yield Move(Action(), 2)
    return dict(body.observation.inventory) != before


def _which(body: Body) -> str | None:
    """The item to craft: of a `#tag` the first member whose ingredients are held."""
    target = body.subgoal.target or ""
    members = sorted(body.domain.expand(target))
    for item in members:
        if any(
            all(body.held(body.domain.expand(name)) >= count for name, count in recipe.ingredients)
            for recipe in body.domain.recipes.get(item, ())
        ):
            return item
    return members[0] if members else None


def in_reach(body: Body, cell: Cell) -> bool:
    """Near enough to be worked at."""
    return distance(body.scene.eye, cell.centre()) <= REACH


def go_to_station(body: Body, station: str) -> Doing:
    """Walks to a station that is in view or remembered; False when there is none or it is not reached."""
    cell = body.find((station,))
    if cell is None:
        return False
    goal = cell.centre()
    # What a jump brings into reach is out of reach again when it ends.
    return (yield from walk(body, lambda: goal, lambda: body.steady and in_reach(body, cell)))


def smelt(body: Body) -> Doing:
    """Loads a furnace with what makes the target and with fuel, waits, and takes the result, until the count
    is held. Without input or fuel it tries all the same, for the world to say so; gives up when nothing
    changes."""
    product = _product(body)
    if product is None:
        return False
    yield from go_to_station(body, body.domain.smelting_station)
    done, vain = gained(body, frozenset({product})), 0
    while not done() and vain < IN_VAIN:
        before = body.held((product,))
        loaded = 0
        for _ in range(min(BATCH, max(1, _missing(body, product)))):
            source = _input(body, product)
            had = dict(body.observation.inventory)
            yield Move(Action(smelt=(source, _fuel(body, source))), 1)
            if not (yield from _settle(body, had)):
                break
            loaded += 1
        yield from _collect(body, product, loaded)
        vain = vain + 1 if body.held((product,)) == before else 0
    yield from body.close_screen()
    return done()


def _collect(body: Body, product: str, loaded: int) -> Doing:
    """Takes each piece as it should be done, and once more a little later for what came late."""
    for wait in (*(SMELT_TICKS for _ in range(loaded)), SMELT_TICKS // 4):
        yield from body.until_tick(body.tick + wait)
        had = dict(body.observation.inventory)
        yield Move(Action(collect=True), 1)
        yield from _settle(body, had)
    return True


def _missing(body: Body, product: str) -> int:
    """Pieces that the subgoal still asks for: by its checks, else its count."""
    wanted = [
        int(check.value or 1) - body.held(body.domain.expand(check.name or ""))
        for check in body.subgoal.checks
        if check.type == "inv_ge" and product in body.domain.expand(check.name or "")
    ]
    return max(wanted, default=body.subgoal.count)


def _product(body: Body) -> str | None:
    """What is to come out: the target itself, or what a furnace makes of it."""
    smelting = body.domain.smelting
    products = frozenset(smelting.values())
    named = sorted(body.domain.expand(body.subgoal.target or ""))
    for item in named:
        if item in products:
            return item
    return next((smelting[item] for item in named if item in smelting), None)


def _input(body: Body, product: str) -> str:
    """What is put in: of all that makes the product, what is held most of."""
    sources = [source for source, made in body.domain.smelting.items() if made == product]
    return min(sorted(sources), key=lambda source: -body.held((source,)))


def _fuel(body: Body, source: str) -> str:
    """The held fuel that burns longest, "" without one. Tools and stations are spared, and of the input
    no more is burnt than can be done without."""
    domain = body.domain
    fuels = [
        fuel
        for fuel in sorted(domain.fuels)
        if body.held((fuel,)) > (fuel == source) and fuel not in domain.tools and fuel not in domain.stations
    ]
    return max(fuels, key=lambda fuel: domain.fuels[fuel], default="")
