"""Skills over several subgoals: which segment becomes which request, and what the stand-in makes of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from prompts.engines.rules import RulesStandIn
from prompts.inducer import SEGMENT_TEMPLATE, SKILL_TEMPLATE, induce, requests_for
from prompts.rendering import TEMPLATES
from prompts.segments import SegmentSituation
from prompts.situations import SkillSituation
from tests.test_inducer import only_request, state, success
from warehouse.acceptance import reasons_against
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Candidate, SkillContent

Done = tuple[str, str, dict[str, int]]
LOGS: Done = ("mine", "oak_log", {"oak_log": 3})
PLANKS: Done = ("craft", "oak_planks", {"oak_log": -3, "oak_planks": 12})
STICKS: Done = ("craft", "stick", {"oak_planks": -2, "stick": 4})
TABLE: Done = ("craft", "crafting_table", {"oak_planks": -4, "crafting_table": 1})
PLACED: Done = ("use", "crafting_table", {"crafting_table": -1})
PICKAXE: Done = ("craft", "wooden_pickaxe", {"oak_planks": -3, "stick": -2, "wooden_pickaxe": 1})
STONE: Done = ("mine", "stone", {"cobblestone": 3})


def run(
    episode: str,
    *done: Done,
    held: Mapping[str, int] | None = None,
    near: tuple[str, ...] = (),
    seen: bool = True,
) -> list[FeedbackFact]:
    """Successes in a row, the last one due; with `seen` each shows the step by which it was done."""
    facts, inventory, stations = [], dict(held or {}), list(near)
    for attempt, (kind, target, change) in enumerate(done):
        many = max(change.get(target, 1), 1)
        fact = success(
            kind,
            target,
            [(kind, target, many)] if seen else [],
            change,
            episode=episode,
            attempt=attempt,
            before=state(inventory, near=stations),
            needed=many,
        )
        facts.append(replace(fact, skill_due=attempt == len(done) - 1))
        inventory = {item: inventory.get(item, 0) + change.get(item, 0) for item in {*inventory, *change}}
        stations = [*stations, target] if kind == "use" else stations
    return facts


def situation_of(domain: Domain, *facts: FeedbackFact) -> SegmentSituation:
    request = only_request(domain, *facts)
    assert request.template == SEGMENT_TEMPLATE
    assert isinstance(request.situation, SegmentSituation)
    return request.situation


def skill(domain: Domain, *facts: FeedbackFact) -> tuple[Candidate, SkillContent]:
    """The stand-in's one skill; it has to pass every rule of Curator that looks at it alone."""
    [candidate] = induce(facts, domain, RulesStandIn(domain), "b1").candidates
    assert isinstance(candidate.content, SkillContent)
    assert reasons_against(candidate, {fact.feedback_id: fact for fact in facts}, domain) == ()
    return candidate, candidate.content


def conditions(content: SkillContent) -> set[tuple[str, str, Any]]:
    return {(each.field, each.op, each.value) for each in content.preconditions}


def done_by(content: SkillContent) -> list[str]:
    return [f"{step.kind} {step.target} {step.count}" for step in content.steps]


def test_segments_with_the_same_subgoals_are_one_request_that_cites_every_attempt(minecraft: Domain) -> None:
    facts = [*run("e1", LOGS, PLANKS, STICKS), *run("e2", LOGS, PLANKS, STICKS)]
    situation = situation_of(minecraft, *facts)
    assert [(each.kind, each.target, each.count) for each in situation.subgoals] == [
        ("mine", "oak_log", 3),
        ("craft", "oak_planks", 12),
        ("craft", "stick", 4),
    ]
    assert (situation.kind, situation.target, situation.needed) == ("craft", "stick", 4)
    assert (situation.rows, situation.episodes) == (2, 2)
    assert situation.gains == {"oak_planks": 10, "stick": 4}
    candidate, _ = skill(minecraft, *facts)
    assert set(candidate.support) == {fact.feedback_id for fact in facts}


@pytest.mark.parametrize(
    "other",
    [(PLANKS, STICKS), (LOGS, PLANKS, TABLE), (LOGS, TABLE, PLANKS, STICKS)],
    ids=["shorter", "other end", "one more"],
)
def test_other_subgoals_are_another_situation(minecraft: Domain, other: tuple[Done, ...]) -> None:
    held = {"oak_log": 6, "oak_planks": 8}
    facts = [*run("e1", LOGS, PLANKS, STICKS), *run("e2", *other, held=held)]
    assert len(requests_for(facts, minecraft)) == 2


def test_one_attempt_is_told_as_ever(minecraft: Domain) -> None:
    alone = run("e1", STICKS, held={"oak_planks": 4})
    request = only_request(minecraft, *alone)
    assert request.template == SKILL_TEMPLATE
    assert not isinstance(request.situation, SegmentSituation)
    repeated = run("e2", STICKS, STICKS, STICKS, held={"oak_planks": 9})
    both = only_request(minecraft, *alone, *repeated).situation
    assert isinstance(both, SkillSituation)
    assert sorted(row.attempt for row in both.cited) == [0, 2], "repeats are segments of their own"


def test_a_subgoal_stands_for_an_attempt_of_which_nothing_was_seen(minecraft: Domain) -> None:
    logs, planks, sticks = run("e1", LOGS, PLANKS, STICKS)
    _, content = skill(minecraft, replace(logs, steps=()), planks, sticks)
    assert done_by(content) == ["mine oak_log 3", "craft oak_planks 12", "craft stick 4"]
    assert conditions(content) == set(), "nothing that was held before is used up"


def test_a_window_counts_the_rows_of_a_segment_singly(minecraft: Domain) -> None:
    facts = [fact for n in range(7) for fact in run(f"e{n}", LOGS, PLANKS, STICKS)]
    [request] = requests_for(facts, minecraft, window=8)
    situation = request.situation
    assert isinstance(situation, SegmentSituation)
    assert (situation.rows, len(situation.cited)) == (7, 2)
    [narrow] = requests_for(facts, minecraft, window=1)
    assert isinstance(narrow.situation, SegmentSituation)
    assert len(narrow.situation.cited) == 1, "a segment is never cut by the window"


def test_a_segment_longer_than_a_skill_may_be_is_told_from_its_end(minecraft: Domain) -> None:
    facts = run("e1", *(LOGS, PLANKS) * 7, STICKS)
    situation = situation_of(minecraft, *facts)
    assert len(situation.subgoals) == 12
    assert [each.attempt for each in situation.cited[0].members] == list(range(3, 15))
    candidate, _ = skill(minecraft, *facts)
    assert set(candidate.support) == {fact.feedback_id for fact in facts[3:]}


def test_a_segment_is_told_from_the_last_attempt_that_cannot_be_read(minecraft: Domain) -> None:
    first, odd, planks, sticks = run("e1", STONE, LOGS, PLANKS, STICKS)
    unread = replace(odd, steps=(*odd.steps, replace(odd.steps[0], name="no_such_thing")))
    situation = situation_of(minecraft, first, unread, planks, sticks)
    assert [each.kind for each in situation.subgoals] == ["craft", "craft"]


def test_a_table_that_the_segment_places_is_no_precondition(minecraft: Domain) -> None:
    facts = run("e1", LOGS, PLANKS, STICKS, TABLE, PLACED, PICKAXE, STONE, seen=False)
    _, content = skill(minecraft, *facts)
    assert conditions(content) == set(), "neither the table nor the pickaxe nor what they are made of"
    assert done_by(content)[-3:] == ["use crafting_table 1", "craft wooden_pickaxe 1", "mine stone 1"]
    assert {each.name: each.count for each in content.effects} == {
        "oak_planks": 3,
        "stick": 2,
        "wooden_pickaxe": 1,
        "cobblestone": 3,
    }
    beside = run("e1", PLANKS, STICKS, PICKAXE, held={"oak_log": 4}, near=("crafting_table",))
    _, content = skill(minecraft, *beside)
    assert conditions(content) == {("near.crafting_table", "eq", True), ("inventory.oak_log", "ge", 3)}


def test_a_tool_that_was_held_is_a_precondition_only_if_the_segment_does_not_make_it(
    minecraft: Domain,
) -> None:
    held = {"wooden_pickaxe": 1, "oak_planks": 3, "stick": 2}
    _, content = skill(minecraft, *run("e1", LOGS, STONE, held=held))
    assert ("inventory.wooden_pickaxe", "ge", 1) in conditions(content)
    _, content = skill(minecraft, *run("e1", PICKAXE, STONE, held=held, near=("crafting_table",)))
    assert conditions(content) == {
        ("inventory.oak_planks", "ge", 3),
        ("inventory.stick", "ge", 2),
        ("near.crafting_table", "eq", True),
    }


def test_what_is_needed_first_is_a_precondition_even_if_it_is_made_again(minecraft: Domain) -> None:
    facts = run("e1", STICKS, PLANKS, TABLE, PLACED, PICKAXE, held={"oak_planks": 2, "oak_log": 3})
    _, content = skill(minecraft, *facts)
    assert conditions(content) == {("inventory.oak_planks", "ge", 2), ("inventory.oak_log", "ge", 3)}


def test_a_segment_is_told_from_where_it_leads_to_its_end(minecraft: Domain) -> None:
    # Sticks of the first log, and then more logs: what came of the first leads to none of the others.
    first = [("mine", "birch_log", {"birch_log": 1}), ("craft", "birch_planks", {"birch_log": -1})]
    facts = run("e1", *first, STICKS, LOGS, held={"oak_planks": 2})
    request = only_request(minecraft, *facts)
    assert request.template == SKILL_TEMPLATE
    assert request.situation == only_request(minecraft, facts[-1]).situation
    # Sticks are no part of the way to a table; what goes into it is, and so is a tool for what comes after.
    situation = situation_of(minecraft, *run("e2", STICKS, LOGS, PLANKS, TABLE, held={"oak_planks": 2}))
    assert [each.target for each in situation.subgoals] == ["oak_log", "oak_planks", "crafting_table"]
    situation = situation_of(minecraft, *run("e3", PICKAXE, STONE, held={"oak_planks": 3, "stick": 2}))
    assert [each.target for each in situation.subgoals] == ["wooden_pickaxe", "stone"]


def test_nothing_is_induced_where_the_end_is_not_due(minecraft: Domain) -> None:
    facts = [replace(fact, skill_due=False) for fact in run("e1", LOGS, PLANKS, STICKS)]
    assert requests_for(facts, minecraft) == []


def test_a_prompt_tells_the_subgoals_and_every_attempt(minecraft: Domain) -> None:
    request = only_request(minecraft, *run("e1", LOGS, PLANKS, STICKS))
    assert {f"{SEGMENT_TEMPLATE}.{part}.j2" for part in ("system", "user")} <= {
        path.name for path in TEMPLATES.iterdir()
    }
    assert "1. mine oak_log x3\n2. craft oak_planks x12\n3. craft stick x4\n" in request.user
    assert "attempts 0 to 2" in request.user
    assert '- craft oak_planks x12, inventory change: {"oak_log": -3, "oak_planks": 12}' in request.user
    assert 'inventory change of the run: {"oak_planks": 10, "stick": 4}' in request.user
    assert "whole run" in request.system
