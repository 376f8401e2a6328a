"""What was done, as rows and back."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from rollouts.moves import MOVES, moves_of, written
from rollouts.protocols import Action, Keys, Move

_HELD = st.lists(st.sampled_from(["attack", "forward", "hotbar.3", "inventory"]), unique=True).map(sorted)
_DEGREES = st.floats(-180, 180, allow_nan=False)
_KEYS = st.builds(Keys, _HELD.map(tuple), _DEGREES, _DEGREES).map(lambda keys: Action(keys=keys))
_BODY = st.sampled_from([-1, 0, 1]).map(lambda forward: Action(forward=forward, yaw=90.0))


@given(st.one_of(_KEYS, _BODY))
def test_an_action_comes_back_as_it_was(action: Action) -> None:
    rows = pl.DataFrame([(0, 3, written(action))], schema=MOVES, orient="row")

    assert moves_of(rows) == [Move(action, 3)]


def test_what_is_put_into_a_furnace_comes_back_as_a_pair() -> None:
    action = Action(smelt=("raw_iron", "coal"))
    rows = pl.DataFrame([(0, 1, written(action))], schema=MOVES, orient="row")

    assert moves_of(rows) == [Move(action, 1)]


def test_keys_have_the_names_of_the_contract() -> None:
    assert Action(keys=Keys(("attack", "forward"), yaw=2.5)).name() == "attack+camera+forward"
    assert Action(keys=Keys()).name() == "noop"
