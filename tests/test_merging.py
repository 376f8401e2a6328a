"""Merging: only what says the same, and never beyond the evidence."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.good_cases import (
    DOMAIN,
    Case,
    ingredient_remedy,
    log_skill,
    planks_skill,
    state,
    step,
    stored,
    where,
)
from warehouse.acceptance import may_stand
from warehouse.curator import Curation, curate
from warehouse.entries import Usage
from warehouse.ids import derive_id
from warehouse.knowledge import Amount, Predicate, RemedyContent, Risk, SkillContent
from warehouse.merging import merges
from warehouse.state import flatten_state, matches


def moved(case: Case, number: int, before: dict[str, object] | None = None) -> Case:
    """The case with its evidence in another episode, and another state before it."""
    facts = {}
    for one in sorted(case.facts):
        known = case.facts[one]
        new = derive_id("feedback", [number, one])
        known = replace(known, feedback_id=new, episode_id=derive_id("episode", number))
        if before is not None:
            flat = flatten_state(before, kind=known.kind, target=known.target)
            known = replace(known, state_before=flat)
        facts[new] = known
    return Case(case.with_candidate(support=tuple(facts)).candidate, facts)


def with_condition(*conditions: Predicate, number: int, sticks: int = 0) -> Case:
    """The remedy for lack of sticks under these conditions, seen in one episode."""
    case = ingredient_remedy("oak", "axe")
    trigger = tuple(each for each in case.candidate.trigger if each.field != "inventory.stick")
    held = state({"stick": sticks, "cobblestone": 3}, ("crafting_table",))
    return moved(case.with_candidate(trigger=(*trigger, *conditions)), number, held)


def passed(*drawn: Case, usage: tuple[Usage, ...] = ()) -> Curation:
    facts = {one: known for case in drawn for one, known in case.facts.items()}
    return curate([case.candidate for case in drawn], facts, {}, usage, DOMAIN)


STICKS = "inventory.stick"


def test_different_triggers_of_one_remedy_merge_into_a_new_entry() -> None:
    one = with_condition(where(STICKS, "eq", 0), number=1)
    other = with_condition(where(STICKS, "eq", 1), number=2, sticks=1)
    result = passed(one, other)
    (new,) = [entry for entry in result.store.values() if entry.status == "active"]
    old = sorted([one.candidate.entry_id, other.candidate.entry_id])
    assert new.entry_id not in old
    assert list(new.merged_from) == old
    assert where(STICKS, "in", (0, 1)) in new.trigger
    assert new.support_episodes == 2
    assert {support.feedback_id for support in new.support} == {*one.facts, *other.facts}
    for entry_id in old:
        assert (result.store[entry_id].status, result.store[entry_id].merged_into) == ("merged", new.entry_id)
    assert [decision.verdict for decision in result.decisions] == ["accepted", "accepted"]
    assert {decision.merged_into for decision in result.decisions} == {new.entry_id}


def test_the_wider_of_two_triggers_absorbs_the_narrower() -> None:
    one = with_condition(where(STICKS, "lt", 1), number=1)
    other = with_condition(where(STICKS, "lt", 2), number=2, sticks=1)
    result = passed(one, other)
    wide = result.store[other.candidate.entry_id]
    assert wide.status == "active"
    assert wide.merged_from == (one.candidate.entry_id,)
    assert wide.support_episodes == 2
    assert result.store[one.candidate.entry_id].merged_into == wide.entry_id


def test_triggers_whose_union_is_no_trigger_stay_apart() -> None:
    one = with_condition(where(STICKS, "lt", 2), where("ypos", "lt", 70), number=1)
    other = with_condition(where(STICKS, "le", 0), where("ypos", "lt", 90), number=2)
    result = passed(one, other)
    assert {entry.status for entry in result.store.values()} == {"active"}
    assert len(result.store) == 2


def test_three_in_a_chain_become_one() -> None:
    drawn = [
        with_condition(where(STICKS, "ge", low), where(STICKS, "le", low + 1), number=low, sticks=low)
        for low in (0, 1, 2)
    ]
    result = passed(*drawn)
    (new,) = [entry for entry in result.store.values() if entry.status == "active"]
    assert set(new.merged_from) == {case.candidate.entry_id for case in drawn}
    assert new.support_episodes == 3
    assert where(STICKS, "le", 3) in new.trigger


def test_a_merge_adds_up_outcomes_by_distinct_episode() -> None:
    one = with_condition(where(STICKS, "eq", 0), number=1)
    other = with_condition(where(STICKS, "eq", 1), number=2, sticks=1)
    uses = [("e1", one, True), ("e1", other, True), ("e2", one, True), ("e3", other, False)]
    log = tuple(
        Usage(
            entry_id=case.candidate.entry_id, feedback_id=derive_id("f", place), episode_id=episode, won=won
        )
        for place, (episode, case, won) in enumerate(uses)
    )
    result = passed(one, other, usage=log)
    (new,) = [entry for entry in result.store.values() if entry.status == "active"]
    assert (new.uses, new.wins) == (3, 2)
    assert new.confidence == pytest.approx((1 + 2 + 2) / (2 + 2 + 2 + 1), abs=1e-6)


def test_merged_contents_say_what_both_say() -> None:
    case = planks_skill("oak")
    content = case.candidate.content
    assert isinstance(content, SkillContent)
    less = case.with_content(effects=(Amount(name="oak_planks", count=2), Amount(name="oak_log", count=-1)))
    result = passed(case, less)
    active = [entry for entry in result.store.values() if entry.status == "active"]
    assert [entry.content for entry in active] == [less.candidate.content]


def test_other_steps_conditions_or_effects_do_not_merge() -> None:
    case = log_skill("oak")
    more = case.with_content(steps=(step("mine", "oak_log", 2), step("mine", "oak_log")))
    when = case.with_content(preconditions=(where("ypos", "gt", 60),))
    without = case.with_content(effects=())
    result = passed(case, more, when, without)
    assert {entry.status for entry in result.store.values()} == {"active"}
    assert len(result.store) == 4


BOUNDS = st.tuples(st.sampled_from(("lt", "le", "gt", "ge", "eq")), st.integers(0, 6))


@settings(deadline=None)
@given(st.lists(st.lists(BOUNDS, min_size=1, max_size=2), min_size=2, max_size=4))
def test_a_merge_holds_where_one_of_its_sources_did_and_nowhere_else(
    drawn: list[list[tuple[str, int]]],
) -> None:
    entries = []
    for number, bounds in enumerate(drawn):
        conditions = tuple(
            Predicate.model_validate({"field": STICKS, "op": op, "value": bound}) for op, bound in bounds
        )
        case = with_condition(*conditions, number=number)
        assume(may_stand(case.candidate.trigger, DOMAIN))
        # Only the triggers matter here: the evidence of each is assumed.
        entries.append(stored(case.candidate.content, *case.candidate.trigger))
    by_id = {entry.entry_id: entry for entry in entries}
    for merge in merges(by_id.values(), DOMAIN, lambda trigger: may_stand(trigger, DOMAIN)):
        for sticks in range(10):
            for target in ("stone_axe", "stone_hoe"):
                now = flatten_state(
                    {"inventory": [{"name": "stick", "count": sticks}]},
                    target=target,
                    failure_type="MISSING_INGREDIENT",
                )
                sources = [matches(by_id[one].trigger, now) for one in merge.sources]
                assert matches(merge.trigger, now) == any(sources)


@settings(deadline=None)
@given(st.permutations(range(4)))
def test_the_order_of_entries_does_not_matter(order: list[int]) -> None:
    drawn = [with_condition(where(STICKS, "eq", low), number=low, sticks=low) for low in range(4)]
    assert passed(*(drawn[place] for place in order)) == passed(*drawn)


def test_the_shorter_note_stands_for_both() -> None:
    case = ingredient_remedy("oak", "axe")
    content = case.candidate.content
    assert isinstance(content, RemedyContent)
    long = Risk.model_validate({**dict(content.risk), "note": "there are no sticks for the handle"})
    result = passed(case, case.with_content(risk=long))
    (active,) = [entry for entry in result.store.values() if entry.status == "active"]
    assert active.content == content
