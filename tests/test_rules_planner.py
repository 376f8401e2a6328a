"""The stand-in as planner and adaptor: what it plans by true facts, what it gets wrong, and that only what a
request says can correct it. `entry` and `plan_of` serve the other tests of planning too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prompts.engines.beliefs import Beliefs, Heights
from prompts.engines.goals import read_goal
from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from prompts.language_model import ModelAnswer
from prompts.plan_responses import PlanResponse, RepairResponse, SubgoalAnswer, plan_faults, repair_faults
from prompts.planning import (
    Goal,
    PlanSituation,
    RepairSituation,
    plan_request,
    repair_request,
)
from tests.conftest import ROOT
from tests.test_inducer import failure, state, success
from warehouse.domains import Domain, Recipe, Trade
from warehouse.entries import Entry, Support
from warehouse.execution import order_faults
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Candidate, Check, Predicate, SkillContent, Step
from warehouse.state import flatten_state
from warehouse.tasks import Task, load_suite

EMPTY: Mapping[str, int] = {}
HERE = {"y": 64.0, "near": [], "seen": []}


def entry(candidate: Candidate) -> Entry:
    """A candidate as the store would hold it."""
    return Entry(
        entry_id=candidate.entry_id,
        domain=candidate.domain,
        type=candidate.type,
        trigger=candidate.trigger,
        content=candidate.content,
        verification=candidate.verification,
        support=tuple(Support(feedback_id=each, episode_id="e") for each in candidate.support),
        confidence=0.75,
        first_build="b1",
        last_build="b1",
    )


def learnt(domain: Domain, *facts: FeedbackFact, by: RulesStandIn | None = None) -> Entry:
    """What an Inducer that knows the domain makes of feedback."""
    [candidate] = induce(facts, domain, by or RulesStandIn(domain), "b1").candidates
    return entry(candidate)


def situation(goal: Goal, held: Mapping[str, int] = EMPTY, **changes: Any) -> PlanSituation:
    flat = flatten_state({**state(held), **HERE})
    return PlanSituation(domain="minecraft", goal=goal, state=flat, calls_left=8, **changes)


def goal_of(name: str, count: int = 1, text: str = "") -> Goal:
    return Goal(text=text or f"Get {name}", any_of=(name,), count=count)


def answered(engine: RulesStandIn, asked: PlanSituation, domain: Domain) -> ModelAnswer:
    ask = repair_request if isinstance(asked, RepairSituation) else plan_request
    [answer] = engine.generate([ask(asked, domain)])  # type: ignore[arg-type]
    assert answer.error is None, answer.error
    return answer


def plan_of(engine: RulesStandIn, asked: PlanSituation, domain: Domain) -> tuple[SubgoalAnswer, ...]:
    """The subgoals of a plan without a fault in the grammar."""
    value = answered(engine, asked, domain).value
    if isinstance(asked, RepairSituation):
        assert isinstance(value, RepairResponse)
        assert repair_faults(value, asked.kept_ids, asked.labels, asked.executors, domain) == []
        return value.repaired_suffix
    assert isinstance(value, PlanResponse)
    assert plan_faults(value, asked.labels, asked.executors, domain) == []
    return value.subgoals


def words(subgoals: Sequence[SubgoalAnswer]) -> list[str]:
    return [f"{each.task_kind} {each.target} {each.count}" for each in subgoals]


def mistaken(domain: Domain, **changes: Any) -> RulesStandIn:
    """An engine whose copy is wrong in exactly this."""
    return RulesStandIn(replace(domain, **changes))


def without_table(domain: Domain, item: str) -> RulesStandIn:
    recipes = tuple(replace(recipe, needs_table=False) for recipe in domain.recipes[item])
    return mistaken(domain, recipes={**domain.recipes, item: recipes})


@pytest.fixture
def suite_tasks(shared_file: Callable[[str], Path], minecraft: Domain) -> tuple[Task, ...]:
    return load_suite(shared_file("tasks/mcu_tech_tree_70.json"), minecraft).tasks


def test_true_facts_give_each_task_a_plan_that_can_be_carried_out(
    minecraft: Domain, suite_tasks: tuple[Task, ...]
) -> None:
    engine = RulesStandIn(minecraft)
    for task in suite_tasks:
        goal = Goal(text=task.instruction, any_of=task.any_of, count=task.count)
        subgoals = plan_of(engine, situation(goal), minecraft)
        assert 1 <= len(subgoals) <= 12
        steps = tuple(Step(kind=each.task_kind, target=each.target, count=each.count) for each in subgoals)
        about = steps[-1]
        skill = Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value=about.kind),),
            content=SkillContent(kind=about.kind, target=about.target, steps=steps),
            build="b1",
        )
        assert order_faults(skill, minecraft) == [], task.id


def test_the_next_plan_goes_on_where_twelve_steps_ended(minecraft: Domain) -> None:
    engine = RulesStandIn(minecraft)
    goal = goal_of("diamond_pickaxe")
    first = plan_of(engine, situation(goal), minecraft)
    assert len(first) == 12
    held = {"iron_ingot": 3, "stick": 8, "stone_pickaxe": 1, "cobblestone": 4}
    assert words(plan_of(engine, situation(goal, {**held, "crafting_table": 1}), minecraft)) == [
        "use crafting_table 1",
        "craft iron_pickaxe 1",
        "mine diamond_ore 3",
        "move crafting_table 1",
        "craft diamond_pickaxe 1",
    ]


def test_every_subgoal_is_checked_by_a_total(minecraft: Domain) -> None:
    subgoals = plan_of(RulesStandIn(minecraft), situation(goal_of("stick", 5), {"oak_planks": 1}), minecraft)
    checks = [(each.name, each.value) for subgoal in subgoals for each in subgoal.checks]
    assert words(subgoals) == ["mine #logs 1", "craft #planks 4", "craft stick 8"]
    assert checks == [("#logs", 1.0), ("#planks", 5.0), ("stick", 8.0)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Trade with a villager to obtain an iron ingot", ("use", "villager", None)),
        ("Wash a leather chestplate in a cauldron", ("use", "leather_chestplate", "cauldron")),
        ("Kill a cow to obtain leather", ("combat", "cow", None)),
        ("Obtain an oak log", ("mine", "oak_log", None)),
        ("Ponder", (None, None, None)),
    ],
)
def test_goals_in_words(minecraft: Domain, text: str, expected: tuple[str | None, ...]) -> None:
    assert read_goal(Goal(text=text), minecraft) == expected


def test_the_price_of_a_trade_is_brought_as_it_is_believed_to_be(minecraft: Domain) -> None:
    """The price is a fact like any other: the copy has it, and a seed can make it one off."""
    goal = Goal(text="Trade with a villager to obtain an iron ingot", any_of=("iron_ingot",))

    def coal(engine: RulesStandIn) -> int:
        *before, last = plan_of(engine, situation(goal), minecraft)
        assert (last.task_kind, last.target) == ("use", "villager")
        return sum(step.count for step in before if (step.task_kind, step.target) == ("mine", "coal_ore"))

    cheap = replace(minecraft, trades={"villager": (Trade("iron_ingot", 1, (("coal", 3),)),)})
    assert (coal(RulesStandIn(minecraft)), coal(RulesStandIn(cheap))) == (15, 3)
    wrong = {
        engine.beliefs.facts.trades["villager"][0].price[0][1]
        for engine in (RulesStandIn(minecraft, seed, misconceptions=1.0) for seed in range(8))
    }
    assert wrong == {14, 16}


def test_a_goal_of_words_alone_is_planned_for(minecraft: Domain) -> None:
    engine = RulesStandIn(minecraft)
    assert words(plan_of(engine, situation(Goal(text="Kill a cow")), minecraft)) == ["combat cow 1"]
    assert words(plan_of(engine, situation(Goal(text="Ponder")), minecraft)) == ["wait None 1"]


def test_what_cannot_be_got_is_tried_all_the_same(minecraft: Domain) -> None:
    subgoals = plan_of(RulesStandIn(minecraft), situation(goal_of("turtle_helmet")), minecraft)
    assert words(subgoals)[-2:] == ["use crafting_table 1", "craft turtle_helmet 1"]


def test_a_forgotten_station_shows_in_every_plan(minecraft: Domain) -> None:
    engine = without_table(minecraft, "stone_axe")
    asked = situation(goal_of("stone_axe"), {"cobblestone": 3, "stick": 2})
    for _ in range(2):
        assert words(plan_of(engine, asked, minecraft)) == ["craft stone_axe 1"]


def station_remedy(domain: Domain) -> Entry:
    fact = failure(
        "craft", "stone_axe", "MISSING_STATION", missing={"crafting_table": 0}, before=state({}, near=[])
    )
    return learnt(domain, fact)


def test_a_remedy_puts_the_station_before_the_step_it_is_about(minecraft: Domain) -> None:
    engine, remedy = without_table(minecraft, "stone_axe"), station_remedy(minecraft)
    held = {"cobblestone": 3, "stick": 2}
    subgoals = plan_of(engine, situation(goal_of("stone_axe"), held, remedies=(remedy,)), minecraft)
    assert words(subgoals) == [
        "mine #logs 1",
        "craft #planks 4",
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft stone_axe 1",
    ]
    label = remedy.entry_id[:8]
    assert [each.knowledge for each in subgoals[-2:]] == [(label,), (label,)]
    assert subgoals[0].knowledge == ()


def test_a_remedy_adds_nothing_that_is_there(minecraft: Domain) -> None:
    engine, remedy = without_table(minecraft, "stone_axe"), station_remedy(minecraft)
    asked = situation(goal_of("stone_axe"), {"cobblestone": 3, "stick": 2}, remedies=(remedy,))
    asked = asked.model_copy(update={"state": {**asked.state, "near.crafting_table": True}})
    assert words(plan_of(engine, asked, minecraft)) == ["craft stone_axe 1"]


def test_a_remedy_about_something_else_changes_nothing(minecraft: Domain) -> None:
    engine, remedy = without_table(minecraft, "stone_hoe"), station_remedy(minecraft)
    asked = situation(goal_of("stone_hoe"), {"cobblestone": 3, "stick": 2}, remedies=(remedy,))
    assert words(plan_of(engine, asked, minecraft)) == ["craft stone_hoe 1"]


def test_a_remedy_corrects_a_count(minecraft: Domain) -> None:
    [true] = minecraft.recipes["furnace"]
    wrong = replace(true, ingredients=tuple((name, 7) for name, _ in true.ingredients))
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "furnace": (wrong,)})
    held = {"wooden_pickaxe": 1, "crafting_table": 1, "cobblestone": 7}
    assert "mine stone 1" not in words(plan_of(engine, situation(goal_of("furnace"), held), minecraft))
    fact = failure(
        "craft",
        "furnace",
        "MISSING_INGREDIENT",
        missing={"cobblestone": 1},
        before=state({"cobblestone": 7, "wooden_pickaxe": 1}, near=["crafting_table"]),
    )
    asked = situation(goal_of("furnace"), held, remedies=(learnt(minecraft, fact),))
    assert words(plan_of(engine, asked, minecraft)) == [
        "mine stone 1",
        "use crafting_table 1",
        "craft furnace 1",
    ]


def test_a_remedy_corrects_a_tool(minecraft: Domain) -> None:
    harvest = {block: tool for block, tool in minecraft.harvest.items() if block != "iron_ore"}
    engine = mistaken(minecraft, harvest=harvest)
    held = {"cobblestone": 3, "stick": 2, "crafting_table": 1}
    assert words(plan_of(engine, situation(goal_of("iron_ore"), held), minecraft)) == ["mine iron_ore 1"]
    fact = failure(
        "mine",
        "iron_ore",
        "MISSING_TOOL",
        missing={"stone_pickaxe": 0},
        before=state({"oak_log": 3}, near=[]),
    )
    asked = situation(goal_of("iron_ore"), held, remedies=(learnt_remedy(minecraft, fact, "stone_pickaxe"),))
    assert words(plan_of(engine, asked, minecraft)) == [
        "use crafting_table 1",
        "craft stone_pickaxe 1",
        "mine iron_ore 1",
    ]


def learnt_remedy(domain: Domain, fact: FeedbackFact, tool: str) -> Entry:
    before = {"cobblestone": 3, "stick": 2, "crafting_table": 1}
    return learnt(domain, replace(fact, state_before=flatten_state({**state(before, near=[])}, kind="mine")))


def test_a_remedy_corrects_that_smelting_takes_fuel(minecraft: Domain) -> None:
    engine = RulesStandIn(minecraft)
    engine._beliefs = Beliefs(minecraft, without_fuel=frozenset({"iron_ingot"}))
    held = {"iron_ore": 1, "furnace": 1}
    asked = situation(goal_of("iron_ingot"), held)
    assert words(plan_of(engine, asked, minecraft)) == ["use furnace 1", "smelt iron_ingot 1"]
    fact = failure("smelt", "iron_ingot", "NO_FUEL", before=state({"iron_ore": 1}, near=["furnace"]))
    asked = situation(goal_of("iron_ingot"), held, remedies=(learnt(minecraft, fact),))
    assert words(plan_of(engine, asked, minecraft))[-2:] == ["use furnace 1", "smelt iron_ingot 1"]
    assert len(plan_of(engine, asked, minecraft)) == 3


def table_skill(domain: Domain, near: list[str]) -> Entry:
    """A success that shows what a stone axe takes, by somebody who stood at a table."""
    before = state({"cobblestone": 5, "stick": 4}, near=near)
    fact = success(
        "craft",
        "stone_axe",
        [("craft", "stone_axe", 1)],
        {"stone_axe": 1, "cobblestone": -3, "stick": -2},
        before=before,
    )
    return learnt(domain, fact)


def test_a_skill_overrides_a_belief(minecraft: Domain) -> None:
    wrong = Recipe("stone_axe", 1, (("cobblestone", 1),), needs_table=False)
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "stone_axe": (wrong,)})
    held = {"cobblestone": 3, "stick": 2, "crafting_table": 1}
    assert words(plan_of(engine, situation(goal_of("stone_axe"), held), minecraft)) == ["craft stone_axe 1"]
    skill = table_skill(minecraft, ["crafting_table"])
    asked = situation(goal_of("stone_axe"), held, skills=(skill,))
    subgoals = plan_of(engine, asked, minecraft)
    assert words(subgoals) == ["use crafting_table 1", "craft stone_axe 1"]
    assert subgoals[-1].knowledge == (skill.entry_id[:8],)
    fewer = situation(goal_of("stone_axe"), {**held, "stick": 0, "oak_planks": 2}, skills=(skill,))
    assert words(plan_of(engine, fewer, minecraft))[0] == "craft stick 4"


def test_a_skill_of_several_steps_is_followed(minecraft: Domain) -> None:
    content = SkillContent(
        kind="craft",
        target="stick",
        count=4,
        steps=(
            Step(kind="mine", target="birch_log"),
            Step(kind="craft", target="birch_planks", count=4),
            Step(kind="craft", target="stick", count=4),
        ),
    )
    skill = entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value="craft"),),
            content=content,
            verification=(Check(type="inv_ge", name="stick", value=4.0),),
            build="b1",
        )
    )
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "stick": ()})
    subgoals = plan_of(engine, situation(goal_of("stick", 8), skills=(skill,)), minecraft)
    assert words(subgoals) == ["mine birch_log 2", "craft birch_planks 8", "craft stick 8"]
    assert {each.knowledge for each in subgoals} == {(skill.entry_id[:8],)}


def test_what_a_skill_says_nothing_of_is_brought_as_it_is_believed(minecraft: Domain) -> None:
    content = SkillContent(
        kind="craft",
        target="crafting_table",
        steps=(Step(kind="craft", target="#planks", count=4), Step(kind="craft", target="crafting_table")),
    )
    skill = entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value="craft"),),
            content=content,
            verification=(Check(type="inv_ge", name="crafting_table", value=1.0),),
            build="b1",
        )
    )
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "crafting_table": ()})
    asked = situation(goal_of("crafting_table"), skills=(skill,))
    steps = ["mine #logs 1", "craft #planks 4", "craft crafting_table 1"]
    assert words(plan_of(engine, asked, minecraft)) == steps
    held = situation(goal_of("crafting_table"), {"birch_log": 1}, skills=(skill,))
    assert words(plan_of(engine, held, minecraft)) == steps[1:]
    # Of several ways to make a thing it is the one of least effort: sticks of planks, not of bamboo.
    sword = entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value="craft"),),
            content=SkillContent(
                kind="craft",
                target="wooden_sword",
                steps=(
                    Step(kind="craft", target="stick", count=4),
                    Step(kind="craft", target="wooden_sword"),
                ),
            ),
            verification=(Check(type="inv_ge", name="wooden_sword", value=1.0),),
            build="b1",
        )
    )
    engine = mistaken(minecraft, recipes={**minecraft.recipes, "wooden_sword": ()})
    asked = situation(goal_of("wooden_sword"), skills=(sword,))
    assert words(plan_of(engine, asked, minecraft)) == [
        "mine #logs 1",
        "craft #planks 4",
        "craft stick 4",
        "craft wooden_sword 1",
    ]


def test_a_skill_that_ends_in_gathering_prepares_for_it_once(minecraft: Domain) -> None:
    ways = ("mine #logs 3", "craft #planks 12", "craft stick 4", "craft crafting_table 1")
    ways += ("use crafting_table 1", "craft wooden_pickaxe 1")
    told = [each.split() for each in (*ways, "mine stone 1")]
    steps = tuple(Step(kind=kind, target=target, count=int(count)) for kind, target, count in told)
    skill = entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value="mine"),),
            content=SkillContent(kind="mine", target="stone", steps=steps),
            verification=(Check(type="inv_ge", name="cobblestone", value=1.0),),
            build="b1",
        )
    )
    # Somebody who believes that a bare hand will do has the tool from the skill alone.
    harvest = {
        block: tool for block, tool in minecraft.harvest.items() if block not in ("stone", "cobblestone")
    }
    asked = situation(goal_of("cobblestone", 8), skills=(skill,))
    planned = words(plan_of(mistaken(minecraft, harvest=harvest), asked, minecraft))
    assert planned == [*ways, "mine stone 8"]


def test_a_skill_is_not_forced_where_what_is_held_gives_a_shorter_way(minecraft: Domain) -> None:
    content = SkillContent(
        kind="craft",
        target="crafting_table",
        steps=(
            Step(kind="mine", target="#logs"),
            Step(kind="craft", target="#planks", count=4),
            Step(kind="craft", target="crafting_table"),
        ),
    )
    skill = entry(
        Candidate(
            domain="minecraft",
            type="skill",
            trigger=(Predicate(field="kind", op="eq", value="craft"),),
            content=content,
            build="b1",
        )
    )
    asked = situation(goal_of("crafting_table"), {"oak_planks": 4}, skills=(skill,))
    [step] = plan_of(RulesStandIn(minecraft), asked, minecraft)
    assert (step.task_kind, step.target) == ("craft", "crafting_table")
    assert step.knowledge == (skill.entry_id[:8],)
    unknowing = mistaken(minecraft, recipes={**minecraft.recipes, "crafting_table": ()})
    subgoals = plan_of(unknowing, asked, minecraft)
    assert words(subgoals)[-1] == "craft crafting_table 1"
    assert "craft #planks 4" not in words(subgoals)


def test_a_changed_recipe_reaches_plans_only_through_the_copy_or_through_knowledge(minecraft: Domain) -> None:
    changed = replace(
        minecraft,
        recipes={
            **minecraft.recipes,
            "stone_axe": (Recipe("stone_axe", 1, (("dirt", 2),), needs_table=False),),
        },
    )
    goal = goal_of("stone_axe")
    believer = RulesStandIn(minecraft)
    # The world changed and the copy did not: same requests, same answers, byte for byte.
    one, other = (plan_request(situation(goal), domain) for domain in (minecraft, changed))
    assert one.request_id == other.request_id
    assert believer.generate([one]) == believer.generate([other])
    # The copy changed: so does the plan.
    assert words(plan_of(RulesStandIn(changed), situation(goal), minecraft)) == [
        "mine dirt 2",
        "craft stone_axe 1",
    ]
    # Knowledge from the changed world says so: the old recipe is not followed any more.
    fact = success(
        "craft",
        "stone_axe",
        [("craft", "stone_axe", 1)],
        {"stone_axe": 1, "dirt": -2},
        before=state({"dirt": 3}, near=[]),
    )
    skill = learnt(changed, fact, by=RulesStandIn(changed))
    assert words(plan_of(believer, situation(goal, skills=(skill,)), changed)) == [
        "mine dirt 2",
        "craft stone_axe 1",
    ]


def test_misconceptions_persist_over_calls_and_engines(minecraft: Domain) -> None:
    asked = [situation(goal_of(name)) for name in ("iron_pickaxe", "furnace", "shield", "rail")]
    one, same = RulesStandIn.for_rollouts(minecraft, 3), RulesStandIn.for_rollouts(minecraft, 3)
    assert one.name == same.name
    assert one.beliefs.wrong
    for each in asked:
        assert answered(one, each, minecraft).raw == answered(same, each, minecraft).raw
        assert answered(one, each, minecraft).raw == answered(one, each, minecraft).raw
    names = {RulesStandIn.for_rollouts(minecraft, seed).name for seed in range(4)}
    assert len(names) == 4


def test_mistaken_plans_keep_the_grammar(minecraft: Domain, suite_tasks: tuple[Task, ...]) -> None:
    for seed in range(3):
        engine = RulesStandIn(minecraft, seed, misconceptions=0.5)
        for task in suite_tasks[::5]:
            goal = Goal(text=task.instruction, any_of=task.any_of, count=task.count)
            assert plan_of(engine, situation(goal), minecraft)


def test_heights_that_are_believed_are_gone_to(minecraft: Domain) -> None:
    held = {"iron_pickaxe": 1}
    engine = RulesStandIn(minecraft, heights={"diamond_ore": Heights(5, 15)})
    subgoals = plan_of(engine, situation(goal_of("diamond"), held), minecraft)
    assert words(subgoals) == ["move None 1", "mine diamond_ore 1"]
    assert [(each.type, each.value) for each in subgoals[0].checks] == [("ypos_le", 15.0)]
    assert words(plan_of(RulesStandIn(minecraft), situation(goal_of("diamond"), held), minecraft)) == [
        "mine diamond_ore 1"
    ]


def test_a_wrong_diagnosis_gives_another_repair_under_the_true_failure(minecraft: Domain) -> None:
    fact = failure(
        "craft", "stone_axe", "MISSING_STATION", missing={"crafting_table": 0}, before=state({}, near=[])
    )
    engine = RulesStandIn(minecraft, seed=1, wrong_diagnoses=1.0)
    assert engine.name != RulesStandIn(minecraft, seed=1).name
    found = learnt(minecraft, fact, by=engine)
    right = learnt(minecraft, fact)
    assert found.content != right.content
    assert Predicate(field="failure_type", op="eq", value="MISSING_STATION") in found.trigger
    assert RulesStandIn(minecraft, seed=1).name == RulesStandIn(minecraft, seed=2).name


def test_nothing_outside_the_domain_names_an_item(minecraft: Domain) -> None:
    names = {name for name in minecraft.items | minecraft.blocks if "_" in name}
    for path in (ROOT / "prompts").rglob("*"):
        if path.suffix in (".py", ".j2", ".toml") and path.is_file():
            text = Path(path).read_text(encoding="utf-8")
            found = sorted(name for name in names if f'"{name}"' in text or f"'{name}'" in text)
            assert found == [], path
