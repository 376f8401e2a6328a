"""What a request's knowledge says to the stand-in: corrected facts, operators, and steps to insert.

- A skill is an operator: where it makes what is wanted, its preconditions are brought about and its steps
  taken, whatever is believed about that target. A remedy that replaces the failed action is one too.
- A remedy about a station, a tool, an ingredient or fuel corrects the belief about its action, so that a plan
  supplies what was missing before the step that needs it.
- What a remedy says beyond that (clear the way, look elsewhere) is put before the step it is about, as is. Of
  several about what failed just now one is followed at a time: the nearest to it that was not tried in vain.

Nothing else corrects a belief.
"""

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from prompts.engines.beliefs import Beliefs
from prompts.engines.tried import Action, Tried, speaks_of
from prompts.plan_responses import LABEL_LENGTH
from warehouse.domains import Domain, Recipe
from warehouse.entries import Entry
from warehouse.grammar import known_names
from warehouse.knowledge import Check, RemedyContent, SkillContent, Step

OBTAINING: Final = frozenset({"mine", "craft", "smelt", "combat"})
_CLEAR: Final = (Check(type="path_clear"),)

COPIES_KEPT: Final = 64
"""corrected copies of facts that are remembered, a megabyte or two each"""


class Operator(NamedTuple):
    """A way to `gain` of `makes` that knowledge tells: what must be there, the steps, what they bring."""

    label: str
    makes: str
    gain: int
    tools: tuple[str, ...]
    amounts: tuple[tuple[str, int], ...]
    stations: tuple[str, ...]
    steps: tuple[Step, ...]
    effects: Mapping[str, int]

    def product(self, step: Step, facts: Domain) -> str:
        """`product_of` a step of this operator. Of the several things that a creature or a block leaves it is
        the one that the operator makes, or that a later step takes by belief."""
        left = _left_by(step, facts)
        if len(left) < 2:
            return product_of(step, facts)
        later = self.steps[self.steps.index(step) + 1 :] if step in self.steps else ()
        taken = frozenset().union(*(_inputs_of(each, facts) for each in later), facts.expand(self.makes))
        return next((name for name in left if name in taken), product_of(step, facts))


class Insertion(NamedTuple):
    """Steps that a remedy, or several that say the same, put before the action they are about."""

    labels: tuple[str, ...]
    before: Action
    steps: tuple[Step, ...]


class Guidance:
    """What a request's knowledge says, on top of beliefs: corrected facts, operators, and steps to insert.

    `tried` is what the episode has tried: a remedy about getting on again (as against one about a
    prerequisite) is followed where its failure has just happened and nowhere else, since elsewhere nothing is
    in the way.
    """

    def __init__(
        self,
        beliefs: Beliefs,
        skills: Sequence[Entry],
        remedies: Sequence[Entry],
        tried: Tried | None = None,
    ) -> None:
        self.facts = beliefs.facts
        self.without_fuel = set(beliefs.without_fuel)
        self.operators: list[Operator] = []
        self.insertions: list[Insertion] = []
        self.credits: dict[Action, list[str]] = {}
        """action -> labels of the remedies that speak of it or supply it"""
        self.within_belief: dict[str, bool] = {}
        """label of an operator -> whether belief does at least as much as it (prompts/engines/chain.py)"""
        self.supplied: set[str] = set()
        """what was crafted in vain for want of something that a remedy names"""
        self._tried = tried or Tried((), beliefs.facts)
        self._urgent: list[tuple[tuple[bool, float], Insertion]] = []
        self._counted: dict[tuple[str, str], bool] = {}
        self._recipes = dict(self.facts.recipes)
        self._harvest = dict(self.facts.harvest)
        for entry in skills:
            if isinstance(entry.content, SkillContent):
                self.operators.append(_operator_of_skill(entry, entry.content, self.facts))
        for entry in remedies:
            if isinstance(entry.content, RemedyContent):
                self._follow(entry, entry.content)
        self.urgent = self._first_untried()
        """what to do about the action that failed just now, if a remedy that was not tried in vain says it"""
        if self.urgent is not None:
            self.insertions.insert(0, self.urgent)
        self.facts = _with(self.facts, self._new_recipes(), self._new_harvest())

    @cached_property
    def without_skills(self) -> "Guidance":
        """The same without operators: what would be done by corrected beliefs alone."""
        alone = copy.copy(self)
        alone.operators = []
        return alone

    def operators_for(self, name: str) -> list[Operator]:
        """The operators that make `name` (or a member of the tag), in the order of their relevance."""
        wanted = self.facts.expand(name)
        return [
            operator
            for operator in self.operators
            if operator.makes == name
            or (self.facts.expand(operator.makes) and self.facts.expand(operator.makes) <= wanted)
        ]

    def counts_as(self, key: str, name: str) -> bool:
        """Whether what is held as `key` (an item or a `#tag`) counts as `name`: it is that, or within it."""
        known = self._counted.get((key, name))
        if known is None:
            inner, outer = self.facts.expand(key), self.facts.expand(name)
            known = key == name or bool(inner and outer and inner <= outer)
            self._counted[key, name] = known
        return known

    def _follow(self, entry: Entry, content: RemedyContent) -> None:
        label = entry.entry_id[:LABEL_LENGTH]
        risk = (content.risk.kind or "", content.risk.target)
        before = [step for step in content.repair if (step.kind, step.target) != risk]
        if len(before) == len(content.repair):
            if risk[1] is not None:
                self.operators.append(_operator_of_remedy(label, risk[1], content))
            return
        if content.category not in ("missing_prerequisite", "generic"):
            self._note_urgent(entry, content.risk.failure_type, risk, tuple(before))
            return
        rest = self._correct(entry, risk, before)
        if rest:
            self.insertions.append(Insertion((label,), risk, tuple(rest)))
        self._credit(risk, label)

    def _note_urgent(self, entry: Entry, failure: str, risk: Action, steps: tuple[Step, ...]) -> None:
        failing = self._tried.failing
        if failing is None or failure != self._tried.failure or not speaks_of(risk, failing, self.facts):
            return
        # One about this very action is nearer to it than one about its like; then the surer goes first, be it
        # curated or of this episode; of equals the first shown.
        weight = (risk == failing, entry.confidence)
        new = Insertion((entry.entry_id[:LABEL_LENGTH],), failing, steps)
        for at, (known_weight, known) in enumerate(self._urgent):
            if _same_steps(known.steps, steps):
                both = known._replace(labels=(*known.labels, *new.labels))
                self._urgent[at] = max(known_weight, weight), both
                return
        self._urgent.append((weight, new))

    def _first_untried(self) -> Insertion | None:
        ranked = sorted(self._urgent, key=lambda each: each[0], reverse=True)
        return next((each for _, each in ranked if not self._tried.in_vain(each.steps)), None)

    def _correct(self, entry: Entry, risk: Action, before: list[Step]) -> list[Step]:
        """Corrects the beliefs about the risk's action; the steps that no belief can take up are left."""
        kind, target = risk
        label = entry.entry_id[:LABEL_LENGTH]
        stations = {
            step.target for step in before if step.target and reaches(step, self.facts)
        } & self.facts.stations
        supplies = _supplies(entry, before, stations)
        if kind == "craft" and target in self._recipes and stations <= {self.facts.crafting_station}:
            self._recipes[target] = tuple(
                _corrected(recipe, bool(stations), supplies, self.facts) for recipe in self._recipes[target]
            )
            if supplies:
                self.supplied.add(target)
        elif kind == "mine" and target is not None and not stations and supplies.keys() & self.facts.tools:
            for block in sorted(known_names(target, self.facts) & self.facts.blocks):
                self._harvest[block] = self.facts.tools[min(supplies.keys() & self.facts.tools)]
        elif kind == "smelt" and target in self.without_fuel and supplies.keys() & _fuels(self.facts):
            self.without_fuel.discard(target)
        elif kind == "smelt" and stations == {self.facts.smelting_station}:
            pass  # no belief leaves out where something is smelted
        else:
            return before
        for station in sorted(stations):
            self._credit(("use", station), label)
            self._credit(("move", station), label)
        for name in supplies:
            for source in sorted(OBTAINING):
                self._credit((source, name), label)
        return []

    def _new_recipes(self) -> tuple[tuple[str, tuple[Recipe, ...]], ...]:
        before = self.facts.recipes
        return tuple((item, known) for item, known in self._recipes.items() if known != before[item])

    def _new_harvest(self) -> tuple[tuple[str, tuple[str, str]], ...]:
        before = self.facts.harvest
        return tuple((block, tool) for block, tool in self._harvest.items() if tool != before.get(block))

    def _credit(self, action: Action, label: str) -> None:
        labels = self.credits.setdefault(action, [])
        if label not in labels:
            labels.append(label)


@lru_cache(maxsize=COPIES_KEPT)
def _with(
    facts: Domain,
    recipes: tuple[tuple[str, tuple[Recipe, ...]], ...],
    harvest: tuple[tuple[str, tuple[str, str]], ...],
) -> Domain:
    """`facts` with these recipes and tools. The ways through a domain are worked out anew for every copy, and
    the same corrections come again from request to request."""
    if not recipes and not harvest:
        return facts
    return replace(
        facts, recipes={**facts.recipes, **dict(recipes)}, harvest={**facts.harvest, **dict(harvest)}
    )


def product_of(step: Step, facts: Domain) -> str:
    """The item, or the `#tag` of items, whose number tells that a step of obtaining was done."""
    target = step.target or ""
    if step.kind in ("craft", "smelt"):
        return target
    table = facts.drops if step.kind == "mine" else facts.entity_drops
    names = sorted(known_names(target, facts)) if target.startswith("#") else [target]
    usual = frozenset(table[name][0] for name in names if table.get(name))
    if target.startswith("#") and usual == facts.expand(target):
        return target
    return facts.narrowest_tag(usual) or target


def _left_by(step: Step, facts: Domain) -> tuple[str, ...]:
    """All that a block or a creature leaves, in the order of the facts; of several ones nothing."""
    table = {"mine": facts.drops, "combat": facts.entity_drops}.get(step.kind, {})
    return tuple(table.get(step.target or "", ()))


def _inputs_of(step: Step, facts: Domain) -> frozenset[str]:
    """What a step can use up or put down, by belief."""
    makes = facts.expand(step.target or "")
    if step.kind == "craft":
        recipes = (recipe for item in sorted(makes) for recipe in facts.recipes.get(item, ()))
        named = (facts.expand(name) for recipe in recipes for name, _ in recipe.ingredients)
        return frozenset().union(*named)
    if step.kind == "smelt":
        given = {before for before, after in facts.smelting.items() if after in makes}
        return frozenset(given | facts.fuels.keys())
    return makes if step.kind == "use" else frozenset()


def _operator_of_skill(entry: Entry, content: SkillContent, facts: Domain) -> Operator:
    shown = [check.name for check in entry.verification if check.type == "inv_ge" and check.name]
    makes = shown[0] if shown else content.target or ""
    effects = {amount.name: amount.count for amount in content.effects if amount.count > 0}
    held: dict[str, int] = {}
    stations: list[str] = []
    for predicate in (*content.preconditions, *content.applicability):
        family, _, member = predicate.field.partition(".")
        bound = predicate.value
        if family == "near" and predicate.op == "eq" and bound is True:
            stations.append(member)
        elif family == "inventory" and predicate.op in ("ge", "gt", "eq") and isinstance(bound, int | float):
            least = math.ceil(bound) + (predicate.op == "gt")
            held[member] = max(held.get(member, 0), least)
    brings = facts.expand(makes) | {makes}
    ends = [
        place
        for place, step in enumerate(content.steps, 1)
        if step.kind in OBTAINING and (product_of(step, facts) in brings or brings & {*_left_by(step, facts)})
    ]
    of_makes = [effects[name] for name in sorted(effects) if name == makes or name in facts.expand(makes)]
    gain = max(1, *of_makes, content.count) if of_makes else content.count
    return Operator(
        label=entry.entry_id[:LABEL_LENGTH],
        makes=makes,
        gain=gain,
        tools=tuple(name for name in sorted(held) if name in facts.tools),
        amounts=tuple((name, held[name]) for name in sorted(held) if name not in facts.tools and held[name]),
        stations=tuple(stations),
        # What is done with a thing once it is there is no part of getting it.
        steps=content.steps[: ends[-1]] if ends else content.steps,
        effects=effects if of_makes else {**effects, makes: gain},
    )


def _operator_of_remedy(label: str, target: str, content: RemedyContent) -> Operator:
    gain = content.repair[-1].count
    return Operator(label, target, gain, (), (), (), content.repair, {target: gain})


def reaches(step: Step, facts: Domain) -> bool:
    return step.kind in ("use", "move") or facts.brings_into_reach(step.kind, step.target)


def _same_steps(one: Sequence[Step], other: Sequence[Step]) -> bool:
    """Whether two repairs do the same; how many of something they ask for makes no other repair."""
    parts = ([(step.kind, step.target, step.checks) for step in steps] for steps in (one, other))
    return next(parts) == next(parts)


def _fuels(facts: Domain) -> frozenset[str]:
    tags = {f"#{tag}" for tag, members in facts.tags.items() if members and members <= facts.fuels.keys()}
    return frozenset(facts.fuels) | tags


def _supplies(entry: Entry, before: Sequence[Step], stations: Collection[str]) -> dict[str, int]:
    """What a repair brings, by name: what its verification counts, else its last step of obtaining; nothing
    where it is there to reach a station, since all else is then on the way to that."""
    if stations:
        return {}
    counted = {
        check.name: max(1, int(check.value or 1))
        for check in entry.verification
        if check.type == "inv_ge" and check.name
    }
    if counted:
        return {name: counted[name] for name in sorted(counted)}
    obtained = [step for step in before if step.kind in OBTAINING and step.target and step.checks != _CLEAR]
    return {obtained[-1].target or "": obtained[-1].count} if obtained else {}


def _corrected(recipe: Recipe, needs_table: bool, supplies: Mapping[str, int], facts: Domain) -> Recipe:
    """A recipe that asks for what a remedy supplies: a number that was too low is raised, an ingredient that
    was not known is added."""
    ingredients = list(recipe.ingredients)
    for name, number in supplies.items():
        wanted = facts.expand(name)
        same = [at for at, (known, _) in enumerate(ingredients) if wanted & facts.expand(known)]
        if same:
            known, believed = ingredients[same[0]]
            ingredients[same[0]] = (known, max(believed, number))
        else:
            ingredients.append((name, number))
    return replace(recipe, ingredients=tuple(ingredients), needs_table=recipe.needs_table or needs_table)
