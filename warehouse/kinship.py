"""How near one thing is to another in a domain's prerequisite graph: the goal's own ingredients are one step
away, what those need is two steps away, and so on.

Everything is read from the domain: a changed recipe changes the distances. The graph is restricted to the
shortest ways (`Domain.prerequisites`), because an item may be had in many roundabout ways and each would make
strangers relatives.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from warehouse.domains.model import Domain

DECAY: Final = 0.75
"""Kinship lost per step. At .75 the far end of the longest tool chains (7 to 8 steps) still counts a tenth:
knowledge of the very first steps is found for a late goal, behind everything nearer."""

SIBLING_STEPS: Final = 2
"""Members of a tag that some recipe takes stand in for each other there: up to the tag and down again."""

_TARGETS_IN_THE_WORLD: Final = ("block", "entity")


@cache
def kinship_of(domain: Domain) -> "Kinship":
    """The kinships of `domain`, shared by all: a goal stays worked out from one snapshot to the next."""
    return Kinship(domain)


class Kinship:
    """Distances and kinships of one domain; each goal is worked out once, then remembered.

    >>> from warehouse.domains import load_domain
    >>> Kinship(load_domain("minecraft")).distances("stick")["oak_planks"]
    1
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._smelted_from: dict[str, list[str]] = {}
        for before, after in sorted(domain.smelting.items()):
            self._smelted_from.setdefault(after, []).append(before)
        self._tags_of: dict[str, list[str]] = {}
        for tag, members in sorted(domain.tags.items()):
            for member in members:
                self._tags_of.setdefault(member, []).append(tag)
        self._ingredient_tags = {
            name
            for recipes in domain.recipes.values()
            for recipe in recipes
            for name, _ in recipe.ingredients
            if name.startswith("#")
        }
        self._distances: dict[str, Mapping[str, int]] = {}

    def distances(self, goal: str) -> Mapping[str, int]:
        """Thing (item, block, entity or `#tag`) -> steps from `goal`, 0 for the goal itself.

        A block or an entity is as far as the item that the cheapest way takes from it, a tag as far as its
        nearest member. Things that `goal` does not need are absent; an unknown goal is akin to itself alone.
        """
        if goal not in self._distances:
            self._distances[goal] = MappingProxyType(self._measure(goal))
        return self._distances[goal]

    def nearness(self, goal: str) -> dict[str, float]:
        """Thing -> kinship with `goal`, `DECAY` to the power of the distance, in (0, 1]."""
        return {thing: DECAY**steps for thing, steps in self.distances(goal).items()}

    def _measure(self, goal: str) -> dict[str, int]:
        steps: dict[str, int] = {}
        places: dict[str, int] = {}
        queue: deque[str] = deque()

        def reach(things: Iterable[str], distance: int) -> None:
            for thing in things:
                if distance < steps.get(thing, distance + 1):
                    steps[thing] = distance
                    queue.append(thing)

        reach([goal, *sorted(self._yields(goal))], 0)
        while queue:
            thing = queue.popleft()
            reach(sorted(self._needs(thing)), steps[thing] + 1)
            # Kept apart and not walked on from: what a block needs (its tools) is among the needs of the item
            # taken from it, and the block's name may be an item's, which is not needed for that.
            _lower(places, ((place, steps[thing] + extra) for place, extra in self._places(thing)))
        _lower(steps, places.items())
        _lower(steps, ((sibling, SIBLING_STEPS) for sibling in sorted(self._siblings(goal))))
        tags = [(f"#{tag}", steps[thing]) for thing in steps for tag in self._tags_of.get(thing, ())]
        _lower(steps, tags)
        return steps

    def _yields(self, goal: str) -> frozenset[str]:
        """The items that stand for a goal which is no item to be made: a tag's members, a block's drops."""
        domain = self._domain
        if goal.startswith("#"):
            return domain.expand(goal)
        if any(domain.kinds[kind] not in _TARGETS_IN_THE_WORLD for kind, _ in domain.sources(goal)[:1]):
            return frozenset()
        dropped = domain.drops.get(goal, ()) or domain.entity_drops.get(goal, ())
        return frozenset(dropped) - domain.rare_drops.get(goal, frozenset())

    def _needs(self, item: str) -> set[str]:
        """What the shortest ways to `item` need directly."""
        domain = self._domain
        shortest = domain.prerequisites(item)
        needs: set[str] = set()
        for recipe in domain.recipes.get(item, ()):
            ingredients = [domain.expand(name) & shortest for name, _ in recipe.ingredients]
            if all(ingredients):
                needs = needs.union(*ingredients, domain.stations_of(recipe))
        inputs = shortest.intersection(self._smelted_from.get(item, ()))
        if inputs:
            needs |= inputs | {domain.smelting_station} | self._cheapest_fuels(shortest)
        for kind, target in domain.sources(item)[:1]:
            if domain.kinds[kind] == "block":
                needs |= domain.fit_tools(target) & shortest
        return needs

    def _cheapest_fuels(self, among: frozenset[str]) -> set[str]:
        # Tools of wood burn as well, but they are on the way for another reason.
        effort = {
            fuel: len(self._domain.prerequisites(fuel)) for fuel in among.intersection(self._domain.fuels)
        }
        return {fuel for fuel, needed in effort.items() if needed == min(effort.values())}

    def _places(self, item: str) -> list[tuple[str, int]]:
        """Blocks and entities that dependably yield `item`; all but the cheapest way are a step further."""
        return [
            (target, min(rank, 1))
            for rank, (kind, target) in enumerate(self._domain.sources(item))
            if self._domain.kinds[kind] in _TARGETS_IN_THE_WORLD
            and item not in self._domain.rare_drops.get(target, ())
        ]

    def _siblings(self, goal: str) -> set[str]:
        tags = [f"#{tag}" for tag in self._tags_of.get(goal, ()) if f"#{tag}" in self._ingredient_tags]
        return {member for tag in tags for member in self._domain.expand(tag)} - {goal}


def _lower(steps: dict[str, int], found: Iterable[tuple[str, int]]) -> None:
    for thing, distance in found:
        steps[thing] = min(steps.get(thing, distance), distance)
