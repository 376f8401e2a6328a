"""Causes that a planned subgoal carries itself."""

from typing import Any

import polars as pl
import pytest

from tests.monitor_scenes import Row, Try, judged, scene, sees, stand, types
from warehouse.domains import Domain


def planned(each: Try, domain: Domain) -> Row:
    """Monitor's row of an attempt at a planned step, whose checks are absolute."""
    trace = scene(each)
    attempts = trace.attempts.with_columns(relative=pl.lit(False))
    return judged(type(trace)(**trace.frames() | {"attempts": attempts}), domain)[0]


@pytest.mark.parametrize(
    ("kind", "target", "possible"),
    [
        ("mine", "vibranium_ore", False),
        ("mine", "iron_ingot", False),
        ("mine", "cobblestone", True),
        ("mine", "#logs", True),
        ("craft", "cobblestone", False),
        ("craft", "#planks", True),
        ("smelt", "oak_planks", False),
        ("smelt", "iron_ore", True),
        ("combat", "cow", True),
        ("combat", "beef", True),
        ("combat", "oak_planks", False),
        ("use", "villager", True),
        ("use", "nonsense", False),
        ("move", "the village", True),
    ],
)
def test_a_target_that_its_kind_cannot_be_about(
    kind: str, target: str, possible: bool, minecraft: Domain
) -> None:
    row = planned(Try(kind, target, path=stand(10)), minecraft)
    assert ("INVALID_ACTION" in types(row)) != possible


def test_the_words_of_a_recorded_task_are_no_action(minecraft: Domain) -> None:
    recorded = judged(scene(Try("mine", "iron_ingot", path=stand(10))), minecraft)[0]
    assert "INVALID_ACTION" not in types(recorded)


def use(target: str, domain: Domain, **more: Any) -> Row:
    return planned(Try("use", target, path=stand(10), ticks={"action": "use"}, **more), domain)


def test_using_what_is_not_carried(minecraft: Domain) -> None:
    assert types(use("bucket", minecraft)) == ["MISSING_INGREDIENT"]
    assert types(use("bucket", minecraft, held={"bucket": 1})) == []
    assert types(use("bucket", minecraft, changes=[(3, "bucket", 1)])) == []


def test_a_station_in_view_is_used_where_it_stands(minecraft: Domain) -> None:
    seen = sees("furnace", kind="station", in_reach=True, distance=2.0)
    assert "MISSING_INGREDIENT" not in types(use("furnace", minecraft, sightings=[seen]))
    assert "MISSING_INGREDIENT" in types(use("furnace", minecraft))


def test_a_trade_without_its_price(minecraft: Domain) -> None:
    near = sees("villager", kind="entity", in_reach=True, distance=2.0)
    row = use("villager", minecraft, sightings=[near], held={"coal": 5})
    assert row["failure_type"] == "MISSING_INGREDIENT"
    assert (row["failure_evidence"]["name"], row["failure_evidence"]["count"]) == ("coal", 10)
    assert "MISSING_INGREDIENT" not in types(use("villager", minecraft, sightings=[near], held={"coal": 15}))
    far = near | {"in_reach": False, "distance": 9.0}
    assert "MISSING_INGREDIENT" not in types(use("villager", minecraft, sightings=[far]))


def test_an_executor_that_stopped_at_once_did_nothing(minecraft: Domain) -> None:
    assert planned(Try("use", "bread", path=[]), minecraft)["failure_type"] == "NO_ACTION"
