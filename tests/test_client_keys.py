"""Actions as the keys of the game's own client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts.protocols import Action, Keys, Observation
from rollouts.worlds.client.keys import keys_of


def looking(yaw: float = 0.0, pitch: float = 0.0) -> Observation:
    return Observation(0, 0.0, 64.0, 0.0, yaw, pitch, None, None, None, None, {}, None)


def test_a_body_is_moved_by_the_keys_that_minerl_names() -> None:
    action = Action(forward=-1, strafe=1, jump=True, sneak=True, attack=True, use=True)
    assert keys_of(action, looking()) == Keys(("attack", "back", "jump", "right", "sneak", "use"))
    assert keys_of(Action(forward=1, strafe=-1, sprint=True), looking()).held == ("forward", "left", "sprint")


def test_named_keys_are_taken_as_they_are() -> None:
    keys = Keys(("drop", "hotbar.9"), 1.5, -2.0)
    assert keys_of(Action(forward=1, keys=keys), looking(10, 10)) == keys


def test_what_has_no_key_of_its_own_is_left_out() -> None:
    assert keys_of(Action(craft="stick", equip="stone_pickaxe", place="dirt"), looking()) == Keys()


@given(st.floats(-720, 720), st.floats(-180, 180), st.floats(-90, 90), st.floats(-90, 90))
def test_a_view_turns_the_short_way_to_where_it_should_look(
    now: float, there: float, down: float, up: float
) -> None:
    keys = keys_of(Action(yaw=there, pitch=up), looking(now, down))
    assert -180 <= keys.yaw <= 180
    assert (now + keys.yaw - there + 180) % 360 - 180 == pytest.approx(0, abs=1e-6)
    assert down + keys.pitch == pytest.approx(up)
