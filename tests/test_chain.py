"""How the stand-in follows a skill from where it stands: what is held, what the skill began with, and what a
remedy has seen fail."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from prompts.engines.rules import RulesStandIn
from prompts.planning import Seen
from tests.test_inducer import failure, state
from tests.test_rules_adaptor import repair_of, seen, step_of
from tests.test_rules_planner import entry, goal_of, learnt, mistaken, plan_of, situation, words
from warehouse.domains import Domain, Recipe
from warehouse.entries import Entry
from warehouse.knowledge import Amount, Candidate, Check, Predicate, SkillContent, Step


def skill(
    *steps: str,
    held: Mapping[str, int] | None = None,
    makes: str = "",
    effects: Mapping[str, int] | None = None,
) -> Entry:
    """A skill of steps such as "mine #logs 3", about the last of them, that began with what was `held`."""
    told = [each.split() for each in steps]
    done = tuple(Step(kind=kind, target=target, count=int(count)) for kind, target, count in told)
    began = tuple(
        Predicate(field=f"inventory.{name}", op="ge", value=number) for name, number in (held or {}).items()
    )
    about = done[-1]
    content = SkillContent(
        kind=about.kind,
        target=about.target,
        steps=done,
        preconditions=began,
        effects=tuple(Amount(name=name, count=number) for name, number in (effects or {}).items()),
    )
    return entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value=about.kind), *began),
            content=content,
            verification=(Check(type="inv_ge", name=makes or about.target, value=1.0),),
            build="b1",
        )
    )


def knows_no_way_to(domain: Domain, item: str, **changes: Any) -> RulesStandIn:
    """Somebody who makes `item` as a skill says, or not at all."""
    return mistaken(domain, recipes={**domain.recipes, item: ()}, **changes)


COWHIDE = (
    "combat cow 5",
    "mine #logs 1",
    "craft #planks 4",
    "craft crafting_table 1",
    "use crafting_table 1",
)
HELMET = skill(*COWHIDE, "craft leather_helmet 1", effects={"leather_helmet": 1, "beef": 6})
"""five cows' leather, of which nothing is left over, and beef, of which something is"""


def thinks_four_do(domain: Domain) -> RulesStandIn:
    """Somebody who believes that a helmet takes four hides: only a skill or a remedy says how many."""
    four = Recipe("leather_helmet", 1, (("leather", 4),), needs_table=True)
    return mistaken(domain, recipes={**domain.recipes, "leather_helmet": (four,)})


def checks_of(subgoals: Any) -> list[tuple[str | None, float | None]]:
    return [(each.checks[0].name, each.checks[0].value) for each in subgoals]


@pytest.mark.parametrize(
    ("held", "first", "leather"),
    [
        ({}, "combat cow 5", 5.0),
        ({"beef": 9}, "combat cow 5", 5.0),
        ({"beef": 2, "leather": 2}, "combat cow 3", 5.0),
    ],
)
def test_of_what_a_creature_leaves_a_skill_is_after_what_its_steps_take(
    minecraft: Domain, held: Mapping[str, int], first: str, leather: float
) -> None:
    asked = situation(goal_of("leather_helmet"), held, skills=(HELMET,))
    subgoals = plan_of(thinks_four_do(minecraft), asked, minecraft)
    assert words(subgoals)[0] == first
    assert checks_of(subgoals)[0] == ("leather", leather)


def test_leather_that_is_held_is_not_gathered_again(minecraft: Domain) -> None:
    asked = situation(goal_of("leather_helmet"), {"leather": 5}, skills=(HELMET,))
    assert words(plan_of(thinks_four_do(minecraft), asked, minecraft))[0] == "mine #logs 1"


def test_what_a_skill_began_with_it_had_beside_what_it_gathered(minecraft: Domain) -> None:
    began = skill(
        "combat cow 2",
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft leather_helmet 1",
        held={"leather": 3, "oak_planks": 4},
    )
    engine = thinks_four_do(minecraft)
    held = {"leather": 3, "oak_planks": 4}
    subgoals = plan_of(engine, situation(goal_of("leather_helmet"), held, skills=(began,)), minecraft)
    assert words(subgoals)[0] == "combat cow 2"
    assert checks_of(subgoals)[0] == ("leather", 5.0), "three that were held and two more"
    subgoals = plan_of(
        engine, situation(goal_of("leather_helmet"), {**held, "leather": 4}, skills=(began,)), minecraft
    )
    assert words(subgoals)[0] == "combat cow 1"


def test_a_total_counts_what_a_skill_began_with_until_it_is_used_up(minecraft: Domain) -> None:
    began = skill(
        "mine #logs 1",
        "craft #planks 4",
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft chest 1",
        held={"oak_planks": 8},
    )
    engine = knows_no_way_to(minecraft, "chest")
    asked = situation(goal_of("chest"), {"oak_planks": 8}, skills=(began,))
    subgoals = plan_of(engine, asked, minecraft)
    assert checks_of(subgoals)[1] == ("#planks", 12.0), "eight are there before the craft"


def test_what_is_done_with_a_thing_is_no_part_of_getting_it(minecraft: Domain) -> None:
    washed = skill(
        *COWHIDE,
        "craft leather_helmet 1",
        "move cauldron 1",
        "use leather_helmet 1",
        makes="leather_helmet",
        effects={"leather_helmet": 1},
    )
    engine = knows_no_way_to(minecraft, "leather_helmet")
    subgoals = plan_of(engine, situation(goal_of("leather_helmet"), skills=(washed,)), minecraft)
    assert words(subgoals) == [*COWHIDE, "craft leather_helmet 1"]


def test_planks_use_up_the_logs_of_a_skill(minecraft: Domain) -> None:
    way = ("mine #logs 1", "craft #planks 4", "craft crafting_table 1", "use crafting_table 1")
    sword = skill(*way, "craft wooden_sword 1", effects={"wooden_sword": 1})
    bare = tuple(replace(recipe, needs_table=False) for recipe in minecraft.recipes["wooden_sword"])
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "wooden_sword": bare})
    subgoals = plan_of(engine, situation(goal_of("wooden_sword"), skills=(sword,)), minecraft)
    # Blade and stick are made of another log than the one that the table took.
    assert sum(each.count for each in subgoals if each.task_kind == "mine") == 2
    assert "use crafting_table 1" in words(subgoals)


def short_of_leather(domain: Domain) -> Entry:
    before = state({"leather": 3}, near=["crafting_table"])
    return learnt(
        domain,
        failure("craft", "leather_helmet", "MISSING_INGREDIENT", missing={"leather": 2}, before=before),
    )


def test_what_a_remedy_saw_fail_a_skill_does_not_repeat(minecraft: Domain) -> None:
    # One cow left three hides that time. Told that five are needed, nobody counts on that again.
    lucky = skill("combat cow 1", "craft leather_helmet 1", held={"leather": 2})
    asked = repair_of(
        goal_of("leather_helmet"),
        [step_of("sg_001", "craft", "leather_helmet", "failed")],
        0,
        seen("craft", "leather_helmet", "MISSING_INGREDIENT"),
        {"leather": 3},
        skills=(lucky,),
        temporary=(short_of_leather(minecraft),),
    )
    subgoals = plan_of(thinks_four_do(minecraft), asked, minecraft)
    assert ("leather", 5.0) in checks_of(subgoals)


def test_being_stuck_is_cleared_before_a_step_that_another_remedy_brings(minecraft: Domain) -> None:
    fuel = learnt(
        minecraft,
        failure("smelt", "iron_ingot", "NO_FUEL", before=state({"iron_ore": 1}, near=["furnace"])),
    )
    [burning, *_] = fuel.content.repair  # type: ignore[union-attr]
    stuck = learnt(minecraft, failure(burning.kind, burning.target, "NAV_STUCK", before=state({}, near=[])))
    failed: Seen = seen(burning.kind, burning.target, "NAV_STUCK")
    asked = repair_of(
        goal_of("iron_ingot"),
        [step_of("sg_001", "use", "furnace", "done"), step_of("sg_002", "smelt", "iron_ingot", "failed")],
        1,
        failed,
        {"iron_ore": 1, "oak_planks": 1},
        temporary=(stuck, fuel),
    )
    subgoals = plan_of(RulesStandIn(minecraft), asked, minecraft)
    at = [(each.task_kind, each.target) for each in subgoals].index((burning.kind, burning.target))
    assert subgoals[at - 1].checks[0].type == "path_clear"
    assert stuck.entry_id[:8] in subgoals[at - 1].knowledge
