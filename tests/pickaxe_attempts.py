"""Attempts at a wooden pickaxe, away from a table and beside one: what a candidate is held against."""

from collections.abc import Iterable
from typing import Any

from tests.good_cases import fact, state, success
from warehouse.facts import FeedbackFact

AWAY = state({"oak_planks": 8, "stick": 4})
BESIDE = state({"oak_planks": 8, "stick": 4}, ("crafting_table",))


def failed(number: int, before: dict[str, Any] = AWAY, **more: Any) -> FeedbackFact:
    """An attempt at a wooden pickaxe that failed for want of a table; `number` is its episode."""
    known = {"failure_type": "MISSING_STATION", "missing": ("crafting_table",), **more}
    return fact(1000 + number, "craft", "wooden_pickaxe", before, **known)


def made(number: int, before: dict[str, Any] = AWAY) -> FeedbackFact:
    """An attempt at a wooden pickaxe that succeeded."""
    return success(1000 + number, "craft", "wooden_pickaxe", before, {"wooden_pickaxe": 1})


def other(number: int, before: dict[str, Any] = AWAY) -> FeedbackFact:
    """An attempt at a wooden pickaxe that failed in another way."""
    return failed(number, before, failure_type="NAV_STUCK", missing=())


def numbered(facts: Iterable[FeedbackFact]) -> dict[str, FeedbackFact]:
    return {each.feedback_id: each for each in facts}


def cry_wolf() -> list[FeedbackFact]:
    """Forty episodes away from a table: 3 failed for want of one, 35 succeeded."""
    return [
        *(failed(number) for number in range(3)),
        *(made(number) for number in range(3, 38)),
        *(other(number) for number in range(38, 40)),
    ]
