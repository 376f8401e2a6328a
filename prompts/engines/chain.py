"""How the stand-in plans: backwards from what is wanted, by its beliefs and what a request's knowledge says.

A chain is an errand (prompts/engines/errands.py) of any length; knowledge enters it as `Guidance`.

A skill is one way that worked, from where it was begun. From here another may be shorter, with what is held:

- of several skills the one of least effort from here is followed, and what it brings about that holds already
  is left out of it;
- a way by belief is taken instead where it is no longer and does at least as much of everything that some
  skill did. Where belief would do less (no station, fewer of something), the skill is what corrects it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

from prompts.engines.errands import Errand, NoWayError, TooLongError, alternatives, inputs_of
from prompts.engines.guidance import OBTAINING, Guidance, Operator, reaches
from prompts.engines.tried import Action, speaks_of
from warehouse.domains import Domain, Recipe
from warehouse.grammar import known_names
from warehouse.knowledge import Step

LONGEST: Final = 64
"""steps of a chain; more than any way through a domain takes, so that only a belief in circles meets it"""
_GATHERING: Final = frozenset({"mine", "combat"})


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
        kind = "craft" if name in self.facts.recipes else "combat" if name in self.facts.entities else "mine"
        for recipe in self.facts.recipes.get(name, ())[:1]:
            for ingredient, count in recipe.ingredients:
                self._if_possible(Chain.acquire, ingredient, count)
            for station in self.facts.stations_of(recipe):
                self._if_possible(Chain.reach_station, station)
        self._inventory[name] += 1
        self._add(self._step(kind, name, 1, name))

    def _if_possible(self, what: Callable[..., None], *of: str | int) -> None:
        trial = self._copy()
        try:
            what(trial, *of)
        except NoWayError:
            return
        self._become(trial)

    def append(self, step: Step) -> None:
        """One more step, as it stands."""
        self._add(step)

    def labels_of(self, step: Step) -> tuple[str, ...]:
        """The labels of the knowledge that a step was planned with."""
        action = (step.kind, step.target)
        return tuple(dict.fromkeys((*self.credits.get(action, ()), *self.guidance.credits.get(action, ()))))

    def _produce(self, name: str, count: int) -> None:
        operators = [] if name in self._under_way else self.guidance.operators_for(name)
        ways: list[Chain] = []
        for operator in operators:
            trial = self._copy()
            trial._under_way = (*self._under_way, name)
            with suppress(NoWayError):
                trial._carry_out(operator, count)
                ways.append(trial)
        borne_out = [each for each in operators if self._is_within_belief(each)]
        if not ways or borne_out:
            trial = self._copy()
            trial._under_way = self._under_way
            try:
                Errand._produce(trial, name, count)
            except NoWayError:
                if not ways:
                    raise
            else:
                if borne_out:
                    trial._credit_like(borne_out[0], len(self.steps))
                ways.insert(0, trial)
        self._become(min(ways, key=lambda way: way.effort()))

    def _is_within_belief(self, operator: Operator) -> bool:
        """Whether belief, from where a skill began, does at least as much of all that the skill did."""
        known = self.guidance.within_belief.get(operator.label)
        if known is None:
            known = self.guidance.within_belief[operator.label] = self._does_as_much(operator)
        return known

    def _does_as_much(self, operator: Operator) -> bool:
        held = {**dict(operator.amounts), **dict.fromkeys(operator.tools, 1)}
        believed = Chain(self.guidance.without_skills, held, standing=operator.stations)
        try:
            believed._produce(operator.makes, operator.gain)
        except NoWayError:
            return False
        if any(believed.relied_on[name] < number for name, number in held.items()):
            return False
        for station in operator.stations:
            if not any(reaches(step, self.facts) and step.target == station for step in believed.steps):
                return False
        return all(believed._has_like(step, operator) for step in operator.steps)

    def _has_like(self, wanted: Step, operator: Operator) -> bool:
        if wanted.target is None:
            return True  # getting on is no part of what something takes
        if reaches(wanted, self.facts):
            return any(reaches(step, self.facts) and step.target == wanted.target for step in self.steps)
        like = [step for step in self.steps if _alike(step, wanted, self.facts)]
        left = 0
        if wanted is not operator.steps[-1]:
            left = operator.effects.get(operator.product(wanted, self.facts), 0)
        return bool(like) and sum(step.count for step in like) >= wanted.count - max(0, left)

    def _credit_like(self, operator: Operator, first: int) -> None:
        """A skill is what bears out the steps that it took as well."""
        for step in self.steps[first:]:
            if any(_alike(step, each, self.facts) for each in operator.steps):
                self._credit((step.kind, step.target), operator.label)

    def _credit(self, action: Action, label: str) -> None:
        self.credits[action] = tuple(dict.fromkeys((*self.credits.get(action, ()), label)))

    def _carry_out(self, operator: Operator, count: int) -> None:
        operator, times = self._repeated(operator, math.ceil(count / operator.gain))
        steps, amounts = self._left_to_do(operator, times)
        needs = {name: number * times for name, number in amounts.items()}
        for tool in operator.tools:
            self.have(tool)
        for name, number in needs.items():
            self.acquire(name, number)
        for station in operator.stations:
            self.reach_station(station)
        before = self._inventory.copy()
        left = Counter(needs)
        for step, more in steps:
            self._take(step, more, operator, left)
        self._spend(left)
        # What steps on the way made and used up again is not held: only the effects are known to remain.
        after = Counter({key: min(before[key], self._inventory[key]) for key in before})
        spared = self._spared(operator, times, steps)
        for name, number in operator.effects.items():
            was_held = sum(
                saved for product, saved in spared.items() if self.guidance.counts_as(name, product)
            )
            after[name] += max(0, number * times - was_held)
        self._inventory = after

    def _repeated(self, operator: Operator, times: int) -> tuple[Operator, int]:
        """An operator that is wanted several times, and how often all of its steps are. One that ends in
        gathering prepares for it once: the tool that it made is there for the next block as well."""
        last = operator.steps[-1]
        if times == 1 or last.kind not in _GATHERING:
            return operator, times
        counts = self.guidance.counts_as
        effects = {
            name: number * times if counts(name, operator.makes) or counts(operator.makes, name) else number
            for name, number in operator.effects.items()
        }
        more = last.model_copy(update={"count": last.count * times})
        steps = (*operator.steps[:-1], more)
        return operator._replace(steps=steps, gain=operator.gain * times, effects=effects), 1

    def _spared(self, operator: Operator, times: int, steps: list[tuple[Step, int]]) -> dict[str, int]:
        """How many of what its steps bring are not brought, because they were there."""
        brought: Counter[str] = Counter()
        for step in operator.steps[:-1]:
            brought[operator.product(step, self.facts)] += step.count * times
        for step, count in steps[:-1]:
            brought[operator.product(step, self.facts)] -= count
        return {name: number for name, number in brought.items() if number > 0 and name != operator.makes}

    def _left_to_do(self, operator: Operator, times: int) -> tuple[list[tuple[Step, int]], dict[str, int]]:
        """The steps of an operator that are still to be done, with their numbers, and what they take of what
        it started with.

        A step is left out where what it brings is at hand, and where all that takes up what it brings, by
        belief, is left out; of what is gathered, what is at hand is not gathered again. What the operator
        started with is not at hand: it had that beside what its steps brought. What belief sees no use for is
        done: the skill may know one.
        """
        *before, last = operator.steps
        kept = [(last, last.count * times)]
        left_out: list[Step] = []
        spoken_for = Counter({name: number * times for name, number in operator.amounts})
        for step in reversed(before):
            count, product = step.count * times, operator.product(step, self.facts)
            # A station that was made on the spot is gone to again where it stands: that is no step left out.
            if step.kind in OBTAINING and step.target is not None and not reaches(step, self.facts):
                if self._is_moot(product, [each for each, _ in kept], left_out):
                    left_out.append(step)
                    continue
                spare = self._spare(product, spoken_for)
                if spare >= count or product in self._near | self._standing:
                    spoken_for[product] += min(spare, count)
                    left_out.append(step)
                    continue
                if step.kind in _GATHERING:
                    spoken_for[product] += spare
                    count -= spare
            kept.insert(0, (step, count))
        amounts = {}
        for name, number in operator.amounts:
            users = [step for step in operator.steps if self._takes(step, name)]
            if not users or any(step in users for step, _ in kept):
                amounts[name] = number
        return kept, amounts

    def _is_moot(self, product: str, kept: list[Step], left_out: list[Step]) -> bool:
        """Whether all that takes up a product is left out."""
        return any(self._takes(each, product) for each in left_out) and not any(
            self._takes(each, product) for each in kept
        )

    def _spare(self, product: str, spoken_for: Mapping[str, int]) -> int:
        """How many of a product are held that are not spoken for."""
        counts = self.guidance.counts_as
        taken = (number for key, number in spoken_for.items() if counts(key, product) or counts(product, key))
        return max(0, self.available(product) - sum(taken))

    def _takes(self, step: Step, name: str) -> bool:
        """Whether a step takes `name`, by belief: as an ingredient, a tool, a fuel, or to put it down."""
        facts, counts = self.facts, self.guidance.counts_as
        target = step.target or ""
        if step.kind in ("use", "move"):
            return target == name
        if step.kind == "mine":
            names = known_names(target, facts)
            return any(name in facts.fit_tools(block) for block in names)
        made = sorted(facts.expand(target)) or [target]
        if step.kind == "smelt":
            given = [before for before, after in facts.smelting.items() if after in made]
            return any(counts(each, name) or counts(name, each) for each in (*given, *facts.fuels))
        return any(
            counts(each, name) or counts(name, each)
            for item in made
            for recipe in facts.recipes.get(item, ())
            for each, _ in recipe.ingredients
        )

    def _take(self, step: Step, count: int, operator: Operator, left: Counter[str]) -> None:
        """`count` of a step of an operator; `left` is what is still there of what the operator started with,
        which is set aside and is held until a step uses it up."""
        if step.target in self.facts.stations and reaches(step, self.facts):
            self.reach_station(step.target or "")
        elif step.kind in OBTAINING and step.target is not None:
            last = step is operator.steps[-1]
            product = operator.makes if last else operator.product(step, self.facts)
            if step.kind == "craft":
                # A remedy that speaks of this very action has seen it fail, whatever a skill leaves open.
                if not operator.amounts or step.target in self.guidance.supplied:
                    self._supply(step.target, count, left)
                self._use_up(step.target, count, left)
            self._inventory[product] += max(count, operator.gain * (count // step.count) if last else 0)
            self._add(self._step(step.kind, step.target, count, product))
        else:
            self._add(step)
        self._credit((step.kind, step.target), operator.label)

    def _supply(self, made: str, count: int, left: Mapping[str, int]) -> None:
        """What crafting `made` takes, by belief, where what is known of it says nothing of what goes in: that
        something was made does not mean that it was made of nothing."""
        known = self._recipes_of(made)

        def bring(trial: Errand, choice: str) -> None:
            recipe = known[int(choice)]
            for name, number in inputs_of(self.facts, made, recipe):
                needed = number * math.ceil(count / recipe.count)
                short = needed - trial.available(name) - self._of(left, name)
                if short > 0:
                    trial._produce(name, short)

        with suppress(NoWayError):
            self._least_effort(map(str, range(len(known))), bring, made)

    def _use_up(self, made: str, count: int, left: Counter[str]) -> None:
        """What crafting `made` takes, by belief, of what is there; it decides no more than later totals."""
        for recipe in self._recipes_of(made):
            times = math.ceil(count / recipe.count)
            needs = {name: number * times for name, number in inputs_of(self.facts, made, recipe)}
            if all(self.available(name) + self._of(left, name) >= number for name, number in needs.items()):
                for name, number in needs.items():
                    new = min(number, self.available(name))
                    self._set_aside(name, new)
                    self._spend({name: new})
                    self._spend(self._taken(left, name, number - new))
                return

    def _recipes_of(self, made: str) -> tuple[Recipe, ...]:
        """The recipes of `made`; for a `#tag` of products made alike, those of the first that has any."""
        if not made.startswith("#"):
            return self.facts.recipes.get(made, ())
        alike = (self.facts.recipes.get(each, ())[:1] for each in sorted(self.facts.expand(made)))
        return next((recipe for recipe in alike if recipe), ())

    def _of(self, amounts: Mapping[str, int], name: str) -> int:
        return sum(number for key, number in amounts.items() if self.guidance.counts_as(key, name))

    def _taken(self, left: Counter[str], name: str, count: int) -> dict[str, int]:
        """`count` of what counts as `name`, out of `left`."""
        taken = {}
        for key in sorted(left):
            if count > 0 and self.guidance.counts_as(key, name):
                taken[key] = min(count, left[key])
                left[key] -= taken[key]
                count -= taken[key]
        return taken

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
        self._stand_after(step)

    def _copy(self) -> Chain:
        other = Chain(self.guidance, self._held)
        other._become(self)
        other._under_way = self._under_way
        return other

    def _become(self, other: Errand) -> None:
        super()._become(other)
        if isinstance(other, Chain):
            self.credits = dict(other.credits)


def _alike(one: Step, other: Step, facts: Domain) -> bool:
    return speaks_of((one.kind, one.target), (other.kind, other.target), facts)
