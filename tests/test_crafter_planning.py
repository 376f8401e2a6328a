"""Crafter's differences where plans are made, judged and checked: stations that stand where they are made,
tools that take two of them, blocks that do not yield, tasks that an event alone shows."""

from collections.abc import Mapping
from typing import Any

import pytest

from prompts.engines.rules import RulesStandIn
from prompts.plan_responses import SubgoalAnswer
from prompts.planning import Goal, PlanSituation
from rollouts.goal_alone import goal_as_plan
from rollouts.protocols import EpisodeSpec
from tests.monitor_scenes import Row, Try, judge, sees, stand, types
from tests.test_inducer import state
from tests.test_monitor_tried_causes import keys
from tests.test_rules_planner import plan_of, words
from warehouse.domains import load_domain
from warehouse.execution import order_faults
from warehouse.knowledge import Candidate, Predicate, RemedyContent, Risk, SkillContent, Step
from warehouse.state import flatten_state
from warehouse.suites import find_suite
from warehouse.tasks import Task

DOMAIN = load_domain("crafter")
TASKS = find_suite("tech_tree", DOMAIN).tasks
IRON = {"wood": 1, "coal": 1, "iron": 1}


def plan(
    goal: Goal, held: Mapping[str, int] | None = None, near: tuple[str, ...] = ()
) -> tuple[SubgoalAnswer, ...]:
    flat = flatten_state({**state(held or {}), "near": sorted(near), "seen": []})
    asked = PlanSituation(domain="crafter", goal=goal, state=flat, calls_left=8)
    return plan_of(RulesStandIn(DOMAIN), asked, DOMAIN)


def steps_of(*written: str) -> tuple[Step, ...]:
    return tuple(
        Step(kind=kind, target=target, count=int(count))
        for kind, target, count in (each.split() for each in written)
    )


def skill(*written: str) -> Candidate:
    steps = steps_of(*written)
    about = steps[-1]
    return Candidate(
        domain="crafter",
        type="skill",
        trigger=(Predicate(field="kind", op="eq", value=about.kind),),
        content=SkillContent(kind=about.kind, target=about.target, steps=steps),
        build="b1",
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_true_facts_give_each_task_a_plan(task: Task) -> None:
    subgoals = plan(Goal(text=task.instruction, any_of=task.any_of, count=task.count))
    assert 1 <= len(subgoals) <= 12
    assert subgoals[-1].task_kind == task.kind


def test_a_station_is_built_where_it_is_needed_and_gone_back_to_where_it_stands() -> None:
    assert words(plan(Goal(text="", any_of=("stone_pickaxe",)))) == [
        "mine tree 4",
        "craft table 1",
        "craft wood_pickaxe 1",
        "mine stone 1",
        "move table 1",
        "craft stone_pickaxe 1",
    ]


def test_what_two_stations_take_is_at_hand_before_the_second_is_built_beside_the_first() -> None:
    held = {**IRON, "stone": 4}
    built = ["craft table 1", "craft furnace 1", "craft iron_sword 1"]
    assert words(plan(Goal(text="", any_of=("iron_sword",)), held | {"wood": 3})) == built
    assert words(plan(Goal(text="", any_of=("iron_sword",)), held, ("table",))) == built[1:]
    assert words(plan(Goal(text="", any_of=("iron_sword",)), held, ("table", "furnace"))) == built[2:]


def test_a_station_that_was_built_shows_by_standing_near() -> None:
    built = plan(Goal(text="Build a table"))[-1]
    assert [(check.type, check.name) for check in built.checks] == [("station_near", "table")]


@pytest.mark.parametrize(
    ("steps", "faulty"),
    [
        (("mine tree 3", "craft table 1", "craft wood_pickaxe 1"), False),
        (("mine tree 1", "craft wood_pickaxe 1", "craft table 1", "craft wood_pickaxe 1"), True),
        (("craft table 1", "craft furnace 1", "craft iron_pickaxe 1"), False),
        (("craft table 1", "craft iron_pickaxe 1", "craft furnace 1", "craft iron_pickaxe 1"), True),
    ],
)
def test_a_skill_s_stations_come_before_what_takes_them(steps: tuple[str, ...], faulty: bool) -> None:
    assert bool(order_faults(skill(*steps), DOMAIN)) == faulty


@pytest.mark.parametrize(("repair", "faulty"), [("craft furnace 1", False), ("mine coal 1", True)])
def test_building_the_missing_station_is_a_repair(repair: str, faulty: bool) -> None:
    risk = Risk(kind="craft", target="iron_pickaxe", failure_type="MISSING_STATION", missing=("furnace",))
    remedy = Candidate(
        domain="crafter",
        type="remedy",
        trigger=(Predicate(field="failure_type", op="eq", value="MISSING_STATION"),),
        content=RemedyContent(risk=risk, repair=steps_of(repair, "craft iron_pickaxe 1")),
        build="b1",
    )
    assert bool(order_faults(remedy, DOMAIN)) == faulty


def craft(held: Mapping[str, int], *stations: str) -> Row:
    near = [sees(name, 0, kind="station", in_reach=True, distance=1.0) for name in stations]
    each = Try("craft", "iron_pickaxe", path=stand(20), ticks=keys(20, 5), held=held, sightings=near)
    return judge(each, DOMAIN)


@pytest.mark.parametrize(
    ("stations", "missing"), [((), "table"), (("table",), "furnace"), (("furnace",), "table")]
)
def test_monitor_names_the_station_that_is_not_there(stations: tuple[str, ...], missing: str) -> None:
    row = craft(IRON, *stations)
    assert types(row) == ["MISSING_STATION"]
    assert row["failure_evidence"]["name"] == missing


def test_with_both_stations_an_ingredient_is_what_was_missing() -> None:
    assert types(craft({"wood": 1, "coal": 1}, "table", "furnace")) == ["MISSING_INGREDIENT"]
    assert types(craft(IRON, "table", "furnace")) == ["RECIPE_FAIL"]


def struck(held: Mapping[str, int], *, word: str = "attack", in_reach: bool = True, **more: Any) -> Row:
    sight = sees("iron", 3, in_reach=in_reach, distance=1.0)
    ticks = {"action": [word] * 12}
    return judge(
        Try("mine", "iron", path=stand(12), ticks=ticks, held=held, sightings=[sight], **more), DOMAIN
    )


def test_a_block_that_was_struck_in_vain_lacked_a_tool() -> None:
    row = struck({"wood_pickaxe": 1})
    assert row["failure_type"] == "MISSING_TOOL"
    assert row["failure_evidence"]["name"] == "iron"
    assert "MISSING_TOOL" not in types(struck({"stone_pickaxe": 1}))
    assert "MISSING_TOOL" not in types(struck({}, changes=[(1, "iron_pickaxe", 1)]))


def test_who_did_not_strike_or_was_not_there_did_not_lack_a_tool_yet() -> None:
    assert "MISSING_TOOL" not in types(struck({}, word="noop"))
    assert "MISSING_TOOL" not in types(struck({}, in_reach=False))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_task_is_a_plan_of_itself(task: Task) -> None:
    spec = EpisodeSpec(
        "b", task.group, task.id, task.instruction, "crafter", 0, 0, task.horizon_ticks, None, "c"
    )
    (subgoal,) = goal_as_plan("e", spec, task, DOMAIN, "scripted").subgoals
    assert subgoal.kind == task.kind
    assert (subgoal.checks[0].type == "inv_ge") == bool(task.any_of)
