"""The stand-in's remedies: for each failure type, steps that take away the cause the feedback shows.

It names only what the situation names and what its own copy of the domain's facts says of those things. Where
the cause cannot be told, or telling it does not tell what to do, it abstains with a reason.
"""

from collections.abc import Callable
from itertools import chain
from typing import Final, NamedTuple

from prompts.engines.errands import MAX_STEPS, Errand, NoWayError
from prompts.situations import RemedySituation, held, stations_near
from warehouse.domains import Domain
from warehouse.grammar import same_action
from warehouse.knowledge import Category, Check, Predicate, Step

_OBTAINING: Final = frozenset({"mine", "craft", "smelt", "combat"})


class AbstainedError(Exception):
    """The engine has no answer that its evidence carries; the text is the reason."""


class Repair(NamedTuple):
    """What a remedy says beyond its risk's situation."""

    steps: tuple[Step, ...]
    trigger: tuple[Predicate, ...]
    """state conditions, over those on action and failure"""
    applicability: tuple[Predicate, ...]
    verification: tuple[Check, ...]
    note: str
    category: Category


class _Draft(NamedTuple):
    """The steps before the retry, and what is said about them."""

    steps: tuple[Step, ...]
    note: str
    verification: tuple[Check, ...] = ()
    conditions: tuple[str, ...] = ()
    """state fields whose measured conditions belong to the trigger"""
    relied_on: tuple[tuple[str, int], ...] = ()
    category: Category = "missing_prerequisite"
    retries: bool = True


def repair_for(situation: RemedySituation, facts: Domain) -> Repair:
    """The repair for a situation; raises `AbstainedError` where there is none to give.

    The last step does the failed action again, unless it was the wrong action. Its checks are left to the
    subgoal that is repaired: a total that was held before would be met without it.
    """
    maker = _MAKERS.get(situation.failure_type)
    if maker is None:
        raise AbstainedError(f"{situation.failure_type} does not show what would help")
    try:
        draft = maker(situation, facts)
    except NoWayError as error:
        raise AbstainedError(str(error)) from error
    retry = Step(kind=situation.kind, target=situation.target, count=situation.needed)
    steps = (*draft.steps, retry) if draft.retries else draft.steps
    failed = (retry.kind, retry.target or "")
    if all(same_action((step.kind, step.target or ""), failed, facts) for step in steps):
        raise AbstainedError("nothing to do but the failed action again")
    if len(steps) > MAX_STEPS:
        raise AbstainedError(f"more than {MAX_STEPS} steps with the retry")
    trigger = tuple(each.predicate for each in situation.holding if each.predicate.field in draft.conditions)
    relied_on = [
        Predicate(field=f"inventory.{name}", op="ge", value=count) for name, count in draft.relied_on
    ]
    return Repair(
        steps=steps,
        trigger=trigger,
        applicability=tuple(predicate for predicate in relied_on if predicate not in trigger),
        verification=draft.verification,
        note=draft.note,
        category=draft.category,
    )


def _missing_station(situation: RemedySituation, facts: Domain) -> _Draft:
    stations = [name for name in situation.missing if name in facts.stations] or _station_of(situation, facts)
    # What is to be made is not what making it lacks, whatever the failure was taken for.
    stations = [station for station in stations if station != situation.target]
    if not stations:
        raise AbstainedError("the feedback does not say which station was missing")
    errand = _errand(situation, facts)
    needs = frozenset().union(*(facts.prerequisites(station) for station in stations))
    for name in situation.missing:
        # What only the station itself lacked is got on the way to the station.
        if name not in stations and not facts.expand(name) & needs:
            errand.acquire(name, _short(situation, errand, name))
    errand.reach_stations(stations)
    return _Draft(
        steps=tuple(errand.steps),
        note=f"{_action(situation)} needs {_list(stations)} in reach, and none was.",
        verification=tuple(Check(type="station_near", name=station) for station in stations),
        conditions=_fields(stations, "inventory", "near"),
        relied_on=_relied_on(errand),
    )


def _missing_tool(situation: RemedySituation, facts: Domain) -> _Draft:
    tools = [name for name in situation.missing if name in facts.tools]
    errand = _errand(situation, facts)
    if not tools:
        if situation.kind != "mine" or situation.target is None or not _tools_for(situation.target, facts):
            raise AbstainedError("neither the feedback nor the facts say which tool was missing")
        tools = [_lowest(_tools_for(situation.target, facts), facts)]
    for tool in tools:
        errand.have(tool)
    steps = tuple(errand.steps)
    if not steps:
        # It was held and not used.
        steps = tuple(Step(kind="use", target=tool) for tool in tools)
    return _Draft(
        steps=steps,
        note=f"{_action(situation)} needs {_list(tools)}.",
        verification=tuple(Check(type="inv_ge", name=tool, value=1.0) for tool in tools),
        conditions=_fields(tools, "inventory"),
        relied_on=_relied_on(errand),
    )


def _missing_ingredient(situation: RemedySituation, facts: Domain) -> _Draft:
    errand = _errand(situation, facts)
    wanted = [name for name in situation.missing if name not in facts.stations]
    amounts: dict[str, int] = {}
    if wanted:
        amounts = {name: _short(situation, errand, name) for name in wanted}
    else:
        amounts = _ingredients(situation, facts)
    if not amounts:
        raise AbstainedError("neither the feedback nor the facts say what was short")
    for name, count in amounts.items():
        errand.acquire(name, count)
    if not errand.steps:
        raise AbstainedError(f"{_list(list(amounts))} was held, so the want of it is not the cause")
    for station in (name for name in situation.missing if name in facts.stations):
        errand.reach_station(station)
    return _Draft(
        steps=tuple(errand.steps),
        note=f"{_action(situation)} was short of {_list(list(amounts))}.",
        verification=tuple(
            Check(type="inv_ge", name=name, value=float(count)) for name, count in amounts.items()
        ),
        conditions=_fields(list(amounts), "inventory"),
        relied_on=_relied_on(errand),
    )


def _no_fuel(situation: RemedySituation, facts: Domain) -> _Draft:
    named = [name for name in situation.missing if name in facts.fuels]
    errand = _errand(situation, facts)
    if named:
        fuel, count = named[0], -(-situation.needed // max(1, int(facts.fuels[named[0]])))
        errand.acquire(fuel, errand.available(fuel) + count)
    else:
        fuel = errand.get_fuel(situation.needed)
    return _Draft(
        steps=tuple(errand.steps),
        note=f"{_action(situation)} had no fuel; {fuel} burns.",
        verification=(Check(type="inv_ge", name=fuel, value=1.0),),
        conditions=_fields([fuel], "inventory"),
        relied_on=_relied_on(errand),
    )


def _gui_stall(situation: RemedySituation, facts: Domain) -> _Draft:
    return _Draft(
        steps=(Step(kind="wait", target=None, checks=(Check(type="gui_closed"),)),),
        note="A screen stayed open and nothing in it changed; it has to be closed first.",
        verification=(Check(type="gui_closed"),),
        conditions=("gui",),
        category="recovery_strategy",
    )


def _not_found(situation: RemedySituation, facts: Domain) -> _Draft:
    if situation.kind == "move" or situation.target is None:
        raise AbstainedError("the search itself found nothing, and nothing says where to search instead")
    return _Draft(
        steps=(Step(kind="move", target=situation.target),),
        note=f"No {situation.target} was seen where {situation.kind} was tried; it has to be found first.",
        conditions=(f"seen.{situation.target}",),
        category="recovery_strategy",
    )


def _unreachable(situation: RemedySituation, facts: Domain) -> _Draft:
    if situation.target is None:
        raise AbstainedError("the feedback does not say what could not be reached")
    closer = () if situation.kind == "move" else (Step(kind="move", target=situation.target),)
    return _Draft(
        steps=(_clear_way(situation, facts), *closer),
        note=f"{situation.target} was seen and not reached; the way has to be opened first.",
        conditions=(f"seen.{situation.target}",),
        category="recovery_strategy",
    )


def _stuck(situation: RemedySituation, facts: Domain) -> _Draft:
    return _Draft(
        steps=(_clear_way(situation, facts),),
        note=f"{_action(situation)} hardly moved: something is in the way.",
        category="recovery_strategy",
    )


def _invalid(situation: RemedySituation, facts: Domain) -> _Draft:
    """Only where the action itself was the wrong way to its target, and the facts know the right one."""
    target = situation.target
    ways = facts.sources(target) if target is not None and facts.expand(target) else ()
    if target is None or situation.kind not in _OBTAINING or not ways:
        raise AbstainedError("the feedback does not show a right way to do it")
    if ways[0][0] == situation.kind or (situation.kind, target) in ways:
        raise AbstainedError("the action was right; how it was put is not shown")
    errand = _errand(situation, facts)
    errand.acquire(target, errand.available(target) + situation.needed)
    return _Draft(
        steps=tuple(errand.steps),
        note=f"{target} cannot be got by {situation.kind}; {ways[0][0]} gives it.",
        verification=(Check(type="inv_ge", name=target, value=float(situation.needed)),),
        relied_on=_relied_on(errand),
        category="generic",
        retries=False,
    )


def _clear_way(situation: RemedySituation, facts: Domain) -> Step:
    """Mine what the evidence says is in the way; else any way that is clear."""
    types = ("NAV_STUCK", "TARGET_UNREACHABLE")
    named = {cause.name for row in situation.cited for cause in row.causes if cause.type in types}
    blocking = sorted(name for name in named if name and name in facts.blocks and name != situation.target)
    clear = (Check(type="path_clear"),)
    if blocking:
        return Step(kind="mine", target=blocking[0], checks=clear)
    return Step(kind="move", target=None, checks=clear)


def _errand(situation: RemedySituation, facts: Domain) -> Errand:
    return Errand(facts, held(situation.cited), stations_near(situation.cited, facts))


def _short(situation: RemedySituation, errand: Errand, name: str) -> int:
    """How many of `name` to have: what is held and what was short of it, else what the facts ask for."""
    if name in situation.short:
        return errand.available(name) + situation.short[name]
    items = errand.facts.expand(name)
    amounts = [
        count
        for each, count in _ingredients(situation, errand.facts).items()
        if items & errand.facts.expand(each)
    ]
    return max([1, *amounts, *([errand.available(name) + 1] if not amounts else [])])


def _ingredients(situation: RemedySituation, facts: Domain) -> dict[str, int]:
    """What the facts ask for to make the target as often as it was asked for, by its first recipe."""
    if situation.kind == "smelt":
        inputs = [before for before, after in sorted(facts.smelting.items()) if after == situation.target]
        return dict.fromkeys(inputs[:1], situation.needed)
    for recipe in facts.recipes.get(situation.target or "", ())[:1]:
        times = -(-situation.needed // recipe.count)
        return {name: count * times for name, count in recipe.ingredients}
    return {}


def _station_of(situation: RemedySituation, facts: Domain) -> list[str]:
    if situation.kind == "smelt":
        return [facts.smelting_station]
    beside = [recipe.beside for recipe in facts.recipes.get(situation.target or "", ())[:1]]
    return [facts.crafting_station, *chain.from_iterable(beside)] * (situation.kind == "craft")


def _tools_for(target: str, facts: Domain) -> frozenset[str]:
    blocks = facts.tags.get(target[1:], frozenset()) if target.startswith("#") else frozenset({target})
    return frozenset().union(*(facts.fit_tools(block) for block in sorted(blocks)))


def _lowest(tools: frozenset[str], facts: Domain) -> str:
    return min(tools, key=lambda tool: (facts.tool_tiers.index(facts.tools[tool][1]), tool))


def _relied_on(errand: Errand) -> tuple[tuple[str, int], ...]:
    return tuple((name, errand.relied_on[name]) for name in sorted(errand.relied_on))


def _fields(names: list[str], *families: str) -> tuple[str, ...]:
    return tuple(f"{family}.{name}" for family in families for name in names)


def _action(situation: RemedySituation) -> str:
    return f"{situation.kind} {situation.target}" if situation.target else situation.kind


def _list(names: list[str]) -> str:
    return " and ".join(sorted(set(names)))


_MAKERS: Final[dict[str, Callable[[RemedySituation, Domain], _Draft]]] = {
    "MISSING_STATION": _missing_station,
    "MISSING_TOOL": _missing_tool,
    "MISSING_INGREDIENT": _missing_ingredient,
    "NO_FUEL": _no_fuel,
    "GUI_STALL": _gui_stall,
    "TARGET_NOT_FOUND": _not_found,
    "TARGET_UNREACHABLE": _unreachable,
    "NAV_STUCK": _stuck,
    "INVALID_ACTION": _invalid,
}
