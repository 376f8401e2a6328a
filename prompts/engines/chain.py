"""How the stand-in plans: backwards from what is wanted, by its beliefs and what a request's knowledge says.

A chain is an errand (prompts/engines/errands.py) of any length; knowledge enters it as `Guidance`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from prompts.engines.errands import Errand, NoWayError, TooLongError, alternatives
from prompts.engines.guidance import OBTAINING, Action, Guidance, Operator, product_of, reaches
from warehouse.knowledge import Step

LONGEST: Final = 64
"""steps of a chain; more than any way through a domain takes, so that only a belief in circles meets it"""
_MOVES_AWAY: Final = frozenset({"mine", "combat", "move"})


class Chain(Errand):
    """An errand of any length that follows operators and remembers which step came by which knowledge."""

    def __init__(
        self,
        guidance: Guidance,
        held: Mapping[str, int],
        near: Iterable[str] = (),
        standing: Iterable[str] = (),
    ) -> None:
        super().__init__(guidance.facts, held, near)
        self.guidance = guidance
        self.credits: dict[Action, tuple[str, ...]] = {}
        self._standing |= set(standing)

    def obtain(self, name: str, count: int) -> None:
        """`count` of `name` held in the end; `NoWayError` if beliefs and knowledge give no way."""
        self.acquire(name, count)

    def try_directly(self, name: str) -> None:
        """What can be done towards making `name` although there is no known way: what of it can be got is
        got, and then it is tried. Somebody who does not know better does so, and learns from what happens."""
        kind = "craft" if name in self.facts.recipes else "mine"
        for recipe in self.facts.recipes.get(name, ())[:1]:
            for ingredient, count in recipe.ingredients:
                trial = self._copy()
                try:
                    trial.acquire(ingredient, count)
                except NoWayError:
                    continue
                self._become(trial)
            if recipe.needs_table:
                self.reach_station(self.facts.crafting_station)
        self._inventory[name] += 1
        self._add(self._step(kind, name, 1, name))

    def append(self, step: Step) -> None:
        """One more step, as it stands."""
        self._add(step)

    def labels_of(self, step: Step) -> tuple[str, ...]:
        """The labels of the knowledge that a step was planned with."""
        action = (step.kind, step.target)
        return tuple(dict.fromkeys((*self.credits.get(action, ()), *self.guidance.credits.get(action, ()))))

    def _produce(self, name: str, count: int) -> None:
        if name not in self._under_way:
            for operator in self.guidance.operators_for(name):
                trial = self._copy()
                trial._under_way = (*self._under_way, name)
                try:
                    trial._carry_out(operator, count)
                except NoWayError:
                    continue
                self._become(trial)
                return
        super()._produce(name, count)

    def _carry_out(self, operator: Operator, count: int) -> None:
        times = math.ceil(count / operator.gain)
        needs = {name: number * times for name, number in operator.amounts}
        for tool in operator.tools:
            self.have(tool)
        for name, number in needs.items():
            self.acquire(name, number)
        for station in operator.stations:
            self.reach_station(station)
        self._spend(needs)
        after = self._inventory.copy()
        for step in operator.steps:
            self._take(step, times, operator)
        for name, number in operator.effects.items():
            after[name] += number * times
        # What steps on the way made and used up again is not held: only the effects are known to remain.
        self._inventory = after

    def _take(self, step: Step, times: int, operator: Operator) -> None:
        action = (step.kind, step.target)
        if step.target in self.facts.stations and reaches(step):
            self.reach_station(step.target or "")
        elif step.kind in OBTAINING and step.target is not None:
            last = step is operator.steps[-1]
            product = operator.makes if last else product_of(step, self.facts)
            if step.kind == "craft":
                self._use_up(step.target, step.count * times)
            self._inventory[product] += max(step.count, operator.gain if last else 0) * times
            self._add(self._step(step.kind, step.target, step.count * times, product))
        else:
            self._add(step)
        self.credits[action] = tuple(dict.fromkeys((*self.credits.get(action, ()), operator.label)))

    def _use_up(self, made: str, count: int) -> None:
        """What crafting `made` takes, by belief, of what is there; it decides no more than later totals."""
        for recipe in self.facts.recipes.get(made, ()):
            needs = {name: number * math.ceil(count / recipe.count) for name, number in recipe.ingredients}
            if all(self.available(name) >= number for name, number in needs.items()):
                for name, number in needs.items():
                    self._set_aside(name, number)
                self._spend(needs)
                return

    def _follow(self, kind: str, target: str, name: str, count: int) -> None:
        if kind == "mine":
            target = self._widened(target, name)
        super()._follow(kind, target, name, count)

    def _widened(self, block: str, name: str) -> str:
        """A tag of blocks that are as near as `block` and yield `name` as well, where no tool is needed; of
        several such blocks without a tag the one of the shortest name, which is the commonest."""
        facts = self.facts
        wanted = facts.expand(name)
        alike = [
            other
            for other, effort in facts.block_effort.items()
            if effort == facts.block_effort.get(block)
            and other not in facts.harvest
            and wanted & frozenset(facts.drops[other])
        ]
        if block not in alike or (name.startswith("#") and block in facts.tags[name[1:]]):
            return block
        widest = alternatives(facts, alike)[0]
        return widest if widest.startswith("#") else min(alike, key=lambda each: (len(each), each))

    def _keys(self, name: str) -> list[str]:
        # Asked some thousand times for a plan, hence remembered.
        return [key for key in sorted(self._inventory) if self.guidance.counts_as(key, name)]

    def _smelt(self, product: str, count: int) -> None:
        if product not in self.guidance.without_fuel:
            super()._smelt(product, count)
            return
        inputs = [before for before, after in sorted(self.facts.smelting.items()) if after == product]

        def follow(trial: Errand, before: str) -> None:
            trial.acquire(before, count)
            trial.reach_station(self.facts.smelting_station)
            trial._spend({before: count})
            trial._inventory[product] += count
            trial._add(trial._step("smelt", product, count, product))

        self._least_effort(alternatives(self.facts, inputs), follow, product)

    def _add(self, step: Step) -> None:
        last = self.steps[-1] if self.steps else None
        if last is not None and (last.kind, last.target) == (step.kind, step.target) and step.target:
            # Its check already counts all that is held after both.
            self.steps[-1] = step.model_copy(update={"count": last.count + step.count})
        else:
            self.steps.append(step)
        if len(self.steps) > LONGEST:
            raise TooLongError(f"more than {LONGEST} steps")
        if step.kind in _MOVES_AWAY:
            self._near = set(self.facts.stations & {step.target}) if step.kind == "move" else set()

    def _copy(self) -> Chain:
        other = Chain(self.guidance, self._held)
        other._become(self)
        other._under_way = self._under_way
        return other

    def _become(self, other: Errand) -> None:
        super()._become(other)
        if isinstance(other, Chain):
            self.credits = dict(other.credits)
