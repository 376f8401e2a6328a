"""An agent that stopped by itself, and a craft that just gave nothing."""

import pytest

from tests.monitor_scenes import Row, Try, judge, says, types
from warehouse.domains import Domain

CLAIM = says("claim", 8, name="iron_ore", count=3)


@pytest.mark.parametrize("signal", ["claim", "claim_have"])
def test_a_claim_that_the_inventory_contradicts(signal: str, minecraft: Domain) -> None:
    claim = says(signal, 8, name="iron_ore", count=3)
    row = judge(
        Try(needed=3, gained=1, claimed=True, events=[claim], changes=[(3, "iron_ore", 1)]), minecraft
    )
    assert row["failure_type"] == "PREMATURE_STOP"
    assert row["failure_evidence"]["tick"] == 8


@pytest.mark.parametrize(
    "otherwise",
    [
        {"end": "timeout"},  # the budget ended it
        {"claimed": False},  # what was said was about something else
        {"events": [says("path_blocked", 3), CLAIM]},  # an action failed, so it had a reason to stop
        {"events": [says("no_room", 3), CLAIM]},
        {"events": [says("action_timeout", 3), CLAIM]},
    ],
)
def test_not_otherwise(otherwise: Row, minecraft: Domain) -> None:
    told: Row = {"needed": 3, "claimed": True, "events": [CLAIM]} | otherwise
    row = judge(Try(**told), minecraft)
    assert "PREMATURE_STOP" not in types(row)


def test_the_last_word_is_the_evidence(minecraft: Domain) -> None:
    events = [says("claim", 2, name="iron_ore", count=1), CLAIM]
    row = judge(Try(needed=3, claimed=True, events=events), minecraft)
    assert row["failure_evidence"]["seq"] == 1


@pytest.mark.parametrize(("kind", "target", "failure"), [
    ("craft", "stick", "RECIPE_FAIL"),
    ("smelt", "iron_ingot", "SMELT_FAIL"),
])  # fmt: skip
def test_a_craft_that_was_started_and_gave_nothing(
    kind: str, target: str, failure: str, minecraft: Domain
) -> None:
    act = f"{kind}:{target}"
    assert judge(Try(kind, target, events=[says("started", name=act)]), minecraft)["failure_type"] == failure
    ended = judge(Try(kind, target, events=[says("started", name=act), says("done", 9, name=act)]), minecraft)
    assert failure not in types(ended)
    other = judge(Try(kind, target, events=[says("started", name="craft:torch")]), minecraft)
    assert failure not in types(other)
    short = judge(Try(kind, target, events=[says("started", name=act), says("missing_item", 9)]), minecraft)
    assert types(short) == ["MISSING_INGREDIENT"]
