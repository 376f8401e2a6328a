"""Inducer: which feedback becomes which request, and what a candidate's trigger may claim.

The functions before the tests make feedback by hand; the other tests of `prompts` use them too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce, requests_for
from prompts.language_model import ModelAnswer, ModelRequest
from prompts.responses import read_answer
from prompts.situations import RemedySituation
from rollouts.ingest.importing import discover, import_source
from rollouts.monitor.feedback import monitor
from rollouts.trace import Trace
from warehouse.acceptance import reasons_against
from warehouse.domains import Domain
from warehouse.facts import Cause, Evidence, FeedbackFact, ObservedStep, facts_from
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate
from warehouse.state import flatten_state


def state(
    inventory: Mapping[str, int] | None = None, near: list[str] | None = None, **plain: Any
) -> dict[str, Any]:
    amounts = (
        None if inventory is None else [{"name": name, "count": count} for name, count in inventory.items()]
    )
    return {"inventory": amounts, "near": near, **plain}


def failure(
    kind: str,
    target: str | None,
    failure_type: str,
    *,
    missing: Mapping[str, int] | None = None,
    episode: str = "e0",
    attempt: int = 0,
    before: Mapping[str, Any] | None = None,
    text: str | None = None,
    named: str | None = None,
    also_missing: tuple[str, ...] = (),
    **changes: Any,
) -> FeedbackFact:
    """A failure that is due a remedy; `missing` is what was short, by how much (0: nobody says), and
    `also_missing` what another cause of the same attempt lacked."""
    short = missing or {}
    evidence = Evidence(3, 1, text)
    items = {name: amount for name, amount in short.items() if amount}
    name = named or next(iter(short), None)
    values: dict[str, Any] = {
        "build": "b1",
        "needed": 1,
        "y": False,
        "missing": tuple(sorted({*short, *also_missing})),
        "causes": (Cause(failure_type, name, None, items, evidence),),
        "stagnant": True,
        "remedy_due": True,
        "state_before": flatten_state(before, kind=kind, target=target),
        "delta_inventory": {},
        "evidence": evidence,
    }
    return FeedbackFact(
        feedback_id=derive_id("feedback", [episode, attempt]),
        episode_id=derive_id("episode", episode),
        attempt=attempt,
        kind=kind,
        target=target,
        failure_type=failure_type,
        **{**values, **changes},
    )


def success(
    kind: str,
    target: str,
    steps: list[tuple[str, str, int]],
    change: Mapping[str, int],
    *,
    episode: str = "e0",
    attempt: int = 0,
    before: Mapping[str, Any] | None = None,
    needed: int = 1,
    **changes: Any,
) -> FeedbackFact:
    """A success that is due a skill."""
    held = {each["name"]: each["count"] for each in (before or {}).get("inventory") or ()}
    after = {name: held.get(name, 0) + change.get(name, 0) for name in {**held, **change}}
    rest = {name: value for name, value in (before or {}).items() if name != "inventory"}
    values: dict[str, Any] = {
        "build": "b1",
        "needed": needed,
        "y": True,
        "failure_type": "NONE",
        "stagnant": False,
        "skill_due": True,
        "state_before": flatten_state(before, kind=kind, target=target),
        "state_after": flatten_state({**state(after), **rest}, kind=kind, target=target),
        "delta_inventory": change,
        "steps": tuple(ObservedStep(*step) for step in steps),
    }
    return FeedbackFact(
        feedback_id=derive_id("feedback", [episode, attempt]),
        episode_id=derive_id("episode", episode),
        attempt=attempt,
        kind=kind,
        target=target,
        **{**values, **changes},
    )


def only_request(domain: Domain, *facts: FeedbackFact) -> ModelRequest:
    """The request for feedback of one situation."""
    [request] = requests_for(facts, domain)
    return request


STATION = {"crafting_table": 0}


def fields(candidate: Candidate) -> set[tuple[str, str, Any]]:
    return {(each.field, each.op, each.value) for each in candidate.trigger}


def test_one_request_covers_all_feedback_of_a_situation(minecraft: Domain) -> None:
    facts = [
        failure("craft", "stone_axe", "MISSING_STATION", missing=STATION, episode=f"e{n % 3}", attempt=n)
        for n in range(5)
    ]
    situation = only_request(minecraft, *facts).situation
    assert isinstance(situation, RemedySituation)
    assert (situation.rows, situation.episodes, len(situation.cited)) == (5, 3, 5)


@pytest.mark.parametrize(
    "other",
    [
        failure("mine", "stone_axe", "MISSING_STATION", missing=STATION, episode="e1"),
        failure("craft", "stone_hoe", "MISSING_STATION", missing=STATION, episode="e1"),
        failure("craft", "stone_axe", "MISSING_INGREDIENT", missing={"stick": 1}, episode="e1"),
        failure("craft", "stone_axe", "MISSING_STATION", missing={"furnace": 0}, episode="e1"),
    ],
    ids=["kind", "target", "failure type", "missing"],
)
def test_situations_differ_by_each_part_of_their_key(minecraft: Domain, other: FeedbackFact) -> None:
    first = failure("craft", "stone_axe", "MISSING_STATION", missing=STATION)
    assert len(requests_for([first, other], minecraft)) == 2


def test_what_lacked_beside_the_deciding_want_does_not_split_a_situation(minecraft: Domain) -> None:
    first = failure("mine", "stone", "MISSING_STATION", missing=STATION)
    second = failure(
        "mine", "stone", "MISSING_STATION", missing=STATION, episode="e1", also_missing=("wooden_pickaxe",)
    )
    situation = only_request(minecraft, first, second).situation
    assert isinstance(situation, RemedySituation)
    assert situation.missing == ("crafting_table",)


@pytest.mark.parametrize(
    "changes",
    [
        {"failure_type": "INFRASTRUCTURE"},
        {"failure_type": "UNKNOWN"},
        {"failure_type": None},
        {"y": None},
        {"y": True, "failure_type": "NONE"},
        {"kind": None},
        {"kind": "dance"},
        {"target": None},
    ],
    ids=str,
)
def test_what_says_nothing_about_acting_leads_to_no_remedy(
    minecraft: Domain, changes: dict[str, Any]
) -> None:
    fact = replace(failure("mine", "stone", "NAV_STUCK"), **changes)
    assert requests_for([fact], minecraft) == []


def test_due_feedback_without_a_request_is_listed_with_its_reason(minecraft: Domain) -> None:
    facts = [
        failure("mine", "stone", "INFRASTRUCTURE"),
        failure("mine", None, "NAV_STUCK", attempt=1),
        success("craft", "stick", [("craft", "no_such_thing", 4)], {"stick": 4}, attempt=2),
    ]
    found = induce(facts, minecraft, RulesStandIn(minecraft), "b1")
    assert found.requests == ()
    assert [each.reason for each in found.skipped] == [
        "INFRASTRUCTURE says nothing about acting",
        "the subgoal's action or its target is unknown",
        "a step that was seen to be done cannot be read",
    ]


def test_nothing_is_asked_before_eq_5_says_so(minecraft: Domain) -> None:
    not_due = failure("mine", "stone", "NAV_STUCK", remedy_due=False)
    assert requests_for([not_due], minecraft) == []
    due = failure("mine", "stone", "NAV_STUCK", episode="e1")
    situation = only_request(minecraft, not_due, due).situation
    assert isinstance(situation, RemedySituation)
    assert situation.episodes == 2, "once one is due, the others are evidence"


def test_feedback_of_an_earlier_build_is_not_induced_again(minecraft: Domain) -> None:
    facts = [
        failure("mine", "stone", "NAV_STUCK", build="b0"),
        failure("mine", "dirt", "NAV_STUCK", episode="e1", build="b1"),
    ]
    found = induce(facts, minecraft, RulesStandIn(minecraft), "b1")
    assert [request.situation.target for request in found.requests] == ["dirt"]  # type: ignore[attr-defined]


def test_a_window_is_spread_over_episodes_before_it_repeats_one(minecraft: Domain) -> None:
    facts = [failure("mine", "stone", "NAV_STUCK", episode="long", attempt=n) for n in range(20)]
    facts += [failure("mine", "stone", "NAV_STUCK", episode=f"e{n}") for n in range(5)]
    [request] = requests_for(facts, minecraft, window=8)
    situation = request.situation
    assert isinstance(situation, RemedySituation)
    assert len(situation.cited) == 8
    assert len({row.episode_id for row in situation.cited}) == 6
    assert situation.rows == 25
    latest = [row.attempt for row in situation.cited if row.episode_id == facts[0].episode_id]
    assert latest == [17, 18, 19]


@given(order=st.permutations(range(12)))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_order_of_the_feedback_changes_nothing(minecraft: Domain, order: list[int]) -> None:
    facts = [
        failure("mine", target, "NAV_STUCK", episode=f"e{n}", attempt=n)
        for n, target in enumerate(["stone", "dirt", "sand"] * 4)
    ]
    expected = induce(facts, minecraft, RulesStandIn(minecraft), "b1")
    assert induce([facts[n] for n in order], minecraft, RulesStandIn(minecraft), "b1") == expected


def test_a_trigger_holds_wherever_it_is_known_and_is_known_somewhere(minecraft: Domain) -> None:
    held, unheld, unknown = {"crafting_table": 1}, {"stick": 2}, None

    def trigger(*inventories: dict[str, int] | None) -> set[tuple[str, str, Any]]:
        facts = [
            failure(
                "craft", "stone_axe", "MISSING_STATION", missing=STATION, episode=f"e{n}", before=state(each)
            )
            for n, each in enumerate(inventories)
        ]
        [candidate] = induce(facts, minecraft, RulesStandIn(minecraft), "b1").candidates
        return {each for each in fields(candidate) if each[0].startswith("inventory.")}

    assert trigger(held, held) == {("inventory.crafting_table", "ge", 1)}
    assert trigger(unheld, unknown) == {("inventory.crafting_table", "lt", 1)}
    assert trigger(held, unheld) == set()
    assert trigger(unknown, unknown) == set()


def test_what_was_held_and_what_was_short_make_the_bound(minecraft: Domain) -> None:
    fact = failure(
        "craft", "chest", "MISSING_INGREDIENT", missing={"oak_planks": 5}, before=state({"oak_planks": 3})
    )
    [candidate] = induce([fact], minecraft, RulesStandIn(minecraft), "b1").candidates
    assert ("inventory.oak_planks", "lt", 8) in fields(candidate)


def test_skills_are_grouped_by_the_order_of_what_was_done(minecraft: Domain) -> None:
    planks = state({"oak_planks": 9}, near=["crafting_table"])
    chest = [("craft", "chest", 1)]
    facts = [
        success("craft", "chest", chest, {"chest": 1, "oak_planks": -8}, episode="e1", before=planks),
        success("craft", "chest", chest, {"chest": 1, "oak_planks": -8}, episode="e2", before=planks),
        success(
            "craft",
            "chest",
            [("place", "crafting_table", 1), *chest],
            {"chest": 1},
            episode="e3",
            before=planks,
        ),
    ]
    requests = requests_for(facts, minecraft)
    orders = [request.situation.order for request in requests]  # type: ignore[attr-defined]
    assert orders == [("craft",), ("use", "craft")]


def test_an_answer_that_cites_what_was_not_shown_is_logged_as_an_error(minecraft: Domain) -> None:
    class Fabulist(RulesStandIn):
        def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
            honest = super().generate(requests)
            return [
                read_answer(request, "fabulist", answer.raw.replace('"f1"', '"f99"'))
                for request, answer in zip(requests, honest, strict=True)
            ]

    found = induce([failure("mine", "stone", "NAV_STUCK")], minecraft, Fabulist(minecraft), "b1")
    assert found.candidates == ()
    # Told of it, it cites the same again; both answers are kept.
    assert [answer.error and answer.error.reason for answer in found.answers] == ["citation", "citation"]


def test_real_traces_give_candidates_that_pass_every_rule_of_curator(traces: Path, minecraft: Domain) -> None:
    facts: dict[str, FeedbackFact] = {}
    for source in discover(traces / "voyager_questllama"):
        frames = import_source(source, "b1", minecraft).frames
        feedback = monitor(Trace.of(frames), minecraft)
        facts |= facts_from(feedback, frames["attempts"], frames["events"], frames["episodes"])
    found = induce(facts, minecraft, RulesStandIn(minecraft), "b1")
    assert {candidate.type for candidate in found.candidates} == {"skill", "remedy"}
    faults = {
        f"{candidate.type} {candidate.trigger}": reasons
        for candidate in found.candidates
        if (reasons := reasons_against(candidate, facts, minecraft))
    }
    assert faults == {}
    unanswered = [answer.error for answer in found.answers if answer.error is not None]
    assert {error.reason for error in unanswered} == {"abstained"}
    assert all(error.detail for error in unanswered)
