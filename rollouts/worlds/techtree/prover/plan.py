"""What is to be done for a thing, from true facts: the domain's recipes and drops, and what one world has.

The plan is worked out backwards over a copy of the pack, so that numbers are exact: what one step uses up is
not there for another.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Literal

import numpy as np

from rollouts.worlds.techtree.play import Play
from warehouse.domains import Domain, Recipe
from warehouse.domains.routes import Routes

StepKind = Literal["mine", "kill", "craft", "smelt", "trade", "wash", "repair"]
_GATHERS = ("mine", "kill")


class NoWayError(ValueError):
    """The world yields no such thing; the text names what is missing."""


@dataclass(frozen=True)
class Step:
    """One thing to do: `count` more of `item`, by breaking or killing `target`, by crafting or smelting it.

    `fuel` is what a furnace is fed with. `bare`: a hand is enough.
    """

    kind: StepKind
    item: str
    count: int
    target: str = ""
    fuel: str = ""
    bare: bool = True

    def __str__(self) -> str:
        of = f" from {self.target}" if self.target and self.target != self.item else ""
        return f"{self.kind} {self.count} {self.item}{of}"


class Facts:
    """What holds in one world as it was made: the domain, with the sources that are really there."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.domain = play.domain
        numbers = np.bincount(play.blocks.reshape(-1), minlength=len(play.catalogue.palette))
        self.there = {name: int(numbers[n]) for n, name in enumerate(play.catalogue.palette) if numbers[n]}
        kinds = play.state.mobs["kind"]
        creatures = {play.catalogue.creatures[int(kind)] for kind in kinds[kinds >= 0]}
        world = self._only(creatures)
        self.routes = Routes(world)
        self.drops = world

    def _only(self, creatures: set[str]) -> Domain:
        """The domain without the sources that this world lacks: what it doesn't have, and what luck that it
        doesn't know would bring."""
        domain, known = self.domain, self.play.catalogue
        blocks = {name: cost for name, cost in domain.block_effort.items() if name in self.there}
        drops = {
            name: tuple(drop.item for drop in known.block_drops(name)) if name in blocks else items
            for name, items in domain.drops.items()
        }
        left = {name: tuple(drop.item for drop in known.creature_drops(name)) for name in sorted(creatures)}
        entities = {name: cost for name, cost in domain.entity_effort.items() if name in creatures}
        return replace(domain, block_effort=blocks, entity_effort=entities, drops=drops, entity_drops=left)

    def effort(self, name: str) -> float:
        """Steps to a thing, or to the easiest behind a tag; infinite where there is no way."""
        return self.routes.effort(name)

    def easiest(self, name: str) -> str:
        """The item behind a name that takes least; among equals that of which the world has most."""
        items = self.domain.expand(name)
        if not items or self.effort(name) == inf:
            raise NoWayError(self.lacking(name))
        return min(items, key=lambda item: (self.effort(item), -self._plenty(item), item))

    def _plenty(self, item: str) -> int:
        """How many blocks of the world are the item, or what it is crafted from."""
        made_of = [name for recipe in self.domain.recipes.get(item, ()) for name, _ in recipe.ingredients]
        return max(
            (self.there.get(each, 0) for name in (item, *made_of) for each in self.domain.expand(name)),
            default=0,
        )

    def recipe(self, item: str) -> Recipe:
        """The recipe of an item that takes least."""
        return min(
            self.domain.recipes[item],
            key=lambda recipe: sum(self.effort(name) for name, _ in recipe.ingredients),
        )

    def lacking(self, name: str) -> str:
        """Why there is no way to a thing: the nearest thing on the way that comes from nothing here."""
        for _ in range(8):
            items = sorted(self.domain.expand(name)) or [name]
            recipes = self.domain.recipes.get(items[0], ())
            short = [each for recipe in recipes for each, _ in recipe.ingredients if self.effort(each) == inf]
            if not short:
                break
            name = short[0]
        return f"{name.lstrip('#')} comes from nothing in this world"


class Planner:
    """Works one plan out. `held` is what the pack has; `near` the stations that stand close by."""

    def __init__(self, facts: Facts, held: Mapping[str, int], near: frozenset[str]) -> None:
        self.facts = facts
        self.domain = facts.domain
        self.left = Counter(held)
        self.near = set(near)
        self.steps: list[Step] = []

    def get(self, item: str, count: int) -> None:
        """Sees to it that `count` of an item are there, not yet spoken for. `NoWayError` where none comes."""
        short = count - self.left[item]
        if short <= 0:
            return
        ways = self.facts.routes.sources(item)
        if not ways or self.facts.effort(item) == inf:
            raise NoWayError(self.facts.lacking(item))
        kind, target = ways[0]
        if kind == "mine":
            fit = self.domain.fit_tools(target)
            self.tool(fit)
            self.steps.append(Step("mine", item, short, target, bare=not fit))
        elif kind == "combat":
            self.steps.append(Step("kill", item, short, target))
        elif kind == "smelt":
            self._smelt(item, short)
        else:
            self._craft(item, short)
            return
        self.left[item] += short

    def reserve(self, name: str, count: int) -> None:
        """Gets `count` of what is behind a name, mixed as it comes, and takes it out of what is left."""
        members = sorted(self.domain.expand(name))
        while count > 0:
            held = [item for item in members if self.left[item] > 0]
            if not held:
                ready = next(self._ready(members), None)
                item = ready or self.facts.easiest(name)
                self.get(item, 1 if ready else count)
                held = [item]
            taken = min(count, self.left[held[0]])
            self.left[held[0]] -= taken
            count -= taken

    def _ready(self, members: list[str]) -> Iterator[str]:
        """Those that can be crafted by hand from what is left."""
        for item in members:
            for recipe in self.domain.recipes.get(item, ()):
                if not recipe.needs_table and all(
                    sum(self.left[each] for each in self.domain.expand(name)) >= count
                    for name, count in recipe.ingredients
                ):
                    yield item

    def tool(self, fit: frozenset[str]) -> None:
        """Sees to it that one of these tools is held, the one of the lowest tier that there is a way to."""
        if not fit or any(self.left[tool] > 0 for tool in fit):
            return
        tiers = self.domain.tool_tiers
        able = [tool for tool in sorted(fit) if self.facts.effort(tool) < inf]
        if not able:
            raise NoWayError(self.facts.lacking(min(fit)))
        self.get(
            min(able, key=lambda tool: (self.facts.effort(tool), tiers.index(self.domain.tools[tool][1]))), 1
        )

    def station(self, name: str) -> None:
        """Sees to it that a station is at hand."""
        if name in self.near:
            return
        self.get(name, 1)
        # It is put down, and taken up again by whoever leaves.
        self.near.add(name)
        self.left[name] -= 1

    def _smelt(self, item: str, count: int) -> None:
        before = min(
            (each for each, after in sorted(self.domain.smelting.items()) if after == item),
            key=self.facts.effort,
        )
        self.reserve(before, count)
        fuel = self._fuel(count)
        self.station(self.domain.smelting_station)
        self.steps.append(Step("smelt", item, count, before, fuel))

    def _fuel(self, count: int) -> str:
        """Fuel for so many pieces: coal where there is enough of it, else planks."""
        fuels = self.domain.fuels
        for fuel in ("charcoal", "coal"):
            if self.left[fuel] * fuels[fuel] >= count:
                self.left[fuel] -= ceil(count / fuels[fuel])
                return fuel
        planks = sorted(self.domain.expand("#planks") & fuels.keys())
        held = [item for item in planks if self.left[item] * fuels[item] >= count]
        fuel = held[0] if held else self.facts.easiest("#planks")
        needed = ceil(count / fuels[fuel])
        self.get(fuel, needed)
        self.left[fuel] -= needed
        return fuel

    def _craft(self, item: str, short: int) -> None:
        recipe = self.facts.recipe(item)
        times = ceil(short / recipe.count)
        # What lies deepest last: nobody has to come up again for the rest.
        for name, count in sorted(recipe.ingredients, key=lambda row: (self.facts.effort(row[0]), row[0])):
            self.reserve(name, count * times)
        if recipe.needs_table:
            self.station(self.domain.crafting_station)
        self.steps.append(Step("craft", item, times))
        self.left[item] += times * recipe.count

    def merged(self) -> list[Step]:
        """The steps with equal gatherings put together, where the first one is; what a bare hand can gather
        comes before all else, wood first."""
        order: list[tuple[Step, list[int]]] = []
        known: dict[tuple[str, str, str], list[int]] = {}
        for step in self.steps:
            key = (step.kind, step.target, step.item)
            if step.kind in _GATHERS and key in known:
                known[key][0] += step.count
                continue
            count = [step.count]
            order.append((step, count))
            if step.kind in _GATHERS:
                known[key] = count
        whole = [replace(step, count=count[0]) for step, count in order]
        front = [step for step in whole if step.kind in _GATHERS and step.bare]
        logs = self.domain.expand("#logs")
        front.sort(key=lambda step: step.item not in logs)
        return front + [step for step in whole if step not in front]
