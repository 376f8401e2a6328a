"""A wrong copy of a domain: some recipes ask for the wrong thing, some blocks for the wrong tool.

Which facts are wrong depends on the seed alone, fact by fact, and a larger share only adds to the wrong facts
of a smaller one: so a sweep over the share compares like with like.
"""

import hashlib
from dataclasses import replace

from warehouse.domains import Domain, Recipe


def corrupted(domain: Domain, seed: int, share: float) -> Domain:
    """`domain` with about `share` (0 to 1) of its recipes and tool tiers wrong; the same object for 0.

    A wrong recipe has one ingredient exchanged for one that another recipe uses; a wrong tier is another tier
    of the same tool. `ValueError` for a share outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not {share}")
    if share == 0:
        return domain
    ingredients = sorted(
        {name for recipes in domain.recipes.values() for recipe in recipes for name, _ in recipe.ingredients}
    )
    recipes = {
        item: tuple(
            _wrong_recipe(recipe, ingredients, f"{seed}/recipe/{item}/{position}", share)
            for position, recipe in enumerate(known)
        )
        for item, known in domain.recipes.items()
    }
    harvest = {
        block: (tool, _wrong_tier(tier, domain.tool_tiers, f"{seed}/harvest/{block}", share))
        for block, (tool, tier) in domain.harvest.items()
    }
    return replace(domain, recipes=recipes, harvest=harvest)


def _wrong_recipe(recipe: Recipe, ingredients: list[str], key: str, share: float) -> Recipe:
    if _draw(f"{key}/wrong") >= share or not recipe.ingredients:
        return recipe
    used = {name for name, _ in recipe.ingredients} | {recipe.item}
    others = [name for name in ingredients if name not in used]
    if not others:
        return recipe
    place = _pick(f"{key}/place", len(recipe.ingredients))
    changed = list(recipe.ingredients)
    changed[place] = (others[_pick(f"{key}/ingredient", len(others))], changed[place][1])
    return replace(recipe, ingredients=tuple(changed))


def _wrong_tier(tier: str, tiers: tuple[str, ...], key: str, share: float) -> str:
    others = [other for other in tiers if other != tier]
    if _draw(f"{key}/wrong") >= share or not others:
        return tier
    return others[_pick(f"{key}/tier", len(others))]


def _draw(key: str) -> float:
    """A number in [0, 1) that depends on `key` alone, on every machine."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) / 2**64


def _pick(key: str, choices: int) -> int:
    return int(_draw(key) * choices)
