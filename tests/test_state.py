"""The flat state: what is known, what is not, and the three answers to every question."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.good_cases import check, where
from warehouse.domains import Domain
from warehouse.knowledge import Check, Predicate
from warehouse.state import CHECKS, State, check_holds, flatten_state, holds, matches, value_of

ROW = {
    "x": 1.0,
    "y": 11.5,
    "z": 2.0,
    "health": 20.0,
    "hunger": 17.0,
    "gui": "none",
    "equipped": None,
    "alive": True,
    "inventory": [{"name": "oak_log", "count": 2}, {"name": "birch_log", "count": 1}],
    "near": ["furnace"],
    "seen": ["stone", "cow"],
}
BLIND = {**ROW, "near": None, "seen": None, "inventory": None, "y": None, "gui": None, "alive": None}


def test_fields_of_a_state() -> None:
    state = flatten_state(ROW, kind="mine", missing=["b", "a", "b"], failure_type=None)
    assert state["ypos"] == 11.5
    assert state["kind"] == "mine"
    assert state["missing"] == ("a", "b")
    assert value_of(state, "failure_type") is None
    assert value_of(state, "equipped") is None
    assert value_of(state, "inventory.oak_log") == 2
    assert value_of(state, "near.furnace") is True
    assert list(state) == sorted(state)


def test_what_a_known_inventory_lacks_is_zero_and_what_a_blind_source_lacks_is_unknown() -> None:
    assert value_of(flatten_state(ROW), "inventory.stick") == 0
    assert value_of(flatten_state(ROW), "near.loom") is False
    assert value_of(flatten_state(ROW), "seen.dirt") is False
    for field in ("inventory.stick", "near.loom", "seen.dirt", "ypos"):
        assert value_of(flatten_state(BLIND), field) is None
        assert value_of(flatten_state(None), field) is None


def test_slots_of_one_item_add_up() -> None:
    slots = [{"name": "stick", "count": 2}, {"name": "stick", "count": 3}]
    assert value_of(flatten_state({"inventory": slots}), "inventory.stick") == 5


def test_a_tag_is_the_sum_of_its_members_or_any_of_them(minecraft: Domain) -> None:
    state = flatten_state({**ROW, "seen": ["oak_log"]})
    assert value_of(state, "inventory.#logs", minecraft) == 3
    assert value_of(state, "inventory.#planks", minecraft) == 0
    assert value_of(state, "seen.#logs", minecraft) is True
    assert value_of(state, "seen.#planks", minecraft) is False
    assert value_of(state, "inventory.#logs") is None
    assert value_of(flatten_state(BLIND), "inventory.#logs", minecraft) is None


@pytest.mark.parametrize(
    ("predicate", "answer"),
    [
        (where("ypos", "le", 11.5), True),
        (where("ypos", "lt", 11.5), False),
        (where("ypos", "gt", 11), True),
        (where("ypos", "ge", 12), False),
        (where("inventory.oak_log", "eq", 2.0), True),
        (where("inventory.oak_log", "ne", 2), False),
        (where("inventory.oak_log", "in", (1, 2)), True),
        (where("gui", "in", ("furnace", "other")), False),
        (where("near.furnace", "eq", 1), False),
        (where("near.furnace", "eq", True), True),
        (where("gui", "lt", 3), False),
        (where("equipped", "ne", "stick"), None),
        (where("no_such_field", "eq", 1), None),
    ],
)
def test_predicates(predicate: Predicate, answer: bool | None) -> None:
    assert holds(predicate, flatten_state(ROW)) is answer


def test_missing_has_several_values() -> None:
    state = flatten_state(None, missing=("furnace", "stick"))
    assert holds(where("missing", "eq", "stick"), state) is True
    assert holds(where("missing", "in", ("coal", "furnace")), state) is True
    assert holds(where("missing", "ne", "stick"), state) is False
    assert holds(where("missing", "ne", "coal"), state) is True
    assert holds(where("missing", "eq", "coal"), flatten_state(None, missing=())) is False


def test_a_conjunction_is_false_before_it_is_unknown() -> None:
    state = flatten_state(ROW)
    true, false, unknown = (
        where("alive", "eq", True),
        where("ypos", "lt", 0),
        where("equipped", "eq", "stick"),
    )
    assert matches([], state) is True
    assert matches([true], state) is True
    assert matches([true, unknown], state) is None
    assert matches([unknown, false], state) is False


@pytest.mark.parametrize(
    ("one", "answer", "blind"),
    [
        (check("inv_ge", "oak_log", 2.0), True, None),
        (check("inv_ge", "#logs", 4.0), False, None),
        (check("inv_lt", "#logs", 4.0), True, None),
        (check("inv_lt", "oak_log", 2.0), False, None),
        (check("ypos_le", None, 11.5), True, None),
        (check("ypos_le", None, 11.0), False, None),
        (check("ypos_ge", None, 11.5), True, None),
        (check("ypos_ge", None, 12.0), False, None),
        (check("path_clear"), None, None),
        (check("gui_closed"), True, None),
        (check("station_near", "furnace"), True, None),
        (check("station_near", "loom"), False, None),
        (check("alive"), True, None),
    ],
)
def test_checks(one: Check, answer: bool | None, blind: bool | None, minecraft: Domain) -> None:
    assert check_holds(one, flatten_state(ROW), minecraft) is answer
    assert check_holds(one, flatten_state(BLIND), minecraft) is blind


def test_every_check_of_the_domain_can_be_evaluated(minecraft: Domain) -> None:
    assert set(minecraft.check_types) == set(CHECKS)
    with pytest.raises(ValueError, match="mood_ge"):
        check_holds(check("mood_ge", None, 1.0), {}, minecraft)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 9)),
    st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]),
    st.integers(0, 9),
)
def test_an_operator_and_its_opposite_disagree(counts: dict[str, int], op: str, bound: int) -> None:
    opposite = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
    rows = [{"name": name, "count": count} for name, count in counts.items()]
    state: State = flatten_state({"inventory": rows})
    one, other = (
        Predicate.model_validate({"field": "inventory.a", "op": each, "value": bound})
        for each in (op, opposite[op])
    )
    assert holds(one, state) is not holds(other, state)
