"""Adaptor: which prefix is kept, the temporary remedy, and repairs that end."""

import json
from typing import Any

import pytest

from prompts.engines.rules import RulesStandIn
from prompts.planning import RepairSituation
from prompts.responses import failed_answer, read_answer
from prompts.situations import RemedySituation
from rollouts.adaptor import Adaptor, standing_plan
from rollouts.budget import BudgetSpentError, CallBudget
from rollouts.planner import TEMPORARY, Moment, Plan, PlanningFailure, Recall, Retry
from rollouts.protocols import Subgoal
from tests.test_inducer import failure, state, success
from tests.test_planner import moment, recall
from tests.test_planning import repair, subgoal
from tests.test_rules_planner import station_remedy, without_table
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Check
from warehouse.state import CHECKS, flatten_state


def check(type_: str, name: str | None = None, value: float | None = None) -> Check:
    return Check(type=type_, name=name, value=value)


def step(name: str, kind: str, target: str | None, *checks: Check) -> Subgoal:
    return Subgoal(name, f"{kind} {target}", kind, target, checks=checks)


LOGS = step("sg_001", "mine", "oak_log", check("inv_ge", "oak_log", 3.0))
PLANKS = step("sg_002", "craft", "oak_planks", check("inv_ge", "oak_planks", 12.0))
TABLE = step("sg_003", "use", "crafting_table", check("station_near", "crafting_table"))
AXE = step("sg_004", "craft", "stone_axe", check("inv_ge", "stone_axe", 1.0))
PLAN = Plan("p", (LOGS, PLANKS, TABLE, AXE))


def standings(
    domain: Domain, outcomes: dict[str, bool | None], held: dict[str, int], **row: Any
) -> list[str]:
    flat = flatten_state({**state(held), "near": [], **row})
    steps, kept = standing_plan(PLAN, outcomes, flat, domain)
    return [*(each.standing for each in steps), str(kept)]


def test_what_was_done_is_kept_although_it_was_used_up(minecraft: Domain) -> None:
    done = {"sg_001": True, "sg_002": True, "sg_003": True, "sg_004": False}
    found = standings(minecraft, done, {"oak_planks": 2}, near=["crafting_table"])
    assert found == ["done", "done", "done", "failed", "3"]


def test_what_is_there_without_an_attempt_is_kept(minecraft: Domain) -> None:
    assert standings(minecraft, {"sg_001": False}, {"oak_log": 5, "oak_planks": 12}) == [
        "holds",
        "holds",
        "open",
        "open",
        "2",
    ]


def test_the_prefix_ends_at_the_first_step_that_is_open(minecraft: Domain) -> None:
    assert standings(minecraft, {"sg_001": False, "sg_003": True}, {}) == [
        "failed",
        "open",
        "done",
        "open",
        "0",
    ]
    assert standings(minecraft, {"sg_001": True, "sg_002": None}, {"oak_planks": 3})[-1] == "2"
    everything = dict.fromkeys(("sg_001", "sg_002", "sg_003", "sg_004"), True)
    assert standings(minecraft, everything, {})[-1] == "4"


MET: dict[str, tuple[Check, dict[str, Any], bool | None]] = {
    "inv_ge": (check("inv_ge", "#logs", 3.0), state({"oak_log": 1, "birch_log": 2}), True),
    "inv_lt": (check("inv_lt", "dirt", 3.0), state({"dirt": 2}), True),
    "ypos_le": (check("ypos_le", value=15.0), state({}, y=15.0), True),
    "ypos_ge": (check("ypos_ge", value=60.0), state({}, y=12.0), False),
    "path_clear": (check("path_clear"), state({}, y=12.0), None),
    "gui_closed": (check("gui_closed"), state({}, gui="furnace"), False),
    "station_near": (check("station_near", "furnace"), state({}, near=["furnace"]), True),
    "alive": (check("alive"), state({}, alive=True), True),
}


def test_every_type_of_check_is_evaluated_on_the_state(minecraft: Domain) -> None:
    assert MET.keys() == minecraft.check_types.keys() == CHECKS.keys()
    for one, row, expected in MET.values():
        [found], kept = standing_plan(
            Plan("p", (step("sg_001", "wait", None, one),)), {}, flatten_state(row), minecraft
        )
        assert found.holds_now is expected
        assert kept == int(expected is True)


def no_table(attempt: int = 3, **changes: Any) -> FeedbackFact:
    return failure(
        "craft",
        "stone_axe",
        "MISSING_STATION",
        missing={"crafting_table": 0},
        attempt=attempt,
        before=state({"cobblestone": 3, "stick": 2}, near=[]),
        **changes,
    )


def at_failure(*facts: FeedbackFact, **changes: Any) -> Moment:
    return moment("stone_axe", {"cobblestone": 3, "stick": 2, "oak_planks": 4}, facts=facts, **changes)


def test_the_failure_at_hand_is_diagnosed_whether_or_not_it_is_due(minecraft: Domain) -> None:
    adaptor = Adaptor(minecraft, recall(minecraft))
    earlier = failure("mine", "stone", "MISSING_TOOL", attempt=1)
    request = adaptor.diagnosis(at_failure(earlier, no_table(remedy_due=False, stagnant=False)))
    assert request is not None
    assert request.role == "inducer_remedy"
    assert isinstance(request.situation, RemedySituation)
    assert request.situation.failure_type == "MISSING_STATION"


def test_nothing_is_diagnosed_where_nothing_failed_or_nothing_is_said(minecraft: Domain) -> None:
    adaptor = Adaptor(minecraft, recall(minecraft))
    assert adaptor.diagnosis(at_failure()) is None
    won = success("craft", "stick", [("craft", "stick", 4)], {"stick": 4}, attempt=4)
    assert adaptor.diagnosis(at_failure(no_table(), won)) is None
    assert adaptor.diagnosis(at_failure(failure("craft", "stick", "UNKNOWN", attempt=3))) is None


def test_a_repair_follows_the_temporary_remedy_which_is_no_usage(minecraft: Domain) -> None:
    """The paper's second case, within one episode: a forgotten table is put there."""
    model = without_table(minecraft, "stone_axe")
    adaptor = Adaptor(minecraft, recall(minecraft))
    now = at_failure(no_table())
    request = adaptor.diagnosis(now)
    assert request is not None
    [answer] = model.generate([request])
    remedy = adaptor.remedy(request, answer, "b1")
    assert isinstance(remedy, Entry)
    outcomes: dict[str, bool | None] = {"sg_001": True, "sg_002": True, "sg_003": True, "sg_004": False}
    asked = adaptor.request(now, PLAN, outcomes, [remedy])
    [answer] = model.generate([asked.request])
    mended = adaptor.read(asked, answer)
    assert isinstance(mended, Plan)
    assert mended.kept == 3
    assert mended.subgoals[:3] == PLAN.subgoals[:3]
    assert [(each.kind, each.target) for each in mended.subgoals[3:]][-2:] == [
        ("move", "crafting_table"),
        ("craft", "stone_axe"),
    ]
    written = f"{TEMPORARY}{remedy.entry_id}"
    assert mended.subgoals[-1].knowledge == (written,)
    assert mended.remedies == (written,)
    assert asked.budget.row()["repairs"] == 1


def test_an_inducer_that_abstains_leaves_no_remedy(minecraft: Domain) -> None:
    adaptor = Adaptor(minecraft, recall(minecraft))
    request = adaptor.diagnosis(at_failure(failure("craft", "stick", "RECIPE_FAIL", attempt=3)))
    assert request is not None
    [answer] = RulesStandIn(minecraft).generate([request])
    assert adaptor.remedy(request, answer, "b1") is None
    assert adaptor.remedy(request, failed_answer(request, "m", "engine", ""), "b1") is None


def test_stored_and_temporary_knowledge_share_the_tokens(minecraft: Domain) -> None:
    remedy = station_remedy(minecraft)
    stored = Adaptor(minecraft, recall(minecraft, remedy))
    asked = stored.request(at_failure(no_table()), PLAN, {}, [remedy])
    assert asked.situation.remedies == (remedy,)
    assert isinstance(asked.situation, RepairSituation)
    assert asked.situation.temporary == ()
    assert asked.recorded == {remedy.entry_id[:8]: (remedy.entry_id,)}
    tight: Recall = recall(minecraft, budget=10)
    none = Adaptor(minecraft, tight).request(at_failure(no_table()), PLAN, {}, [remedy])
    assert none.situation.entries == ()


def test_a_repair_that_breaks_the_schema_is_retried_once(minecraft: Domain) -> None:
    adaptor = Adaptor(minecraft, recall(minecraft))
    asked = adaptor.request(at_failure(no_table(), budget=CallBudget(plans=1)), PLAN, {"sg_001": True})
    bad = json.dumps(repair(subgoal(subgoal_id="r1_001")))
    retry = adaptor.read(asked, read_answer(asked.request, "m", bad))
    assert isinstance(retry, Retry)
    assert retry.fault == "kept_prefix must be ['sg_001'], as it was given"
    good = json.dumps(repair(subgoal(subgoal_id="r1_001"), kept=("sg_001",)))
    mended = adaptor.read(retry.asked, read_answer(retry.asked.request, "m", good))
    assert isinstance(mended, Plan)
    assert [each.subgoal_id for each in mended.subgoals] == ["sg_001", "r1_001"]
    failed = adaptor.read(retry.asked, read_answer(retry.asked.request, "m", bad))
    assert isinstance(failed, PlanningFailure)
    assert failed.budget.row() == {
        "plans": 1,
        "repairs": 1,
        "retries": 1,
        "diagnoses": 0,
        "used": 3,
        "remaining": 6,
    }


def test_repairs_end(minecraft: Domain) -> None:
    adaptor = Adaptor(minecraft, recall(minecraft))
    budget = CallBudget(plans=1)
    for _ in range(8):
        budget = adaptor.request(at_failure(no_table(), budget=budget), PLAN, {}).budget
    assert budget.remaining == 0
    with pytest.raises(BudgetSpentError):
        adaptor.request(at_failure(no_table(), budget=budget), PLAN, {})
