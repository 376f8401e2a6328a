"""The stand-in's skills: what all cited successes did, and what they all had and gained."""

from typing import NamedTuple

from prompts.engines.errands import MAX_STEPS
from prompts.engines.repairs import AbstainedError
from prompts.situations import SkillSituation
from warehouse.domains import Domain
from warehouse.knowledge import Check, Predicate, Step


class Routine(NamedTuple):
    """What a skill says beyond its situation."""

    steps: tuple[Step, ...]
    preconditions: tuple[Predicate, ...]
    effects: tuple[tuple[str, int], ...]
    verification: tuple[Check, ...]


def routine_for(situation: SkillSituation, facts: Domain) -> Routine:
    """The routine that the cited successes share; raises `AbstainedError` where they share none."""
    if not situation.order:
        raise AbstainedError("no step was seen to be done")
    if len(situation.order) > MAX_STEPS:
        raise AbstainedError(f"{len(situation.order)} steps, more than a skill may have")
    steps = tuple(_shared_step(situation, position, facts) for position in range(len(situation.order)))
    if not any(_does(step, situation, facts) for step in steps):
        raise AbstainedError(f"no observed step is {situation.kind} {situation.target}")
    return Routine(
        steps=steps,
        preconditions=_preconditions(situation, steps, facts),
        effects=tuple(situation.gains.items()),
        verification=(_verification(situation, facts),),
    )


def _shared_step(situation: SkillSituation, position: int, facts: Domain) -> Step:
    """The step at `position`: its object, or the narrowest tag over the objects; the smallest count."""
    seen = [row.steps[position] for row in situation.cited]
    objects = frozenset(step.target for step in seen if step.target is not None)
    target = facts.narrowest_tag(objects) if objects else None
    if objects and target is None:
        raise AbstainedError(f"step {position + 1} was done on unlike things: {', '.join(sorted(objects))}")
    return Step(kind=seen[0].kind, target=target, count=min(step.count for step in seen))


def _does(step: Step, situation: SkillSituation, facts: Domain) -> bool:
    if step.kind != situation.kind:
        return False
    if step.target == situation.target or step.target is None or situation.target is None:
        return step.target == situation.target
    wanted = facts.accepts(situation.target, situation.kind)
    gained = facts.accepts(step.target, step.kind)
    return bool(gained) and gained <= wanted


def _preconditions(
    situation: SkillSituation, steps: tuple[Step, ...], facts: Domain
) -> tuple[Predicate, ...]:
    """Of what was measured before the successes: what they used up, the tool that their mining needs, the
    station that their crafting and smelting needs; none of it where the steps themselves bring it first."""
    tools: set[str] = set()
    made: set[str] = set()
    for step in steps:
        fit = facts.fit_tools(step.target) if step.kind == "mine" and step.target else frozenset()
        tools |= frozenset() if fit & made else fit
        made |= facts.expand(step.target or "") if step.kind == "craft" else frozenset()
    measured = {each.predicate.field: each.predicate for each in situation.holding}
    wanted = {f"near.{station}" for station in _stations(steps, facts)}
    at_hand = sorted(
        (tool for tool in tools if f"inventory.{tool}" in measured),
        key=lambda tool: (facts.tool_tiers.index(facts.tools[tool][1]), tool),
    )
    wanted |= {f"inventory.{tool}" for tool in at_hand[:1]}
    inputs = _inputs(steps, facts)
    used = {f"inventory.{item}" for item in inputs}
    used |= {f"inventory.#{tag}" for tag, members in facts.tags.items() if members and members <= inputs}
    return tuple(measured[field] for field in sorted(measured) if field in wanted | used)


def _inputs(steps: tuple[Step, ...], facts: Domain) -> set[str]:
    """What the steps can use up: an attempt may lose other things on the way, which are no preconditions."""
    items: set[str] = set()
    for step in steps:
        makes = facts.expand(step.target or "")
        if step.kind == "craft":
            recipes = [recipe for item in sorted(makes) for recipe in facts.recipes.get(item, ())]
            items |= {
                each for recipe in recipes for name, _ in recipe.ingredients for each in facts.expand(name)
            }
        elif step.kind == "smelt":
            items |= facts.fuels.keys() | {given for given, made in facts.smelting.items() if made in makes}
        elif step.kind == "use":
            items |= makes
    return items


def _stations(steps: tuple[Step, ...], facts: Domain) -> set[str]:
    """Stations that the steps use before they place one."""
    needed: set[str] = set()
    placed: set[str | None] = set()
    for step in steps:
        if step.kind == "use" or facts.brings_into_reach(step.kind, step.target):
            placed.add(step.target)
        elif step.kind == "smelt":
            needed |= {facts.smelting_station} - placed
        elif step.kind == "craft" and step.target is not None:
            makes = facts.expand(step.target)
            recipes = [recipe for item in sorted(makes) for recipe in facts.recipes.get(item, ())]
            for recipe in recipes:
                needed |= {*facts.stations_of(recipe)} - placed
    return needed


def _verification(situation: SkillSituation, facts: Domain) -> Check:
    """The target, or what shows that it was got, in the number asked for: a total held after."""
    target = situation.target or ""
    if target in facts.built_in_place:
        return Check(type="station_near", name=target)
    if target in situation.gains:
        return Check(type="inv_ge", name=target, value=float(situation.needed))
    shown = sorted(facts.accepts(target, situation.kind) & situation.gains.keys())
    if not shown:
        raise AbstainedError("nothing that all successes gained would show the target in the state after")
    best = max(shown, key=lambda item: (situation.gains[item], item))
    return Check(type="inv_ge", name=best, value=float(min(situation.needed, situation.gains[best])))
