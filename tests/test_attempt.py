"""When an attempt ends in success: checks that depend on where the body is wait until it stands."""

import pytest

from rollouts.attempt import Stage, StageKit, checks_hold
from rollouts.attempt_run import AttemptRun
from rollouts.protocols import Action, EpisodeSpec, Executor, Move, Observation, Subgoal, World
from rollouts.worlds.techtree import Settings, TechTree
from tests.fake_world import spec, task
from tests.techtree_stage import DOMAIN, GROUND
from warehouse.domains import Domain
from warehouse.knowledge import Check

OVERHEAD = (64, GROUND + 6, 64)
"""a table here is out of reach for who stands below it, and in reach for a moment of every jump"""
AT_TABLE = Check(type="station_near", name="crafting_table")
JUMP, REST = Move(Action(jump=True), 1), Move(Action(), 1)
HOPS = [*[JUMP] * 30, *[REST] * 15]


class Plain(TechTree):
    """A flat world with a table in it."""

    def __init__(self, table: tuple[int, int, int]) -> None:
        super().__init__(DOMAIN, Settings(ground="flat"))
        self._table = table

    def reset(self, seed: int) -> Observation:
        super().reset(seed)
        self.play.put(self._table, "crafting_table")
        return self.step(Action()).observation


class Hands:
    """Makes one list of moves after another, one a subgoal, and stops at the end of each."""

    name = "hands"

    def __init__(self, *lists: list[Move]) -> None:
        self._lists = iter(lists)

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        self._moves = iter(next(self._lists))

    def act(self, observation: Observation) -> Move | None:
        return next(self._moves, None)


def opened(hands: Executor, table: tuple[int, int, int] = OVERHEAD, horizon: int = 400) -> Stage:
    def world(spec: EpisodeSpec, domain: Domain) -> World:
        return Plain(table)

    stage = Stage(spec(0, horizon), task(), StageKit(DOMAIN, world, lambda spec, domain: hands))
    stage.open()
    return stage


def move_until(*checks: Check, seconds: float = 10.0) -> Subgoal:
    return Subgoal("s1", "move", "move", None, timeout_s=seconds, checks=checks)


def reached(run: AttemptRun) -> bool:
    """The table was in reach at some tick."""
    return run.sightings.filter(name="crafting_table", in_reach=True).height > 0


def test_a_table_in_reach_of_a_jump_alone_is_not_reached() -> None:
    goal = move_until(AT_TABLE)
    run = opened(Hands(HOPS)).run(0, goal)
    assert reached(run)
    assert (run.success, run.end_reason) == (False, "agent_stopped")
    assert run.state_after["near"] == []
    assert run.state_after["y"] == GROUND


@pytest.mark.parametrize("stops_after", range(1, 13))
def test_wherever_in_a_jump_the_executor_stops_its_end_is_judged_on_the_ground(stops_after: int) -> None:
    goal = move_until(AT_TABLE)
    stage = opened(Hands([JUMP] * stops_after, [REST] * 20))
    run = stage.run(0, goal)
    assert run.success is False
    assert run.success is checks_hold(goal, run.state_after, DOMAIN)
    after = stage.run(1, goal)
    assert after.success is False
    assert after.state_after["y"] == GROUND


def test_a_table_in_reach_of_who_stands_there_ends_the_attempt_at_once() -> None:
    walk = Move(Action(forward=1, yaw=0.0), 3)
    run = opened(Hands([walk] * 20), (64, GROUND, 70)).run(0, move_until(AT_TABLE))
    assert (run.success, run.end_reason) == (True, "success")
    assert run.state_after["near"] == ["crafting_table"]
    assert run.end_tick - run.start_tick < 30


def test_who_jumps_all_the_way_is_there_when_it_has_come_down_within_reach() -> None:
    hop = Move(Action(forward=1, jump=True, yaw=0.0), 1)
    run = opened(Hands([*[hop] * 12, *[REST] * 30]), (64, GROUND, 70)).run(0, move_until(AT_TABLE))
    assert (run.success, run.end_reason) == (True, "success")
    assert run.state_after["y"] == GROUND
    assert run.state_after["near"] == ["crafting_table"]


@pytest.mark.parametrize(("kind", "bound"), [("ypos_ge", GROUND + 1), ("ypos_le", GROUND)])
def test_a_height_counts_where_the_body_stays(kind: str, bound: float) -> None:
    run = opened(Hands(HOPS)).run(0, move_until(Check(type=kind, value=bound)))
    assert run.state_after["y"] == GROUND
    assert run.success is (kind == "ypos_le")


def test_a_jump_that_runs_out_of_time_in_the_air_is_followed_to_the_ground() -> None:
    run = opened(Hands([JUMP] * 40)).run(0, move_until(AT_TABLE, seconds=0.3))
    assert run.success is False
    assert run.end_reason == "timeout"
    assert run.state_after["near"] == []


def test_the_horizon_is_not_passed_to_see_a_jump_end() -> None:
    run = opened(Hands([JUMP] * 40), horizon=7).run(0, move_until(AT_TABLE))
    assert run.end_tick <= 7


def test_what_does_not_depend_on_the_place_is_met_in_the_air() -> None:
    run = opened(Hands([JUMP] * 3)).run(0, move_until(Check(type="gui_closed")))
    assert run.success is True
    assert run.end_tick - run.start_tick == 2
