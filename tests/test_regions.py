"""The calculus of triggers, held against plain evaluation on states."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.good_cases import DOMAIN, where
from warehouse.knowledge import Predicate
from warehouse.regions import always_holds, contradictions, implies, overlap, union
from warehouse.state import State, matches

NUMBERS = ("inventory.stick", "inventory.torch", "ypos", "progress")
COAL = "inventory.coal"
GUIS = ("none", "inventory", "crafting_table", "furnace", "other")


def _number(field: str) -> st.SearchStrategy[Predicate]:
    bound = st.integers(-2, 6) if field != "progress" else st.sampled_from((-0.5, 0, 0.25, 0.5, 1, 1.5))
    single = st.tuples(st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge")), bound)
    several = st.tuples(st.just("in"), st.lists(bound, min_size=1, max_size=3, unique=True).map(tuple))
    return st.one_of(single, several).map(lambda pair: _predicate(field, *pair))


def _predicate(field: str, op: str, value: Any) -> Predicate:
    return Predicate.model_validate({"field": field, "op": op, "value": value})


PREDICATES = st.one_of(
    *(_number(field) for field in NUMBERS),
    st.builds(_predicate, st.just("near.furnace"), st.sampled_from(("eq", "ne")), st.booleans()),
    st.builds(_predicate, st.just("gui"), st.sampled_from(("eq", "ne")), st.sampled_from(GUIS)),
    st.builds(
        _predicate,
        st.just("gui"),
        st.just("in"),
        st.lists(st.sampled_from(GUIS), min_size=1, unique=True).map(tuple),
    ),
)
TRIGGERS = st.lists(PREDICATES, min_size=1, max_size=4).map(tuple)
STATES: st.SearchStrategy[State] = st.fixed_dictionaries(
    {
        "inventory.stick": st.integers(0, 7),
        "inventory.torch": st.integers(0, 7),
        "ypos": st.sampled_from((-3.0, -2.0, -0.5, 0.0, 1.0, 2.5, 3.0, 5.0, 6.0, 7.0)),
        "progress": st.sampled_from((0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0)),
        "near.furnace": st.booleans(),
        "gui": st.sampled_from(GUIS),
    }
)


@settings(deadline=None)
@given(TRIGGERS, STATES)
def test_a_trigger_that_matches_a_state_is_satisfiable(trigger: tuple[Predicate, ...], state: State) -> None:
    assume(matches(trigger, state))
    assert contradictions(trigger, DOMAIN) == []
    assert overlap(trigger, trigger, DOMAIN)


COUNTS = st.lists(_number("inventory.stick"), min_size=1, max_size=3).map(tuple)


def _counts(trigger: tuple[Predicate, ...]) -> set[int]:
    """The counts that satisfy a trigger on one item; bounds end at 6, so nothing changes beyond 9."""
    return {count for count in range(10) if matches(trigger, {"inventory.stick": count})}


@settings(deadline=None)
@given(COUNTS, COUNTS)
def test_on_counts_every_answer_is_exact(one: tuple[Predicate, ...], other: tuple[Predicate, ...]) -> None:
    assert bool(contradictions(one, DOMAIN)) == (_counts(one) == set())
    assert overlap(one, other, DOMAIN) == bool(_counts(one) & _counts(other))
    assert implies(one, other, DOMAIN) == (_counts(one) <= _counts(other))
    assert always_holds(one[0], DOMAIN) == (_counts(one[:1]) == set(range(10)))
    joined = union(one, other, DOMAIN)
    assert joined is None or _counts(joined) == _counts(one) | _counts(other)


@settings(deadline=None)
@given(TRIGGERS, _number("inventory.stick"), _number("inventory.stick"), STATES)
def test_a_union_holds_exactly_where_one_of_the_two_does(
    common: tuple[Predicate, ...], one: Predicate, other: Predicate, state: State
) -> None:
    first, second = (*common, one), (*common, other)
    joined = union(first, second, DOMAIN)
    assume(joined is not None and not contradictions(first, DOMAIN) and not contradictions(second, DOMAIN))
    assert joined is not None
    assert bool(matches(joined, state)) == bool(matches(first, state) or matches(second, state))


@pytest.mark.parametrize(
    ("trigger", "fields"),
    [
        ([where("inventory.stick", "ge", 3), where("inventory.stick", "lt", 1)], ["inventory.stick"]),
        ([where("inventory.stick", "gt", 2), where("inventory.stick", "lt", 3)], ["inventory.stick"]),
        ([where("inventory.stick", "lt", 0)], ["inventory.stick"]),
        ([where(COAL, "lt", 2), where(COAL, "ne", 0), where(COAL, "ne", 1)],
         [COAL]),
        ([where("health", "gt", 20)], ["health"]),
        ([where("near.loom", "eq", True), where("near.loom", "ne", True)], ["near.loom"]),
        ([where("kind", "in", ("mine", "craft")), where("kind", "eq", "smelt")], ["kind"]),
        ([where("inventory.#logs", "lt", 1), where("inventory.oak_log", "ge", 1)], ["inventory.#logs"]),
        ([where("seen.#logs", "eq", False), where("seen.oak_log", "eq", True)], ["seen.#logs"]),
        ([where("missing", "eq", "stick"), where("missing", "ne", "stick")], ["missing=stick"]),
        ([where("missing", "eq", "stick"), where("missing", "eq", "coal")], []),
        ([where("inventory.stick", "ge", 1), where("inventory.stick", "lt", 2)], []),
        ([where("ypos", "gt", 2), where("ypos", "lt", 3)], []),
        ([where("seen.#logs", "eq", True), where("seen.oak_log", "eq", False)], []),
    ],
)  # fmt: skip
def test_contradictions(trigger: list[Predicate], fields: list[str]) -> None:
    assert contradictions(trigger, DOMAIN) == fields


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (where(COAL, "lt", 1), where(COAL, "lt", 3), where(COAL, "lt", 3)),
        (where("inventory.stick", "le", 1), where("inventory.stick", "ge", 3), None),
        (where("gui", "eq", "furnace"), where("gui", "eq", "none"), where("gui", "in", ("furnace", "none"))),
        (where("ypos", "le", 5), where("ypos", "ge", 5), None),
        (where("near.loom", "eq", True), where("near.furnace", "eq", True), None),
    ],
)  # fmt: skip
def test_unions(one: Predicate, other: Predicate, joined: Predicate | None) -> None:
    pin = where("kind", "eq", "craft")
    expected = None if joined is None else (pin, joined)
    assert union((pin, one), (pin, other), DOMAIN) == expected


def test_a_union_of_touching_intervals_is_one_interval() -> None:
    pin = where("kind", "eq", "craft")
    low = (pin, where("inventory.stick", "ge", 1), where("inventory.stick", "lt", 3))
    high = (pin, where("inventory.stick", "ge", 3), where("inventory.stick", "le", 5))
    joined = union(low, high, DOMAIN)
    assert joined == (pin, where("inventory.stick", "ge", 1), where("inventory.stick", "le", 5))


def test_a_narrower_trigger_is_swallowed_by_the_wider() -> None:
    wide = (where("kind", "eq", "craft"), where("target", "eq", "stick"))
    narrow = (*wide, where("near.loom", "eq", True))
    assert union(narrow, wide, DOMAIN) == wide
    assert union(wide, narrow, DOMAIN) == wide
