"""The stand-in as adaptor: it takes what speaks of the failure, and tries again where nothing does.
`step_of`, `seen` and `repair_of` serve the other tests of planning too."""

from collections.abc import Mapping, Sequence
from typing import Any

from prompts.engines.rules import RulesStandIn
from prompts.plan_responses import RepairResponse
from prompts.planning import Goal, PlanStep, RepairSituation, Seen
from tests.test_inducer import failure, state
from tests.test_rules_planner import (
    HERE,
    answered,
    goal_of,
    learnt,
    plan_of,
    situation,
    station_remedy,
    without_table,
    words,
)
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.state import flatten_state


def step_of(subgoal_id: str, kind: str, target: str | None, standing: str) -> PlanStep:
    return PlanStep.model_validate(
        {
            "subgoal_id": subgoal_id,
            "kind": kind,
            "target": target,
            "count": 1,
            "checks": (),
            "standing": standing,
            "holds_now": None,
        }
    )


def seen(kind: str, target: str | None, failure_type: str | None) -> Seen:
    return Seen(
        attempt=3,
        kind=kind,
        target=target,
        needed=1,
        y=failure_type is None,
        failure_type=failure_type or "NONE",
        missing=(),
        causes=(),
        progress=0.0,
        stagnant=False,
        change={},
        evidence=None,
    )


def repair_of(
    goal: Goal, plan: Sequence[PlanStep], kept: int, failed: Seen, held: Mapping[str, int], **changes: Any
) -> RepairSituation:
    flat = flatten_state({**state(held), **HERE})
    return RepairSituation(
        domain="minecraft",
        goal=goal,
        state=flat,
        calls_left=7,
        plan=tuple(plan),
        kept=kept,
        repair=1,
        recent=(failed,),
        **changes,
    )


def test_a_repair_takes_the_temporary_remedy(minecraft: Domain) -> None:
    engine, remedy = without_table(minecraft, "stone_axe"), station_remedy(minecraft)
    plan = [step_of("sg_001", "mine", "stone", "done"), step_of("sg_002", "craft", "stone_axe", "failed")]
    asked = repair_of(
        goal_of("stone_axe"),
        plan,
        1,
        seen("craft", "stone_axe", "MISSING_STATION"),
        {"cobblestone": 3, "stick": 2, "oak_planks": 4},
        temporary=(remedy,),
    )
    value = answered(engine, asked, minecraft).value
    assert isinstance(value, RepairResponse)
    assert value.kept_prefix == ("sg_001",)
    assert value.active_remedies_used == (remedy.entry_id[:8],)
    assert words(value.repaired_suffix) == [
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft stone_axe 1",
    ]
    assert value.repaired_suffix[-1].repair_source == remedy.entry_id[:8]
    assert plan_of(engine, asked, minecraft)


def stuck_remedy(domain: Domain) -> Entry:
    return learnt(domain, failure("mine", "oak_log", "NAV_STUCK", before=state({}, near=[])))


def test_being_stuck_is_cleared_where_one_is_stuck_and_nowhere_else(minecraft: Domain) -> None:
    engine, remedy = RulesStandIn(minecraft), stuck_remedy(minecraft)
    goal = goal_of("oak_log", text="Chop an oak log")
    plan = [step_of("sg_001", "mine", "oak_log", "failed")]
    asked = repair_of(goal, plan, 0, seen("mine", "oak_log", "NAV_STUCK"), {}, temporary=(remedy,))
    subgoals = plan_of(engine, asked, minecraft)
    assert words(subgoals) == ["move None 1", "mine oak_log 1"]
    assert subgoals[0].checks[0].type == "path_clear"
    assert subgoals[0].knowledge == (remedy.entry_id[:8],)
    assert words(plan_of(engine, situation(goal, remedies=(remedy,)), minecraft)) == ["mine oak_log 1"]


def test_without_a_remedy_it_looks_about_and_tries_again_for_longer(minecraft: Domain) -> None:
    engine = without_table(minecraft, "stone_axe")
    plan = [step_of("sg_001", "craft", "stone_axe", "failed")]
    held = {"cobblestone": 3, "stick": 2}
    asked = repair_of(goal_of("stone_axe"), plan, 0, seen("craft", "stone_axe", "MISSING_STATION"), held)
    subgoals = plan_of(engine, asked, minecraft)
    assert words(subgoals) == ["move None 1", "craft stone_axe 1"]
    [before] = plan_of(engine, situation(goal_of("stone_axe"), held), minecraft)
    assert subgoals[1].timeout_s > before.timeout_s


def test_a_plan_that_is_used_up_is_gone_on_with(minecraft: Domain) -> None:
    plan = [step_of("sg_001", "use", "crafting_table", "done"), step_of("sg_002", "mine", "stone", "done")]
    asked = repair_of(
        goal_of("stone_axe"), plan, 2, seen("mine", "stone", None), {"cobblestone": 3, "stick": 2}
    )
    assert words(plan_of(RulesStandIn(minecraft), asked, minecraft)) == [
        "move crafting_table 1",
        "craft stone_axe 1",
    ]


def test_a_station_that_could_not_be_got_back_to_is_made_anew(minecraft: Domain) -> None:
    plan = [
        step_of("sg_001", "use", "crafting_table", "done"),
        step_of("sg_002", "move", "crafting_table", "failed"),
    ]
    failed = seen("move", "crafting_table", "TARGET_NOT_FOUND")
    held = {"cobblestone": 3, "stick": 2, "oak_planks": 4}
    asked = repair_of(goal_of("stone_axe"), plan, 1, failed, held)
    assert "craft crafting_table 1" in words(plan_of(RulesStandIn(minecraft), asked, minecraft))


def test_a_remedy_that_was_tried_in_vain_gives_way_to_another_route(minecraft: Domain) -> None:
    engine, remedy = RulesStandIn(minecraft), stuck_remedy(minecraft)
    goal = goal_of("oak_log", text="Chop an oak log")
    failed = seen("mine", "oak_log", "NAV_STUCK")
    asked = repair_of(
        goal, [step_of("sg_001", "mine", "oak_log", "failed")], 0, failed, {}, temporary=(remedy,)
    )
    [first, _] = plan_of(engine, asked, minecraft)
    assert first.knowledge == (remedy.entry_id[:8],)
    walked = seen("move", None, None).model_copy(update={"y": None})
    again = asked.model_copy(update={"recent": (failed, walked, failed)})
    [other, mining] = plan_of(engine, again, minecraft)
    assert "route" in other.condition
    assert other.knowledge == mining.knowledge == ()


def test_a_temporary_and_a_stored_remedy_that_do_the_same_are_one(minecraft: Domain) -> None:
    stored = stuck_remedy(minecraft)
    temporary = stored.model_copy(update={"entry_id": "f" * 20})
    asked = repair_of(
        goal_of("oak_log", text="Chop an oak log"),
        [step_of("sg_001", "mine", "oak_log", "failed")],
        0,
        seen("mine", "oak_log", "NAV_STUCK"),
        {},
        temporary=(temporary,),
        remedies=(stored,),
    )
    subgoals = plan_of(RulesStandIn(minecraft), asked, minecraft)
    assert words(subgoals) == ["move None 1", "mine oak_log 1"]
    assert set(subgoals[0].knowledge) == {"f" * 8, stored.entry_id[:8]}


def test_a_remedy_for_the_way_back_is_tried_before_a_station_is_made_anew(minecraft: Domain) -> None:
    failed = seen("move", "crafting_table", "NAV_STUCK")
    plan = [
        step_of("sg_001", "use", "crafting_table", "done"),
        step_of("sg_002", "move", "crafting_table", "failed"),
    ]
    held = {"cobblestone": 3, "stick": 2, "oak_planks": 4}
    remedy = learnt(minecraft, failure("move", "crafting_table", "NAV_STUCK", before=state({}, near=[])))
    asked = repair_of(goal_of("stone_axe"), plan, 1, failed, held, remedies=(remedy,))
    engine = RulesStandIn(minecraft)
    assert words(plan_of(engine, asked, minecraft)) == [
        "move None 1",
        "move crafting_table 1",
        "craft stone_axe 1",
    ]
    walked = seen("move", None, None).model_copy(update={"y": None})
    again = asked.model_copy(update={"recent": (failed, walked, failed)})
    assert "craft crafting_table 1" in words(plan_of(engine, again, minecraft))


def test_what_failed_in_this_very_state_is_not_tried_again(minecraft: Domain) -> None:
    # A wrong diagnosis, as one is drawn now and then: planks are made in the hand, and a table of them.
    at_hand = state({"oak_log": 3})
    table = failure("craft", "#planks", "MISSING_STATION", missing={"crafting_table": 1}, before=at_hand)
    planks = failure(
        "craft", "crafting_table", "MISSING_INGREDIENT", missing={"oak_planks": 4}, before=at_hand
    )
    both = (learnt(minecraft, planks), learnt(minecraft, table))
    plan = [step_of("sg_001", "craft", "crafting_table", "failed")]
    failed = seen("craft", "crafting_table", "MISSING_INGREDIENT")
    asked = repair_of(goal_of("wooden_pickaxe"), plan, 0, failed, {"oak_log": 3}, temporary=both)
    assert words(plan_of(RulesStandIn(minecraft), asked, minecraft))[0] == "craft #planks 12"
    # Where the pack has changed since, the state is another, and what is known counts again.
    changed = asked.model_copy(update={"recent": (failed.model_copy(update={"change": {"oak_log": 1}}),)})
    assert words(plan_of(RulesStandIn(minecraft), changed, minecraft))[0] == "craft crafting_table 1"
