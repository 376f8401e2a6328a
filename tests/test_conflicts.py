"""C_conflict: what contradicts what."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_templates import cases
from tests.good_cases import DOMAIN, check, step, stored, where
from warehouse.conflicts import ConflictIndex, conflict, replaced_action
from warehouse.curator import curate
from warehouse.entries import Entry
from warehouse.knowledge import Predicate, RemedyContent, Risk, SkillContent, Step


def remedy(risk: Risk, *repair: Step, when: tuple[Predicate, ...] = (), **more: Any) -> Entry:
    trigger = (
        where("failure_type", "eq", risk.failure_type),
        where("target", "eq", risk.target or ""),
        *when,
    )
    return stored(RemedyContent(risk=risk, repair=repair), *trigger, **more)


def skill(kind: str, target: str, *steps: Step, when: tuple[Predicate, ...] = (), **more: Any) -> Entry:
    trigger = (where("kind", "eq", kind), where("target", "eq", target), *when)
    return stored(SkillContent(kind=kind, target=target, steps=steps), *trigger, **more)


STUCK = Risk(kind="mine", target="oak_log", failure_type="NAV_STUCK")
NO_TABLE = Risk(
    kind="craft", target="wooden_axe", failure_type="MISSING_STATION", missing=("crafting_table",)
)
OAK, BIRCH = step("mine", "oak_log"), step("mine", "birch_log")
TABLE, PLACED = step("craft", "crafting_table"), step("use", "crafting_table")
PLANKS = skill("craft", "oak_planks", OAK, step("craft", "oak_planks"))


@pytest.mark.parametrize(
    ("risk", "repair", "replaced"),
    [
        (STUCK, [BIRCH], True),
        (STUCK, [step("move", "birch_log"), BIRCH], True),
        (STUCK, [BIRCH, OAK], False),
        (STUCK, [step("move", "oak_log")], False),
        (STUCK, [step("wait", None, 3)], False),
        (NO_TABLE, [TABLE, PLACED], False),
        (NO_TABLE, [step("craft", "stone_axe")], True),
        (Risk(kind="craft", target="iron_ingot", failure_type="RECIPE_FAIL"),
         [step("smelt", "iron_ingot")], True),
        (Risk(kind=None, target=None, failure_type="NAV_STUCK"), [BIRCH], False),
    ],
)  # fmt: skip
def test_what_replaces_an_action(risk: Risk, repair: list[Step], replaced: bool) -> None:
    expected = (risk.kind, risk.target) if replaced else None
    assert replaced_action(RemedyContent(risk=risk, repair=tuple(repair)), DOMAIN) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # "mine birch instead of oak" against a skill that mines oak
        (remedy(STUCK, BIRCH), PLANKS, True),
        (remedy(STUCK, BIRCH), skill("mine", "oak_log", OAK), True),
        (remedy(STUCK, BIRCH), skill("mine", "oak_log", step("mine", "#logs")), True),
        (remedy(STUCK, BIRCH), skill("mine", "birch_log", BIRCH), False),
        (remedy(STUCK, BIRCH, OAK), PLANKS, False),
        (remedy(STUCK, BIRCH, when=(where("ypos", "lt", 20),)),
         skill("mine", "oak_log", OAK, when=(where("ypos", "gt", 50),)), False),
        # preparing an action contradicts nobody
        (remedy(NO_TABLE, TABLE, PLACED), skill("craft", "wooden_axe", step("craft", "wooden_axe")), False),
        # two remedies that undo each other
        (remedy(STUCK, BIRCH),
         remedy(Risk(kind="mine", target="birch_log", failure_type="TARGET_NOT_FOUND"), OAK), True),
        (remedy(STUCK, BIRCH),
         remedy(Risk(kind="mine", target="birch_log", failure_type="TARGET_NOT_FOUND"),
                step("mine", "spruce_log")), False),
        # one failure, ends that exclude each other
        (remedy(STUCK, step("move", None, 1, check("ypos_le", None, 12.0))),
         remedy(STUCK, step("move", None, 1, check("ypos_ge", None, 60.0))), True),
        (remedy(STUCK, step("move", None, 1, check("ypos_le", None, 60.0))),
         remedy(STUCK, step("move", None, 1, check("ypos_ge", None, 12.0))), False),
        (skill("mine", "oak_log", OAK, verification=(check("inv_ge", "oak_log", 3.0),)),
         skill("mine", "oak_log", OAK, OAK, verification=(check("inv_lt", "oak_log", 3.0),)), True),
        # one failure, the same steps in another order
        (remedy(NO_TABLE, TABLE, PLACED), remedy(NO_TABLE, PLACED, TABLE), True),
        (remedy(NO_TABLE, TABLE, PLACED), remedy(NO_TABLE, TABLE, PLACED, PLACED), False),
    ],
)  # fmt: skip
def test_conflicts(one: Entry, other: Entry, expected: bool) -> None:
    assert conflict(one, other, DOMAIN) == expected
    assert conflict(other, one, DOMAIN) == expected
    for first, second in ((one, other), (other, one)):
        index = ConflictIndex(DOMAIN)
        index.add(first)
        assert [found.entry_id for found in index.against(second)] == [first.entry_id] * expected


def test_nothing_contradicts_itself() -> None:
    one = remedy(STUCK, BIRCH)
    assert not conflict(one, one, DOMAIN)


@settings(deadline=None)
@given(st.lists(cases(), min_size=2, max_size=5))
def test_the_index_finds_what_comparing_all_finds(drawn: list[Any]) -> None:
    entries: dict[str, Entry] = {}
    for case in drawn:
        entries |= curate([case.candidate], case.facts, {}, [], DOMAIN).store
    entries |= {
        each.entry_id: each for each in (PLANKS, remedy(STUCK, BIRCH), remedy(NO_TABLE, PLACED, TABLE))
    }
    index, added = ConflictIndex(DOMAIN), list[Entry]()
    for one in entries.values():
        compared = sorted(other.entry_id for other in added if conflict(one, other, DOMAIN))
        assert [found.entry_id for found in index.against(one)] == compared
        index.add(one)
        added.append(one)
