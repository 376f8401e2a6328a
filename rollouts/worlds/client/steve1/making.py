"""Kinds `craft` and `smelt`, on the game's own screens."""

from collections.abc import Mapping
from math import ceil, inf
from typing import Final, NamedTuple

from rollouts.worlds.client.steve1.hand import Doing, GivenUpError, Hand
from rollouts.worlds.client.steve1.layout import (
    FURNACE_FUEL,
    FURNACE_INPUT,
    FURNACE_OUTPUT,
    OWN_GRID,
    TABLE_GRID,
    Grid,
    Spot,
    shapes,
)
from warehouse.domains import Domain
from warehouse.domains.model import Recipe

_SHOWS: Final = 10
"""ticks after which what was taken is in the slots, if it ever is"""
SMELTING: Final = 200
"""ticks that a furnace takes for a piece"""
_LATE: Final = 40
"""ticks more for what came late"""
_LOAD: Final = 64
"""pieces that a furnace holds"""
SLOTS: Final = 36


class Lay(NamedTuple):
    """A recipe as it is to be laid out: which item in which (row, column)."""

    recipe: Recipe
    cells: tuple[tuple[str, tuple[int, int]], ...]


def craft(hand: Hand, items: frozenset[str], wanted: int) -> Doing:
    """Crafts until so many of these items are held, or it has to hurry. `GivenUpError` says why it is not to
    be; no screen is open then, and nothing is left on a grid."""
    table = hand.domain.crafting_station
    while hand.count(items) < wanted and not hand.hurries:
        lay = lay_out(hand.domain, items, hand.now.inventory)
        grid = TABLE_GRID if lay.recipe.needs_table else OWN_GRID
        if lay.recipe.needs_table:
            yield from hand.open_station(table)
        else:
            yield from hand.open_own()
        trouble: GivenUpError | None = None
        try:
            while hand.count(items) < wanted and not hand.hurries:
                yield from _craft_once(hand, lay, grid)
                if hand.count(items) < wanted:
                    again = lay_out(hand.domain, items, hand.now.inventory)
                    if again.recipe.needs_table != lay.recipe.needs_table:
                        break
                    lay = again
        except GivenUpError as error:
            trouble = error
        yield from hand.close()
        if lay.recipe.needs_table:
            yield from hand.take_back(table)
        if trouble is not None:
            raise trouble


def lay_out(domain: Domain, items: frozenset[str], held: Mapping[str, int]) -> Lay:
    """How one of these items is crafted from what is held, in the hand's own grid where that will do.
    `GivenUpError` says what is missing, by the recipe that lacks least."""
    recipes = [recipe for item in sorted(items) for recipe in domain.recipes.get(item, ())]
    recipes = [recipe for recipe in recipes if not recipe.beside]
    if not recipes:
        raise GivenUpError("invalid_action", min(items, default=None), "there is no recipe for that here")
    lacking: list[tuple[int, str]] = []
    for recipe in sorted(recipes, key=lambda each: each.needs_table):
        drawn = _drawn(domain, recipe, held)
        if isinstance(drawn, str):
            short = next(count for name, count in recipe.ingredients if name == drawn)
            lacking.append((short - sum(held.get(item, 0) for item in domain.expand(drawn)), drawn))
            continue
        return Lay(recipe, _cells(recipe, drawn))
    _, name = min(lacking)
    raise GivenUpError("missing_item", name, f"missing item {name}")


def _drawn(domain: Domain, recipe: Recipe, held: Mapping[str, int]) -> dict[str, list[str]] | str:
    """The items that stand for each ingredient, one for each piece, of what there is most of first; or the
    ingredient that is short."""
    left = dict(held)
    drawn: dict[str, list[str]] = {}
    for name, count in recipe.ingredients:
        members = sorted(domain.expand(name), key=lambda item: (-left.get(item, 0), item))
        pieces = [item for item in members for _ in range(min(left.get(item, 0), count))][:count]
        if len(pieces) < count:
            return name
        for item in pieces:
            left[item] -= 1
        drawn[name] = pieces
    return drawn


def _cells(recipe: Recipe, drawn: Mapping[str, list[str]]) -> tuple[tuple[str, tuple[int, int]], ...]:
    shape = shapes().get((recipe.item, frozenset(drawn)))
    if shape is None:
        raise GivenUpError("invalid_action", recipe.item, f"how {recipe.item} lies on the grid is not known")
    left = {name: list(pieces) for name, pieces in drawn.items()}
    if not shape.rows:
        side = 3 if recipe.needs_table else 2
        pieces = [item for name in sorted(left) for item in left[name]]
        return tuple((item, divmod(at, side)) for at, item in enumerate(pieces))
    return tuple(
        (left[shape.ingredients[cell]].pop(0), (row, column))
        for row, line in enumerate(shape.rows)
        for column, cell in enumerate(line)
        if cell is not None
    )


def _craft_once(hand: Hand, lay: Lay, grid: Grid) -> Doing:
    spots: dict[str, list[Spot]] = {}
    for item, (row, column) in lay.cells:
        spots.setdefault(item, []).append(grid.cell(row, column))
    before = hand.count((lay.recipe.item,))
    for item in sorted(spots):
        yield from hand.put(item, spots[item])
    yield from hand.move_over(grid.result)
    yield from hand.wait(_SHOWS, lambda: hand.count((lay.recipe.item,)) > before)
    if hand.count((lay.recipe.item,)) > before:
        return
    for own in spots.values():
        for spot in own:
            yield from hand.move_over(spot)
    if len(hand.slots) >= SLOTS:
        raise GivenUpError("inventory_full", lay.recipe.item, "the inventory is full")
    raise GivenUpError("result_failed", lay.recipe.item, f"crafting {lay.recipe.item} gave nothing")


def smelt(hand: Hand, product: str, wanted: int) -> Doing:
    """Smelts until so many of a product are held, in a furnace of the hand's own, or it has to hurry.
    `GivenUpError` says why it is not to be; no screen is open then."""
    domain, furnace = hand.domain, hand.domain.smelting_station
    sources = frozenset(source for source, made in domain.smelting.items() if made == product)
    while hand.count((product,)) < wanted and not hand.hurries:
        missing = wanted - hand.count((product,))
        source = _most(hand, sources)
        if source is None:
            easiest = min(
                sources, key=lambda each: (domain.block_effort.get(each, inf), each), default=product
            )
            raise GivenUpError("missing_item", easiest, f"nothing makes {product}")
        most = min(missing, hand.now.inventory[source], _LOAD)
        pieces, fuel, pieces_of_fuel = _load(hand, source, most)
        yield from hand.open_station(furnace)
        trouble: GivenUpError | None = None
        try:
            yield from _smelt_load(hand, source, pieces, fuel, pieces_of_fuel, product)
        except GivenUpError as error:
            trouble = error
        yield from hand.close()
        if (pickaxe := hand.best_tool(frozenset({furnace}))) is not None:
            # With bare hands a furnace breaks and leaves nothing.
            yield from hand.to_bar(pickaxe)
            yield from hand.take_back(furnace)
        if trouble is not None:
            raise trouble


def _smelt_load(hand: Hand, source: str, pieces: int, fuel: str, pieces_of_fuel: int, product: str) -> Doing:
    before = hand.count((product,))
    yield from hand.put(source, [FURNACE_INPUT] * pieces)
    yield from hand.put(fuel, [FURNACE_FUEL] * pieces_of_fuel)
    # It burns on unseen, and a screen that stays open looks like a player who is stuck in it.
    yield from hand.close()
    yield from hand.wait(pieces * SMELTING + _LATE, lambda: hand.hurries)
    yield from hand.open_station(hand.domain.smelting_station)
    yield from hand.move_over(FURNACE_OUTPUT)
    yield from hand.wait(_SHOWS, lambda: hand.count((product,)) > before)
    yield from hand.move_over(FURNACE_INPUT)
    yield from hand.move_over(FURNACE_FUEL)
    if hand.hurries or hand.count((product,)) > before:
        return
    if len(hand.slots) >= SLOTS:
        raise GivenUpError("inventory_full", product, "the inventory is full")
    raise GivenUpError("result_failed", product, f"smelting {product} gave nothing")


def _most(hand: Hand, items: frozenset[str]) -> str | None:
    held = [(-hand.count((item,)), item) for item in sorted(items) if hand.count((item,))]
    return min(held)[1] if held else None


def _load(hand: Hand, source: str, most: int) -> tuple[int, str, int]:
    """How many pieces are put in, with which fuel and how many of it: as many as one fuel lasts for, and of
    those that last as long the one that burns longest. What burns itself is shared between fire and input.
    Tools and stations are spared. `GivenUpError` where nothing burns long enough for one piece."""
    domain = hand.domain
    spared = domain.stations | frozenset(domain.tools)
    loads = []
    for fuel, worth in sorted(domain.fuels.items()):
        held = 0 if fuel in spared else hand.count((fuel,))
        for pieces in range(most, 0, -1):
            needed = ceil(pieces / worth)
            if needed + (pieces if fuel == source else 0) <= held:
                # Another fuel before the input itself.
                loads.append((-pieces, fuel == source, -worth, fuel, needed))
                break
    if not loads:
        raise GivenUpError("missing_fuel", None, "nothing burns long enough")
    pieces, _, _, fuel, needed = min(loads)
    return -pieces, fuel, needed
