"""Steps carried out towards a goal: when that ends, and what it comes to."""

from dataclasses import replace
from typing import Any

import pytest

from rollouts.attempt_run import AttemptRun, lost
from rollouts.protocols import Subgoal
from rollouts.rehearsal import STEP_SECONDS, Course, with_steps, without_steps
from tests.fake_world import LOG, chop
from tests.good_cases import state, step
from warehouse.domains import Domain
from warehouse.knowledge import Check

GOAL = chop(2, seconds=30.0)
STEPS = (step("move", LOG), step("mine", LOG, 3))
LIMIT = 2400


def run(end_tick: int, logs: int = 0, end_reason: str = "timeout", **more: Any) -> AttemptRun:
    """An attempt that ended so."""
    nothing = lost(0, state({}), 0, "")
    after = state({LOG: logs}, alive=end_reason != "death") | more
    return replace(nothing, end_tick=end_tick, end_reason=end_reason, state_after=after)


def course(minecraft: Domain, subgoals: tuple[Subgoal, ...], goal: Subgoal = GOAL, logs: int = 0) -> Course:
    return Course(subgoals, goal, state({LOG: logs}), 100, LIMIT, minecraft)


def followed(course: Course, *runs: AttemptRun) -> list[str]:
    """What was carried out, of attempts that end so one after the other."""
    done = []
    for each in runs:
        subgoal = course.next()
        if subgoal is None:
            break
        done.append(f"{subgoal.kind} {subgoal.timeout_s:g}")
        course.heard(each)
    return done


def test_the_arms_make_as_many_attempts() -> None:
    steps, alone = with_steps(STEPS, GOAL), without_steps(STEPS, GOAL)
    assert [(each.kind, each.target, each.count) for each in steps] == [
        ("move", LOG, 1),
        ("mine", LOG, 3),
        (GOAL.kind, GOAL.target, GOAL.count),
    ]
    assert [each.timeout_s for each in steps] == [STEP_SECONDS, STEP_SECONDS, 30.0]
    assert alone == (GOAL,) * 3


def test_the_steps_are_done_whatever_comes_of_them_and_then_the_goal(minecraft: Domain) -> None:
    one = course(minecraft, with_steps(STEPS, GOAL))
    done = followed(one, run(200), run(300, 1), run(400, 2, "success"))
    # No step is given more time than the arm has left: 120 s, of which the first step took 5.
    assert done == ["move 120", "mine 115", "mine 30"]
    assert one.next() is None
    assert (one.success, one.ticks, one.lost) == (True, 300, False)


def test_a_goal_that_is_reached_is_not_tried(minecraft: Domain) -> None:
    one = course(minecraft, with_steps(STEPS, GOAL))
    followed(one, run(200), run(300, 3))
    assert one.next() is None
    assert (one.success, one.ticks) == (True, 200)
    at_once = course(minecraft, without_steps(STEPS, GOAL), logs=2)
    assert at_once.next() is None
    assert (at_once.success, at_once.ticks) == (True, 0)


def test_time_that_is_over_ends_it_where_it_stands(minecraft: Domain) -> None:
    one = course(minecraft, with_steps(STEPS, GOAL))
    assert followed(one, run(100 + 1800), run(100 + LIMIT)) == ["move 120", "mine 30"]
    assert one.next() is None
    assert (one.success, one.ticks) == (False, LIMIT)


def test_what_is_had_at_a_death_is_no_success(minecraft: Domain) -> None:
    one = course(minecraft, with_steps(STEPS, GOAL))
    followed(one, run(200, 5, "death"))
    assert one.next() is None
    assert (one.success, one.ticks) == (False, 100)


def test_what_the_checks_cannot_tell_stays_open(minecraft: Domain) -> None:
    way = replace(GOAL, checks=(Check(type="path_clear"),))
    one = course(minecraft, without_steps((), way), way)
    followed(one, run(200))
    assert one.next() is None
    assert one.success is None


@pytest.mark.parametrize("logs", [0, 2])
def test_a_world_that_fails_decides_nothing(minecraft: Domain, logs: int) -> None:
    one = course(minecraft, with_steps(STEPS, GOAL))
    followed(one, run(150, logs, "infrastructure"))
    assert one.next() is None
    assert (one.success, one.lost) == (None, True)


def test_an_attempt_that_is_all_there_is_reaches_it_or_not(minecraft: Domain) -> None:
    for logs, expected in ((2, True), (1, False)):
        one = course(minecraft, without_steps((), GOAL))
        followed(one, run(120, logs, "agent_stopped"))
        assert one.next() is None
        assert one.success is expected
