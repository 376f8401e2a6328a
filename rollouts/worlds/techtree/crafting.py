"""Crafting and repairing in the grid of the inventory or of a table in reach. Recipes are the domain's."""

from collections.abc import Mapping

from rollouts.worlds.techtree.play import Play
from warehouse.domains import Domain, Recipe


def missing(recipe: Recipe, held: Mapping[str, int], domain: Domain) -> dict[str, int]:
    """What `held` is short of for one recipe: name or `#tag` of the recipe -> how many."""
    return _share_out(recipe, held, domain)[1]


def craft(play: Play, item: str) -> None:
    """Crafts `item` once, or repairs two pieces of it, or notes why neither can be."""
    recipes = play.domain.recipes.get(item, ())
    wearing = [slot.wear for slot in play.pack.slots if slot and slot.item == item]
    can_repair = play.catalogue.durability(item) > 0 and len(wearing) >= 2
    if can_repair and any(wearing):
        _repair(play, item)
        return
    if not recipes:
        if can_repair:
            _repair(play, item)
        else:
            play.refuse("INVALID_ACTION", item)
        return
    table = play.station(play.domain.crafting_station) is not None
    for recipe in recipes:
        used, short = _share_out(recipe, play.pack.counts, play.domain)
        if not short and (table or not recipe.needs_table):
            _carry_out(play, recipe, used)
            return
    if can_repair:
        _repair(play, item)
        return
    _explain(play, recipes, table)


def screen_for(play: Play, item: str) -> str:
    """The screen on which an attempt to craft `item` shows: the table's if there is one and it is needed."""
    recipes = play.domain.recipes.get(item, ())
    wants_table = bool(recipes) and all(recipe.needs_table for recipe in recipes)
    at_table = wants_table and play.station(play.domain.crafting_station) is not None
    return "crafting_table" if at_table else "inventory"


def _share_out(
    recipe: Recipe, held: Mapping[str, int], domain: Domain
) -> tuple[dict[str, int], dict[str, int]]:
    """(what is used of each item, what is short): named items first, then tags from what is held most."""
    left = dict(held)
    used: dict[str, int] = {}
    short: dict[str, int] = {}
    for name, count in sorted(recipe.ingredients, key=lambda row: row[0].startswith("#")):
        wanted = count
        for item in sorted(domain.expand(name), key=lambda each: (-left.get(each, 0), each)):
            taken = min(wanted, left.get(item, 0))
            if taken:
                left[item] -= taken
                used[item] = used.get(item, 0) + taken
                wanted -= taken
        if wanted:
            short[name] = wanted
    return used, short


def _carry_out(play: Play, recipe: Recipe, used: Mapping[str, int]) -> None:
    remains = play.parameters["remains"]
    # Room is asked for before anything is taken out: a full pack cannot take the result.
    if play.pack.room(recipe.item) < recipe.count and not any(
        play.pack.counts[item] == count for item, count in used.items()
    ):
        play.refuse("INVENTORY_FULL", recipe.item)
        return
    for item, count in sorted(used.items()):
        play.pack.take(item, count)
        if item in remains:
            play.give(remains[item], count)
    play.give(recipe.item, recipe.count)
    play.count("craft_item", recipe.item, recipe.count)


def _repair(play: Play, item: str) -> None:
    """Two pieces become one; the game asks for no more than that both are there."""
    whole = play.catalogue.durability(item)
    slots = sorted(
        (slot.wear for slot in play.pack.slots if slot and slot.item == item), key=lambda wear: -wear
    )[:2]
    good = sum(whole - wear for wear in slots) + int(whole * play.parameters["repair"]["bonus"])
    play.pack.take(item, 2)
    play.pack.add(item, 1, max(0, whole - good))
    play.count("craft_item", item)
    event = play.parameters["repair"]["events"].get(item)
    if event:
        play.happen(event)


def _explain(play: Play, recipes: tuple[Recipe, ...], table: bool) -> None:
    """Notes what the nearest recipe lacks."""
    shorts = [missing(recipe, play.pack.counts, play.domain) for recipe in recipes]
    nearest = min(range(len(recipes)), key=lambda n: (sum(shorts[n].values()), n))
    if recipes[nearest].needs_table and not table:
        play.refuse("MISSING_STATION", play.domain.crafting_station)
    for name, count in sorted(shorts[nearest].items()):
        play.refuse("MISSING_INGREDIENT", f"{count} {name}")
