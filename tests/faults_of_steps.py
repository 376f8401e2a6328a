"""Faults in the steps and checks of a candidate: V_exec."""

from random import Random

from tests.good_cases import DOMAIN, Case, check, where
from tests.mutation import (
    Mutator,
    added,
    any_step,
    changed_step,
    granted,
    is_retry,
    mutators,
    risk_of,
    skill_of,
    with_steps,
)
from warehouse.grammar import blocks_for, steps_of, yields_of
from warehouse.knowledge import Step


def unknown_target(case: Case, random: Random) -> Case:
    return any_step(case, random, target="vibranium_pickaxe")


def unknown_kind(case: Case, random: Random) -> Case:
    return any_step(case, random, kind=random.choice(("teleport", "place", "obtain")))


def no_such_action(case: Case, random: Random) -> Case:
    wrong = [("mine", "iron_pickaxe"), ("combat", "stone"), ("wait", "stone"), ("combat", "stick")]
    kind, target = random.choice(wrong)
    return any_step(case, random, kind=kind, target=target)


def no_such_recipe(case: Case, random: Random) -> Case:
    wrong = [("craft", "oak_log"), ("smelt", "oak_planks"), ("craft", "diamond_ore"), ("smelt", "stick")]
    kind, target = random.choice(wrong)
    return any_step(case, random, kind=kind, target=target)


def ingredient_ruled_out(case: Case, random: Random) -> Case | None:
    """Crafts from what its own condition says is not there, and nothing before it brings any."""
    supplied: set[str] = set()
    for each in steps_of(case.candidate.content):
        ways = DOMAIN.recipes.get(each.target or "", ()) if each.kind == "craft" else ()
        names = [name for name, _ in ways[0].ingredients] if len(ways) == 1 else []
        lacking = [
            name
            for name in names
            if not DOMAIN.expand(name) & (supplied | granted(case)) and name not in granted(case)
        ]
        if lacking:
            return added(case, where(f"inventory.{random.choice(lacking)}", "lt", 1))
        supplied |= yields_of(each, DOMAIN)
    return None


def retry_first(case: Case, random: Random) -> Case | None:
    steps = list(steps_of(case.candidate.content))
    if len(steps) < 2 or any(each.kind in ("move", "wait") for each in steps):
        return None
    if not is_retry(steps[-1], case) or any(is_retry(each, case) for each in steps[:-1]):
        return None
    return with_steps(case, [steps[-1], *steps[:-1]])


def table_not_placed(case: Case, random: Random) -> Case | None:
    """Leaves out that a table is put in place, where only that puts it in reach."""
    table = DOMAIN.crafting_station
    steps = list(steps_of(case.candidate.content))
    kept = [each for each in steps if (each.kind, each.target) != ("use", table)]
    risk = risk_of(case)
    is_away = risk is None or (risk.failure_type == "MISSING_STATION" and table in risk.missing)
    if len(kept) == len(steps) or table in granted(case) - _away(case) or not is_away:
        return None
    first = next(place for place, each in enumerate(steps) if (each.kind, each.target) == ("use", table))
    return with_steps(case, kept) if any(_needs_table(each) for each in steps[first:]) else None


def _away(case: Case) -> set[str]:
    stations = [one for one in case.candidate.trigger if one.field.startswith("near.") and one.value is False]
    return {one.field.partition(".")[2] for one in stations}


def _needs_table(each: Step) -> bool:
    ways = DOMAIN.recipes.get(each.target or "", ()) if each.kind == "craft" else ()
    return bool(ways) and all(way.needs_table for way in ways)


def goal_left_out(case: Case, random: Random) -> Case | None:
    steps = list(steps_of(case.candidate.content))
    if skill_of(case) is None or len(steps) < 2 or is_retry(steps[-2], case):
        return None
    return with_steps(case, steps[:-1])


def swapped(case: Case, random: Random) -> Case | None:
    """What a step needs comes after it, and nothing else supplies it."""
    steps, table = list(steps_of(case.candidate.content)), DOMAIN.crafting_station
    bound = []
    for place in range(len(steps) - 1):
        before, after = steps[place], steps[place + 1]
        given = granted(case) | _made(steps[:place])
        placed = before.kind == "use" and place == len(steps) - 2 and skill_of(case) is not None
        table = DOMAIN.crafting_station
        if (placed and _needs_table(after) and before.target == table and table not in given) or any(
            yields_of(before, DOMAIN) & need and not need & given for need in _direct_needs(after)
        ):
            bound.append(place)
    if not bound:
        return None
    place = random.choice(bound)
    steps[place : place + 2] = [steps[place + 1], steps[place]]
    return with_steps(case, steps)


def _direct_needs(each: Step) -> list[frozenset[str]]:
    """For each thing that a step takes, whatever would do; of a craft, where there is one way alone."""
    target = each.target or ""
    match each.kind:
        case "use":
            return [frozenset({target})]
        case "smelt":
            return [frozenset(given for given, made in DOMAIN.smelting.items() if made == target)]
        case "craft" if len(ways := DOMAIN.recipes.get(target, ())) == 1:
            return [DOMAIN.expand(name) for name, _ in ways[0].ingredients]
    return []


def _made(steps: list[Step]) -> set[str]:
    return set().union(*(yields_of(each, DOMAIN) for each in steps))


def wrong_check(case: Case, random: Random) -> Case:
    wrong = [
        check("inv_ge", None, 1.0),
        check("inv_ge", "stick"),
        check("inv_ge", "vibranium_pickaxe", 1.0),
        check("inv_lt", "stick", 0.5),
        check("inv_ge", "stick", -1.0),
        check("station_near", "stick"),
        check("alive", "stick"),
        check("ypos_le", None, None),
        check("mood_ge", None, 1.0),
    ]
    chosen = random.choice(wrong)
    if random.random() < 0.5:
        return any_step(case, random, checks=(chosen,))
    return case.with_candidate(verification=(*case.candidate.verification, chosen))


def too_weak_a_tool(case: Case, random: Random) -> Case | None:
    """Makes a tool of a lower tier than the failed action needs."""
    risk = risk_of(case)
    if risk is None or risk.failure_type != "MISSING_TOOL" or risk.kind != "mine" or not risk.target:
        return None
    blocks = blocks_for(risk.target, DOMAIN)
    fit = frozenset().union(*(DOMAIN.fit_tools(block) for block in sorted(blocks)))
    for place, each in enumerate(steps_of(case.candidate.content)):
        made = yields_of(each, DOMAIN) & fit
        if each.kind != "craft" or not made:
            continue
        of = DOMAIN.tools[sorted(made)[0]][0]
        weaker = sorted(DOMAIN.tool_classes[of] - fit - granted(case))
        if weaker:
            return changed_step(case, place, target=random.choice(weaker), checks=())
    return None


def tool_of_another_class(case: Case, random: Random) -> Case | None:
    """Makes a tool that cannot break what was to be mined, however good it is."""
    risk = risk_of(case)
    if risk is None or risk.failure_type != "MISSING_TOOL" or risk.kind != "mine" or not risk.target:
        return None
    blocks = blocks_for(risk.target, DOMAIN)
    fit = frozenset().union(*(DOMAIN.fit_tools(block) for block in sorted(blocks)))
    for place, each in enumerate(steps_of(case.candidate.content)):
        if each.kind == "craft" and yields_of(each, DOMAIN) & fit:
            other = random.choice(("iron_hoe", "iron_sword"))
            return None if other in fit else changed_step(case, place, target=other, checks=())
    return None


FAULTS_OF_STEPS: tuple[Mutator, ...] = (
    *mutators("malformed", "exec", wrong_check, goal_left_out),
    *mutators("unknown name", "exec", unknown_target, unknown_kind),
    *mutators("impossible recipe or action", "exec", no_such_action, no_such_recipe, ingredient_ruled_out),
    *mutators("wrong tool tier", "exec", too_weak_a_tool, tool_of_another_class),
    *mutators("wrong order", "exec", retry_first, table_not_placed, swapped),
)
