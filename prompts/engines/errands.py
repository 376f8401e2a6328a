"""How to get something, step by step, by one copy of a domain's facts: the stand-in's idea of its world.

An errand starts from what is held and which stations are in reach, and adds steps until what is wanted is
there: a tool before the block that needs it, ingredients before the recipe, the station before the craft,
fuel before the smelting. Of several ways the one of least effort is taken, ties in the order of names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from warehouse.domains import Domain, Recipe
from warehouse.knowledge import Check, Step

MAX_STEPS: Final = 12
_MAX_DEPTH: Final = 12
_WAYS_TRIED: Final = 3
_LEAST_EFFORT: Final = 1.0
"""of any one step; a choice that costs no more need not be compared with others"""
_MOVES_AWAY: Final = frozenset({"mine", "combat", "move"})


class NoWayError(Exception):
    """What is wanted cannot be got in the steps that a repair may have; the text says what and why."""


class TooLongError(NoWayError):
    """There is a way, in more steps than a repair may have. Not a reason to try a worse one."""


class Errand:
    """A growing list of steps, with what is held after them."""

    def __init__(self, facts: Domain, held: Mapping[str, int], near: Iterable[str] = ()) -> None:
        self.facts = facts
        self.steps: list[Step] = []
        self.relied_on: Counter[str] = Counter()
        """of what was held at the start: what the steps count on"""
        self._held = {name: held[name] for name in sorted(held)}
        self._inventory: Counter[str] = Counter(self._held)
        self._reserved: Counter[str] = Counter()
        self._near = set(near)
        self._standing = set(near)
        self._under_way: tuple[str, ...] = ()

    def available(self, name: str) -> int:
        """How many of `name` (or of a `#tag`'s members together) are held and not set aside."""
        return sum(self._inventory[key] - self._reserved[key] for key in self._keys(name))

    def acquire(self, name: str, count: int) -> None:
        """`count` of `name` set aside, from what is held or by new steps; `NoWayError` if that can't be."""
        short = count - self.available(name)
        if short > 0:
            self._produce(name, short)
        self._set_aside(name, count)

    def have(self, name: str) -> None:
        """At least one of `name`, to be used and kept."""
        if not any(self._inventory[key] > 0 for key in self._keys(name)):
            self._produce(name, 1)
        self._rely(next(key for key in self._keys(name) if self._inventory[key] > 0), 1)

    def reach_station(self, station: str) -> None:
        """`station` in reach: by going back to one that stands, by placing one, by making one."""
        if station in self._near:
            return
        if station in self._standing:
            self._add(Step(kind="move", target=station, checks=(_near(station),)))
        elif station in self.facts.built_in_place:
            self._produce(station, 1)
        else:
            self.acquire(station, 1)
            self._spend({station: 1})
            self._add(Step(kind="use", target=station, checks=(_near(station),)))
        self._near.add(station)
        self._standing.add(station)

    def reach_stations(self, stations: Sequence[str]) -> None:
        """All of `stations` in reach at once. Of several, the materials of those that have to be made are got
        first, and these are made beside one that stands: who goes for materials in between leaves it."""
        away = [station for station in stations if station not in self._near]
        if len(stations) < 2 or not away:
            for station in stations:
                self.reach_station(station)
            return
        anchor = next((each for each in stations if each in self._near | self._standing), None)
        made = [station for station in stations if station not in (anchor, *self._near)]
        for station in made:
            for recipe in self.facts.recipes.get(station, ())[:1]:
                for name, count in recipe.ingredients:
                    self.acquire(name, count)
        if anchor is not None:
            self.reach_station(anchor)
        for station in made:
            self._spend(dict(self.facts.recipes[station][0].ingredients))
            self._add(self._step("craft", station, 1, station))

    def hold_tool_for(self, block: str) -> None:
        """A tool with which `block` yields its drop, the lowest that will do; nothing if a hand does."""
        tools = self.facts.fit_tools(block)
        tiers = self.facts.tool_tiers
        if not tools:
            return
        at_hand = sorted(tool for tool in tools if self._inventory[tool] > 0)
        if at_hand:
            self._rely(at_hand[0], 1)
            return
        for tool in sorted(tools, key=lambda each: (tiers.index(self.facts.tools[each][1]), each)):
            trial = self._copy()
            try:
                trial.have(tool)
            except TooLongError:
                raise
            except NoWayError:
                continue
            self._become(trial)
            return
        raise NoWayError(f"no way to a tool that breaks {block}")

    def hold_fuel(self, items: int) -> None:
        """Fuel for smelting `items`, set aside: the first held one that suffices, else the least effort."""
        fuels = self.facts.fuels
        for fuel in sorted(fuels, key=lambda each: (-fuels[each], each)):
            if self.available(fuel) >= math.ceil(items / fuels[fuel]):
                self._set_aside(fuel, math.ceil(items / fuels[fuel]))
                return
        self.get_fuel(items)

    def get_fuel(self, items: int) -> str:
        """Fuel for smelting `items`, newly got and set aside; its name."""
        fuels = self.facts.fuels

        def units(name: str) -> int:
            return math.ceil(items / min(fuels[member] for member in self.facts.expand(name)))

        def get(trial: Errand, name: str) -> None:
            trial._produce(name, units(name))
            trial._set_aside(name, units(name))

        return self._least_effort(alternatives(self.facts, fuels), get, "fuel")

    def effort(self) -> float:
        """The relative effort of the steps, on the scale of `Domain.block_effort`."""
        total = 0.0
        for step in self.steps:
            names = [step.target or ""]
            if names[0].startswith("#"):
                names = sorted(self.facts.tags.get(names[0][1:], frozenset()))
            table = {"mine": self.facts.block_effort, "combat": self.facts.entity_effort}.get(step.kind, {})
            total += min((table[name] for name in names if name in table), default=1.0)
        return total

    def _produce(self, name: str, count: int) -> None:
        if name in self._under_way:
            raise NoWayError(f"no way to {name} that does not lead back to itself")
        if len(self._under_way) >= _MAX_DEPTH:
            raise TooLongError(f"{name} is more than {_MAX_DEPTH} needs away")
        ways = self.facts.sources(name)[:_WAYS_TRIED]
        reason = NoWayError(f"nothing is known to yield {name}")
        for kind, target in ways:
            trial = self._copy()
            trial._under_way = (*self._under_way, name)
            try:
                trial._follow(kind, target, name, count)
            except TooLongError:
                raise
            except NoWayError as error:
                reason = error
                continue
            self._become(trial)
            return
        raise reason

    def _follow(self, kind: str, target: str, name: str, count: int) -> None:
        match kind:
            case "mine":
                self.hold_tool_for(target)
                within = name.startswith("#") and target in self.facts.tags.get(name[1:], frozenset())
                self._gather(kind, name if within else target, name, count)
            case "craft":
                made, recipe_of = (name, target) if name.startswith("#") else (target, target)
                self._craft(made, recipe_of, count)
            case "smelt":
                self._smelt(target, count)
            case _:
                self._gather(kind, target, name, count)

    def _gather(self, kind: str, target: str, name: str, count: int) -> None:
        self._inventory[name] += count
        for position, step in enumerate(self.steps):
            # More of what is gathered anyway; earlier is never too early, since what it needs was met there.
            if (step.kind, step.target) == (kind, target):
                self._extend(position, count)
                return
        self._add(self._step(kind, target, count, name))

    def _craft(self, made: str, recipe_of: str, count: int) -> None:
        recipes = self.facts.recipes.get(recipe_of, ())

        def follow(trial: Errand, choice: str) -> None:
            recipe = recipes[int(choice)]
            times = math.ceil(count / recipe.count)
            needs = {name: number * times for name, number in inputs_of(self.facts, made, recipe)}
            for name, number in needs.items():
                trial.acquire(name, number)
            stations = self.facts.stations_of(recipe)
            trial.reach_stations(stations)
            trial._spend(needs)
            if made in self.facts.built_in_place:
                trial._add(trial._step("craft", made, 1, made))
                return
            trial._inventory[made] += recipe.count * times
            earlier = None if stations else trial._craft_to_extend(made, needs)
            if earlier is None:
                trial._add(trial._step("craft", made, recipe.count * times, made))
            else:
                trial._extend(earlier, recipe.count * times)

        self._least_effort([str(position) for position in range(len(recipes))], follow, made)

    def _craft_to_extend(self, made: str, needs: Iterable[str]) -> int | None:
        """An earlier step that crafts the same, if nothing after it brought what this craft needs."""
        brought: set[str | None] = set()
        for position in reversed(range(len(self.steps))):
            step = self.steps[position]
            if (step.kind, step.target) == ("craft", made):
                return position
            brought |= {step.target, *(check.name for check in step.checks)}
            if brought & set(needs):
                return None
        return None

    def _extend(self, position: int, count: int) -> None:
        step = self.steps[position]
        check = step.checks[0]
        more = check.model_copy(update={"value": (check.value or 0.0) + count})
        self.steps[position] = step.model_copy(update={"count": step.count + count, "checks": (more,)})

    def _smelt(self, product: str, count: int) -> None:
        inputs = [before for before, after in sorted(self.facts.smelting.items()) if after == product]

        def follow(trial: Errand, before: str) -> None:
            trial.acquire(before, count)
            trial.hold_fuel(count)
            trial.reach_station(self.facts.smelting_station)
            trial._spend({before: count})
            trial._inventory[product] += count
            trial._add(trial._step("smelt", product, count, product))

        self._least_effort(alternatives(self.facts, inputs), follow, product)

    def _least_effort(self, choices: Iterable[str], follow: Callable[[Errand, str], None], what: str) -> str:
        best: tuple[float, Errand, str] | None = None
        reason = NoWayError(f"nothing is known to yield {what}")
        least = self.effort() + _LEAST_EFFORT
        for choice in choices:
            trial = self._copy()
            try:
                follow(trial, choice)
            except NoWayError as error:
                reason = reason if isinstance(reason, TooLongError) else error
                continue
            effort = trial.effort()
            if best is None or effort < best[0]:
                best = effort, trial, choice
            if best[0] <= least:
                break
        if best is None:
            raise reason
        self._become(best[1])
        return best[2]

    def _step(self, kind: str, target: str, count: int, name: str) -> Step:
        if name in self.facts.built_in_place:
            return Step(kind=kind, target=target, count=count, checks=(_near(name),))
        # The check counts everything held by then, set aside or not, or it could be met before the step.
        total = sum(self._inventory[key] for key in self._keys(name))
        return Step(
            kind=kind,
            target=target,
            count=count,
            checks=(Check(type="inv_ge", name=name, value=float(total)),),
        )

    def _add(self, step: Step) -> None:
        last = self.steps[-1] if self.steps else None
        if last is not None and (last.kind, last.target) == (step.kind, step.target):
            # Its check already counts all that is held after both.
            self.steps[-1] = step.model_copy(update={"count": last.count + step.count})
        else:
            self.steps.append(step)
        if len(self.steps) > MAX_STEPS:
            raise TooLongError(f"more than {MAX_STEPS} steps")
        self._stand_after(step)

    def _stand_after(self, step: Step) -> None:
        """Which stations are in reach after a step, and which stand somewhere."""
        if step.kind in _MOVES_AWAY:
            self._near = set(self.facts.stations & {step.target}) if step.kind == "move" else set()
        elif step.kind == "craft" and step.target in self.facts.built_in_place:
            self._near.add(step.target or "")
            self._standing.add(step.target or "")

    def _keys(self, name: str) -> list[str]:
        """What in the inventory counts as `name`: itself, members of a tag, and tags within it."""
        members = self.facts.expand(name)
        return [
            key
            for key in sorted(self._inventory)
            if key == name or (members and self.facts.expand(key) and self.facts.expand(key) <= members)
        ]

    def _set_aside(self, name: str, count: int) -> None:
        for key in self._keys(name):
            taken = min(count, self._inventory[key] - self._reserved[key])
            self._reserved[key] += taken
            self._rely(key, taken)
            count -= taken

    def _rely(self, key: str, count: int) -> None:
        total = min(self.relied_on[key] + count, self._held.get(key, 0))
        if total > 0:
            self.relied_on[key] = total

    def _spend(self, needs: Mapping[str, int]) -> None:
        for name, count in needs.items():
            left = count
            for key in self._keys(name):
                used = min(left, self._reserved[key])
                self._reserved[key] -= used
                self._inventory[key] -= used
                left -= used

    def _copy(self) -> Errand:
        other = Errand(self.facts, self._held)
        other._become(self)
        other._under_way = self._under_way
        return other

    def _become(self, other: Errand) -> None:
        """Take over where `other` got to; what is under way is a matter of who asks, and stays."""
        self.steps = list(other.steps)
        self._inventory = other._inventory.copy()
        self._reserved = other._reserved.copy()
        self.relied_on = other.relied_on.copy()
        self._near = set(other._near)
        self._standing = set(other._standing)


def alternatives(facts: Domain, items: Iterable[str]) -> list[str]:
    """`items` in fewer words: the largest tags that hold nothing else, then what no such tag covers."""
    wanted = frozenset(items)
    tags = [tag for tag, members in facts.tags.items() if len(members) > 1 and members <= wanted]
    chosen: list[str] = []
    covered: set[str] = set()
    for tag in sorted(tags, key=lambda each: (-len(facts.tags[each]), each)):
        if not facts.tags[tag] <= covered:
            chosen.append(f"#{tag}")
            covered |= facts.tags[tag]
    return [*chosen, *sorted(wanted - covered)]


def inputs_of(facts: Domain, made: str, recipe: Recipe) -> tuple[tuple[str, int], ...]:
    """A recipe's ingredients; for a `#tag` of products made alike, what any of its members is made from."""
    if not made.startswith("#") or len(recipe.ingredients) != 1:
        return recipe.ingredients
    number = recipe.ingredients[0][1]
    union: frozenset[str] = frozenset()
    for member in sorted(facts.expand(made)):
        for other in facts.recipes.get(member, ())[:1]:
            if len(other.ingredients) != 1 or other.ingredients[0][1] != number:
                return recipe.ingredients
            union |= facts.expand(other.ingredients[0][0])
    tag = facts.narrowest_tag(union)
    return ((tag, number),) if tag is not None else recipe.ingredients


def _near(station: str) -> Check:
    return Check(type="station_near", name=station)
