"""Facts from frames of the contract."""

from typing import Any

import polars as pl

from warehouse.facts import ObservedStep, facts_from
from warehouse.ids import derive_id
from warehouse.records import from_rows
from warehouse.state import matches, value_of

EPISODE = derive_id("episode", "e")


def _attempt(number: int, **more: Any) -> dict[str, Any]:
    state = {"y": 64.0, "inventory": [{"name": "oak_log", "count": 1}], "near": None, "seen": None}
    return {
        "episode_id": EPISODE,
        "attempt": number,
        "kind": "craft",
        "target": "stick",
        "needed": 4,
        "end_reason": "agent_stopped",
        "state_before": state,
        "state_after": state,
        **more,
    }


def _feedback(number: int, **more: Any) -> dict[str, Any]:
    return {
        "feedback_id": derive_id("feedback", [EPISODE, number]),
        "episode_id": EPISODE,
        "attempt": number,
        "y": False,
        "failure_type": "UNKNOWN",
        "remedy_due": False,
        "skill_due": False,
        "deadlock": False,
        "delta_inventory": [],
        **more,
    }


def _event(attempt: int, tick: int, seq: int, signal: str, **more: Any) -> dict[str, Any]:
    return {
        "episode_id": EPISODE,
        "attempt": attempt,
        "tick": tick,
        "seq": seq,
        "kind": "game",
        "signal": signal,
        **more,
    }


CAUSES = [
    {
        "type": "MISSING_INGREDIENT",
        "tick": 3,
        "seq": 2,
        "items": [{"name": "oak_planks", "count": 2}],
        "text": "I need: 2 more oak planks",
    },
    {"type": "TIMEOUT", "tick": 9, "name": "ignored"},
]


def _frames() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    feedback = [
        _feedback(
            0,
            failure_type="MISSING_INGREDIENT",
            failure_causes=CAUSES,
            failure_evidence={"tick": 3, "seq": 2, "text": "I need: 2 more oak planks"},
            stagnant=True,
            progress=0.01,
            remedy_due=True,
        ),
        _feedback(
            1,
            y=True,
            failure_type="NONE",
            delta_inventory=[{"name": "stick", "count": 4}, {"name": "oak_planks", "count": -2}],
        ),
        _feedback(2, y=None, failure_type="INFRASTRUCTURE", delta_inventory=None),
    ]
    attempts = [_attempt(0), _attempt(1), _attempt(2, kind=None, target=None, state_before=None)]
    events = [
        _event(1, 7, 4, "done", name="craft:stick", count=4),
        _event(1, 5, 3, "done", name="craft:oak_planks", count=None),
        _event(1, 7, 5, "claim", name="stick", count=4),
        _event(1, 2, 1, "missing_item", items=[{"name": "stick", "count": 1}]),
        _event(0, 3, 2, "missing_station", name="crafting_table"),
        _event(0, 1, 0, "done", name="jumped", count=2),
    ]
    return from_rows("feedback", feedback), from_rows("attempts", attempts), from_rows("events", events)


def test_a_failure_says_what_was_missing_and_where() -> None:
    fact = facts_from(*_frames())[derive_id("feedback", [EPISODE, 0])]
    assert fact.missing == ("crafting_table", "oak_planks")
    assert (fact.y, fact.stagnant, fact.remedy_due, fact.skill_due) == (False, True, True, False)
    assert fact.evidence.text == "I need: 2 more oak planks"
    assert fact.causes[0].items == {"oak_planks": 2}
    assert fact.causes[0].evidence.seq == 2
    assert fact.steps == (ObservedStep("", "jumped", 2),)
    assert fact.delta_inventory == {}


def test_a_success_has_its_steps_in_order_and_lacks_nothing() -> None:
    fact = facts_from(*_frames())[derive_id("feedback", [EPISODE, 1])]
    assert fact.steps == (ObservedStep("craft", "oak_planks", 1), ObservedStep("craft", "stick", 4))
    assert fact.missing == ()
    assert fact.delta_inventory == {"oak_planks": -2, "stick": 4}
    assert (fact.kind, fact.target, fact.needed) == ("craft", "stick", 4)


def test_what_is_unknown_stays_unknown() -> None:
    fact = facts_from(*_frames())[derive_id("feedback", [EPISODE, 2])]
    assert fact.y is None
    assert fact.delta_inventory is None
    assert fact.build is None
    assert value_of(fact.state_before, "inventory.oak_log") is None
    assert value_of(fact.state_after, "inventory.oak_log") == 1


def test_a_trigger_sees_the_failure_only_in_the_situation() -> None:
    fact = facts_from(*_frames())[derive_id("feedback", [EPISODE, 0])]
    assert value_of(fact.state_before, "failure_type") is None
    assert value_of(fact.state_before, "target") == "stick"
    assert fact.situation["failure_type"] == "MISSING_INGREDIENT"
    assert fact.situation["missing"] == ("crafting_table", "oak_planks")
    assert matches([], fact.situation) is True


def test_builds_come_from_the_episodes_and_ids_are_in_order() -> None:
    episode = {
        "episode_id": EPISODE,
        "source": "s",
        "build": "b7",
        "observes": [],
        "n_ticks": 9,
        "end_reason": "horizon",
    }
    facts = facts_from(*_frames(), episodes=from_rows("episodes", [episode]))
    assert {fact.build for fact in facts.values()} == {"b7"}
    assert list(facts) == sorted(facts)


def test_feedback_without_its_attempt_or_any_event_keeps_what_it_says() -> None:
    feedback, attempts, events = _frames()
    facts = facts_from(feedback, attempts.clear(), events.clear())
    assert len(facts) == feedback.height
    fact = facts[derive_id("feedback", [EPISODE, 0])]
    assert (fact.kind, fact.missing, fact.steps) == (None, ("oak_planks",), ())
