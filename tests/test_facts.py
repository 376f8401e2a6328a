"""Facts from frames of the contract, and the segments that they make up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.facts import FeedbackFact, ObservedStep, facts_from, segments
from warehouse.ids import derive_id
from warehouse.places import Place
from warehouse.records import from_rows
from warehouse.state import flatten_state, matches, value_of

EPISODE = derive_id("episode", "e")


def _attempt(number: int, **more: Any) -> dict[str, Any]:
    state = {
        **{"x": 1.0, "y": 64.0, "z": -2.0},
        **{"inventory": [{"name": "oak_log", "count": 1}], "near": None, "seen": None},
    }
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
        "world": "w",
        "world_seed": 4,
        "observes": [],
        "n_ticks": 9,
        "end_reason": "horizon",
    }
    facts = facts_from(*_frames(), episodes=from_rows("episodes", [episode]))
    assert {fact.build for fact in facts.values()} == {"b7"}
    fact = facts[derive_id("feedback", [EPISODE, 0])]
    assert fact.place == Place((1.0, 64.0, -2.0), world="w/4")
    assert facts[derive_id("feedback", [EPISODE, 2])].place is None
    assert list(facts) == sorted(facts)


def test_feedback_without_its_attempt_or_any_event_keeps_what_it_says() -> None:
    feedback, attempts, events = _frames()
    facts = facts_from(feedback, attempts.clear(), events.clear())
    assert len(facts) == feedback.height
    fact = facts[derive_id("feedback", [EPISODE, 0])]
    assert (fact.kind, fact.missing, fact.steps) == (None, ("oak_planks",), ())


# Segments


def _fact(attempt: int, subgoal: str | None, y: bool | None = True, **more: Any) -> FeedbackFact:
    kind, _, target = (subgoal or "").partition(" ")
    values: dict[str, Any] = {"kind": kind or None, "target": target or None, "delta_inventory": {}, **more}
    return FeedbackFact(derive_id("feedback", attempt), "e", attempt, y=y, **values)


def _shape(*facts: FeedbackFact) -> list[list[int]]:
    return [[member.attempt for member in segment.members] for segment in segments(facts)]


LOG, PLANKS, STICKS = "mine oak_log", "craft oak_planks", "craft stick"


@pytest.mark.parametrize(
    ("facts", "shape"),
    [
        ([_fact(0, LOG), _fact(1, PLANKS), _fact(2, STICKS)], [[0, 1, 2]]),
        ([_fact(0, LOG), _fact(1, LOG), _fact(2, LOG), _fact(3, LOG)], [[0], [1], [2], [3]]),
        ([_fact(0, LOG), _fact(1, LOG), _fact(2, PLANKS)], [[0], [1, 2]]),
        ([_fact(0, LOG), _fact(1, PLANKS), _fact(2, LOG)], [[0, 1, 2]]),
        ([_fact(0, LOG), _fact(1, PLANKS, False), _fact(2, STICKS)], [[0], [2]]),
        ([_fact(0, LOG), _fact(1, PLANKS, None), _fact(2, STICKS)], [[0], [2]]),
        ([_fact(0, LOG), _fact(2, STICKS)], [[0], [2]]),
        ([_fact(0, None), _fact(1, STICKS)], [[0], [1]]),
        ([_fact(0, LOG), replace(_fact(1, PLANKS), episode_id="other")], [[0], [1]]),
    ],
    ids=["chain", "repeats", "repeat", "back again", "failure", "undecided", "gap", "unknown", "episodes"],
)
def test_a_segment_ends_where_the_successes_or_their_variety_end(
    facts: list[FeedbackFact], shape: list[list[int]]
) -> None:
    assert _shape(*facts) == shape
    assert _shape(*reversed(facts)) == shape


def test_a_segment_reads_as_one_attempt_from_its_start_to_its_end() -> None:
    facts = [
        _fact(
            0,
            LOG,
            needed=3,
            delta_inventory={"oak_log": 3},
            state_before=flatten_state({"y": 70.0, "inventory": []}, kind="mine", target="oak_log"),
        ),
        _fact(
            1,
            PLANKS,
            delta_inventory={"oak_log": -3, "oak_planks": 12},
            steps=(ObservedStep("craft", "oak_planks", 12),),
        ),
        _fact(
            2,
            STICKS,
            needed=4,
            delta_inventory={"oak_planks": -2, "stick": 4},
            state_after=flatten_state({"y": 64.0, "inventory": []}, kind="craft", target="stick"),
        ),
    ]
    (segment,) = segments(facts)
    joined = segment.joined
    assert segment.feedback_ids == tuple(fact.feedback_id for fact in facts)
    assert (joined.feedback_id, joined.attempt, joined.needed) == (facts[2].feedback_id, 2, 4)
    assert (joined.kind, joined.target) == ("craft", "stick")
    assert {name: joined.state_before[name] for name in ("ypos", "kind", "target")} == {
        "ypos": 70.0,
        "kind": "craft",
        "target": "stick",
    }
    assert joined.state_after == facts[2].state_after
    assert joined.delta_inventory == {"oak_log": 0, "oak_planks": 10, "stick": 4}
    assert joined.steps == (
        ObservedStep("mine", "oak_log", 3),  # nothing was seen of how: the subgoal stands for it
        ObservedStep("craft", "oak_planks", 12),
        ObservedStep("craft", "stick", 4),
    )
    assert segment.drawn == {}


def test_a_segment_of_one_attempt_is_that_attempt() -> None:
    fact = _fact(0, LOG, needed=3, delta_inventory={"oak_log": 3, "wheat": -1})
    (segment,) = segments([fact])
    assert segment.joined is fact
    assert segment.joined.steps == (), "nothing is made up for what was not seen"
    assert segment.drawn == {"wheat": 1}


@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ([{"stick": 4}, {"stick": -2}], {}),
        ([{"stick": -2}, {"stick": 4}], {"stick": 2}),
        ([{"stick": -1}, {"stick": -2}], {"stick": 3}),
        ([{"stick": 1}, {"stick": -3}, {"stick": 9}, {"stick": -8}], {"stick": 2}),
        ([{"stick": -1}, None], None),
    ],
)
def test_what_is_made_later_does_not_spare_what_is_held_first(
    changes: list[Mapping[str, int] | None], drawn: Mapping[str, int] | None
) -> None:
    subgoals = [LOG, PLANKS]
    facts = [_fact(n, subgoals[n % 2], delta_inventory=change) for n, change in enumerate(changes)]
    (segment,) = segments(facts)
    assert segment.drawn == drawn
    assert (segment.joined.delta_inventory is None) == (drawn is None)


_CHANGES = st.dictionaries(st.sampled_from(["oak_log", "oak_planks", "stick"]), st.integers(-9, 9))


@st.composite
def _episodes(draw: st.DrawFn) -> list[FeedbackFact]:
    """Two episodes of attempts at few subgoals with any outcome; some attempts have no feedback here."""
    outcome = st.sampled_from([True, True, True, False, None])
    facts = []
    for episode in ("one", "two"):
        for attempt in draw(st.lists(st.integers(0, 12), unique=True, max_size=12)):
            fact = _fact(attempt, draw(st.sampled_from([LOG, PLANKS, STICKS, None])), draw(outcome))
            feedback_id = derive_id("feedback", [episode, attempt])
            change = draw(st.none() | _CHANGES)
            facts.append(replace(fact, feedback_id=feedback_id, episode_id=episode, delta_inventory=change))
    return facts


@given(_episodes())
def test_segments_partition_the_successes_of_an_episode(facts: list[FeedbackFact]) -> None:
    found = segments(facts)
    members = [member for segment in found for member in segment.members]
    wins = sorted((fact for fact in facts if fact.y), key=lambda fact: (fact.episode_id, fact.attempt))
    assert members == wins, "each success once, in order"
    for segment in found:
        pairs = list(pairwise(segment.members))
        assert all(one.episode_id == other.episode_id for one, other in pairs)
        assert all(one.attempt + 1 == other.attempt for one, other in pairs)
        assert all(one != other for one, other in pairwise(segment.subgoals))
    for one, other in pairwise(found):
        following = (one.end.episode_id, one.end.attempt + 1) == (
            other.members[0].episode_id,
            other.members[0].attempt,
        )
        known = None not in (one.end.kind, other.members[0].kind)
        assert not following or not known or one.subgoals[-1] == other.subgoals[0], "none could be longer"


@given(_episodes())
def test_a_joined_change_is_the_sum_of_the_changes(facts: list[FeedbackFact]) -> None:
    for segment in segments(facts):
        changes = [member.delta_inventory for member in segment.members]
        joined, drawn = segment.joined.delta_inventory, segment.drawn
        if joined is None or drawn is None:
            assert None in changes
            continue
        total: Counter[str] = Counter()
        lowest: Counter[str] = Counter()
        for change in changes:
            total.update(change or {})
            lowest |= Counter({item: -count for item, count in total.items()})
        assert dict(joined) == dict(total)
        assert drawn == +lowest
