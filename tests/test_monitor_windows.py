"""What the last few attempts say together: eq. 5, skill segments, deadlock."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.monitor import DEFAULTS
from tests.monitor_scenes import Row, Try, judged, says, scene, stand, together, walk
from warehouse.domains import Domain

MOVED: Row = {"path": walk(30, 20), "ticks": {"action": "forward"}}
WON = Try(success=True, gained=1, **MOVED)
LOST = Try(kind="move", target=None, end="timeout", **MOVED)
UNCLEAR = Try(success=None, kind=None, target=None, needed=None, **MOVED)
BROKEN = Try(end="infrastructure", path=[])
BY_LETTER = {"w": WON, "l": LOST, "?": UNCLEAR, "x": BROKEN}


def rows_of(letters: str, minecraft: Domain) -> list[Row]:
    # Another subgoal each time, so that no repeat makes an attempt stagnant by itself.
    tries = [Try(**vars(BY_LETTER[letter]) | {"condition": str(n)}) for n, letter in enumerate(letters)]
    return judged(scene(*tries), minecraft)


def rates(letters: str) -> list[float | None]:
    """The failure rates of eq. 5, said plainly."""
    h, verdicts, result = DEFAULTS.window, [], list[float | None]()
    for letter in letters:
        if letter in "?x":
            result.append(None)
            continue
        verdicts.append(letter == "l")
        result.append(sum(verdicts[-h:]) / h if len(verdicts) >= h else None)
    return result


@given(st.text("wl?x", min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_windows_are_what_the_reference_says(minecraft: Domain, letters: str) -> None:
    rows = rows_of(letters, minecraft)
    expected = rates(letters)
    assert [row["window_failure_rate"] for row in rows] == expected
    due = [rate is not None and rate >= DEFAULTS.failure_rate for rate in expected]
    assert [row["remedy_due"] for row in rows] == due
    ends_a_run = [
        here == "w" and after != "w" for here, after in zip(letters, f"{letters[1:]}.", strict=True)
    ]
    assert [row["skill_due"] for row in rows] == ends_a_run


@pytest.mark.parametrize(("letters", "due"), [
    ("l", False),
    ("lll", False),
    ("llll", True),
    ("wwll", True),
    ("wwwl", False),
    ("l?l?l", False),
    ("l?l?lxl", True),
])  # fmt: skip
def test_a_remedy_is_due_from_a_full_window(letters: str, due: bool, minecraft: Domain) -> None:
    assert rows_of(letters, minecraft)[-1]["remedy_due"] == due


def test_a_stagnant_attempt_is_due_by_itself(minecraft: Domain) -> None:
    row = judged(scene(Try(path=stand(200), ticks={"action": "attack"})), minecraft)[0]
    assert (row["stagnant"], row["window_failure_rate"], row["remedy_due"]) == (True, None, True)


def test_windows_do_not_reach_into_another_episode(minecraft: Domain) -> None:
    trace = together(scene(LOST, LOST, episode="one"), scene(LOST, LOST, episode="two"))
    rows = judged(trace, minecraft)
    assert [row["window_failure_rate"] for row in rows] == [None] * 4
    won = judged(together(scene(WON, episode="one"), scene(WON, episode="two")), minecraft)
    assert [row["skill_due"] for row in won] == [True, True]


def fails(signal: str, condition: str) -> Try:
    return Try(condition=condition, events=[says(signal)], **MOVED)


def deadlocks(minecraft: Domain, *tries: Try) -> list[bool]:
    return [row["deadlock"] for row in judged(scene(*tries), minecraft)]


def test_a_deadlock_is_the_same_failure_three_times_over_two_subgoals(minecraft: Domain) -> None:
    a, b = fails("path_blocked", "a"), fails("path_blocked", "b")
    assert deadlocks(minecraft, a, b, a) == [False, False, True]
    assert deadlocks(minecraft, a, a, a, a) == [False] * 4
    assert deadlocks(minecraft, a, WON, b, WON, a, WON) == [False, False, False, False, True, False]


def test_other_failures_do_not_add_up_to_one(minecraft: Domain) -> None:
    a, other = fails("path_blocked", "a"), fails("missing_tool", "b")
    assert not any(deadlocks(minecraft, a, other, a, other))


def test_a_deadlock_lies_within_eight_attempts(minecraft: Domain) -> None:
    a, b = fails("path_blocked", "a"), fails("path_blocked", "b")
    inside: list[Any] = [a, b, *[WON] * (DEFAULTS.deadlock_window - 3), a]
    assert deadlocks(minecraft, *inside)[-1]
    assert not deadlocks(minecraft, a, b, *[WON] * (DEFAULTS.deadlock_window - 2), a)[-1]
