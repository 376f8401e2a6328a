"""Planner: requests in batches, one retry, the call budget, retrieval within real tokens, and usage."""

import json
from dataclasses import replace
from typing import Any

import pytest

from prompts.engines.rules import RulesStandIn
from prompts.language_model import ModelAnswer
from prompts.responses import failed_answer, read_answer
from prompts.tokens import PieceCounter
from rollouts.budget import REPAIRS, BudgetSpentError, CallBudget
from rollouts.planner import (
    KNOWLEDGE_TOKENS,
    TEMPORARY,
    Asked,
    Attempted,
    Moment,
    Plan,
    Planner,
    PlanningFailure,
    Recall,
    Retry,
    Timed,
    usage_from,
)
from tests.test_inducer import failure, state, success
from tests.test_planning import plan, subgoal
from tests.test_rules_planner import goal_of, learnt, station_remedy, table_skill, without_table
from warehouse.domains import Domain
from warehouse.entries import Entry, Usage
from warehouse.retrieval import Index
from warehouse.state import flatten_state


def recall(domain: Domain, *entries: Entry, budget: int = KNOWLEDGE_TOKENS) -> Recall:
    return Recall(Index.build(entries, domain), PieceCounter(), budget)


def moment(name: str, held: dict[str, int] | None = None, **changes: Any) -> Moment:
    flat = flatten_state({**state(held or {}), "near": [], "y": 64.0})
    return Moment("e" * 20, goal_of(name), flat, **changes)


def said(asked: Asked, value: Any) -> ModelAnswer:
    return read_answer(asked.request, "m", value if isinstance(value, str) else json.dumps(value))


def test_many_episodes_are_asked_for_at_once(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    asked = [planner.request(moment(name)) for name in ("stick", "furnace", "bucket")]
    answers = RulesStandIn(minecraft).generate([each.request for each in asked])
    plans = [planner.read(one, answer) for one, answer in zip(asked, answers, strict=True)]
    for each in plans:
        assert isinstance(each, Plan)
        assert each.kept == 0
        assert len({subgoal.subgoal_id for subgoal in each.subgoals}) == len(each.subgoals)
    assert [each.budget.row() for each in asked] == [
        {"plans": 1, "repairs": 0, "retries": 0, "diagnoses": 0, "used": 1, "remaining": 8}
    ] * 3
    assert asked[0].situation.calls_left == 8


def test_a_plan_records_the_knowledge_of_each_subgoal(minecraft: Domain) -> None:
    remedy, skill = station_remedy(minecraft), table_skill(minecraft, ["crafting_table"])
    planner = Planner(minecraft, recall(minecraft, remedy))
    asked = planner.request(moment("stone_axe", {"cobblestone": 3, "stick": 2, "crafting_table": 1}))
    assert asked.situation.remedies == (remedy,)
    [answer] = without_table(minecraft, "stone_axe").generate([asked.request])
    made = planner.read(asked, answer)
    assert isinstance(made, Plan)
    assert [(each.kind, each.target, each.knowledge) for each in made.subgoals] == [
        ("use", "crafting_table", (remedy.entry_id,)),
        ("craft", "stone_axe", (remedy.entry_id,)),
    ]
    again = planner.read(asked, answer)
    assert isinstance(again, Plan)
    assert again.plan_id == made.plan_id
    both = Planner(minecraft, recall(minecraft, remedy, skill)).request(moment("stone_axe"))
    assert both.situation.skills == (skill,)
    assert both.request.request_id != asked.request.request_id


def test_knowledge_stays_within_its_tokens(minecraft: Domain) -> None:
    entries = {
        found.entry_id: found
        for item in [*sorted(minecraft.tags["planks"]), "stick", "stone_axe", "stone_hoe", "furnace"]
        for found in [
            learnt(
                minecraft,
                failure(
                    "craft", item, "MISSING_STATION", missing={"crafting_table": 0}, before=state({}, near=[])
                ),
            )
        ]
    }
    for budget in (0, 100, KNOWLEDGE_TOKENS):
        shelf = recall(minecraft, *entries.values(), budget=budget)
        asked = Planner(minecraft, shelf).request(moment("stone_axe"))
        assert shelf.tokens_of(asked.situation.entries) <= budget
    assert asked.situation.entries


def test_who_asks_is_told_what_a_retrieval_took(minecraft: Domain) -> None:
    taken: list[Timed] = []
    remedy = station_remedy(minecraft)
    shelf = Recall(Index.build([remedy], minecraft), PieceCounter(), timed=taken.append)
    timed, untimed = (Planner(minecraft, each) for each in (shelf, recall(minecraft, remedy)))
    asked = timed.request(moment("stone_axe"))
    assert [(each.active, each.retrieved) for each in taken] == [(1, 1)]
    assert taken[0].seconds > 0
    assert asked.request.request_id == untimed.request(moment("stone_axe")).request.request_id


def test_a_broken_answer_is_retried_once_with_the_reason(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    asked = planner.request(moment("stick"))
    retry = planner.read(asked, said(asked, plan(subgoal(checks=[]))))
    assert isinstance(retry, Retry)
    assert "checks" in retry.fault
    assert retry.asked.request.request_id != asked.request.request_id
    assert retry.fault in retry.asked.request.user.replace('\\"', '"')
    assert retry.asked.budget.row()["remaining"] == 7
    made = planner.read(retry.asked, said(retry.asked, plan(subgoal(target="oak_log"))))
    assert isinstance(made, Plan)
    failed = planner.read(retry.asked, said(retry.asked, "not json"))
    assert isinstance(failed, PlanningFailure)
    assert (failed.reason, failed.is_infrastructure) == ("invalid_json", False)
    assert failed.budget.used == 2


def test_a_plan_outside_the_grammar_is_retried_too(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    asked = planner.request(moment("stick"))
    retry = planner.read(asked, said(asked, plan(subgoal(target="vibranium"))))
    assert isinstance(retry, Retry)
    assert "unknown target 'vibranium'" in retry.fault
    failed = planner.read(retry.asked, said(retry.asked, plan(subgoal(target="vibranium"))))
    assert isinstance(failed, PlanningFailure)
    assert failed.reason == "schema"


def test_a_failing_engine_is_no_fault_of_the_plan(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    asked = planner.request(moment("stick"))
    failed = planner.read(asked, failed_answer(asked.request, "m", "engine", "connection lost"))
    assert isinstance(failed, PlanningFailure)
    assert failed.is_infrastructure


def test_no_retry_without_budget(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    asked = planner.request(moment("stick", budget=CallBudget(repairs_allowed=0)))
    assert isinstance(planner.read(asked, said(asked, "{}")), PlanningFailure)


def test_answers_are_not_mixed_up(minecraft: Domain) -> None:
    planner = Planner(minecraft, recall(minecraft))
    one, other = planner.request(moment("stick")), planner.request(moment("furnace"))
    with pytest.raises(ValueError, match="paired with"):
        planner.read(one, said(other, plan()))


def test_the_budget_is_one_plan_and_eight_repairs_retries_counted() -> None:
    budget = CallBudget().spend("plan")
    with pytest.raises(BudgetSpentError):
        budget.spend("plan")
    budget = budget.spend("retry").spend("repair").spend("retry")
    assert (budget.used, budget.remaining) == (4, 5)
    for _ in range(5):
        budget = budget.spend("repair")
    assert budget.used == 1 + REPAIRS
    assert budget.remaining == 0
    assert not budget.can_repair
    with pytest.raises(BudgetSpentError):
        budget.spend("repair")
    assert budget.diagnosed().row() == {**budget.row(), "diagnoses": 1}


def test_usage_comes_from_training_attempts_with_stored_knowledge() -> None:
    won = success("craft", "stick", [("craft", "stick", 4)], {"stick": 4}, episode="e2")
    lost = failure("craft", "stick", "MISSING_INGREDIENT", episode="e1", attempt=1)
    broken = failure("craft", "stick", "INFRASTRUCTURE", episode="e1", attempt=2)
    open_ = replace(won, y=None, attempt=7)
    rows = [
        Attempted(won, ("k1", f"{TEMPORARY}k2", "k1"), False),
        Attempted(broken, ("k1",), False),
        Attempted(lost, ("k3", "k1"), False),
        Attempted(open_, ("k1",), False),
        Attempted(replace(won, episode_id="f" * 20), ("k1",), True),
        Attempted(replace(won, episode_id="a" * 20), (), False),
    ]
    found = usage_from(rows)
    assert sorted(found, key=str) == sorted(
        [
            Usage(entry_id="k1", feedback_id=won.feedback_id, episode_id=won.episode_id, won=True),
            Usage(entry_id="k1", feedback_id=open_.feedback_id, episode_id=won.episode_id, won=None),
            Usage(entry_id="k3", feedback_id=lost.feedback_id, episode_id=lost.episode_id, won=False),
            Usage(entry_id="k1", feedback_id=lost.feedback_id, episode_id=lost.episode_id, won=False),
            Usage(entry_id="k1", feedback_id=broken.feedback_id, episode_id=lost.episode_id, won=None),
        ],
        key=str,
    )
    assert usage_from(reversed(rows)) == found
