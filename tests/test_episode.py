"""The state machine of an episode, and how an attempt ends."""

from typing import Any

import polars as pl
import pytest

from prompts.language_model import ErrorReason
from rollouts.agent import Conclusion, Situation, Thought, agent_row
from rollouts.attempt import Stage, checks_hold
from rollouts.backends import InProcess
from rollouts.episode import Episode
from rollouts.monitor import monitor
from rollouts.planner import PlanningFailure
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.recorder import EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import Crew, play
from tests.fake_world import (
    CAST,
    LOG,
    FakeAgent,
    FakeModel,
    chop,
    crew,
    kit,
    question_of,
    spec,
    subgoal,
    task,
)
from warehouse.domains import Domain
from warehouse.knowledge import Check
from warehouse.records import TABLES
from warehouse.tasks import Task


def played(each: EpisodeSpec, crew_: Crew, domain: Domain) -> EpisodeRecord:
    (ended,) = play(plan_shards([each]), InProcess(kit(domain)), crew_)
    return ended.record


def run(
    domain: Domain, *subgoals: Subgoal, row: str = "no_repair", wanted: Task | None = None, **settings: Any
) -> EpisodeRecord:
    """One episode of a plan that is given."""
    horizon = settings.pop("horizon", 400)
    each = spec(seed=settings.pop("seed", 0), horizon=horizon, **settings)
    return played(each, crew(domain, row=row, subgoals=subgoals, wanted=wanted or task(9)), domain)


def ends(record: EpisodeRecord) -> list[tuple[str, bool | None]]:
    return [(each.run.end_reason, each.run.success) for each in record.attempts]


def test_a_subgoal_ends_as_soon_as_its_checks_hold(minecraft: Domain) -> None:
    record = run(minecraft, chop(1, "a"), chop(2, "b"))
    assert ends(record) == [("success", True), ("success", True)]
    first, second = (each.run for each in record.attempts)
    assert first.inventory_changes.row(0, named=True)["count"] == 1
    assert first.end_tick == first.inventory_changes["tick"][0]
    assert second.start_tick == first.end_tick + 1
    assert record.end_reason == "plan_exhausted"
    assert record.success_tick is None


def test_what_is_had_already_is_not_attempted(minecraft: Domain) -> None:
    record = run(minecraft, chop(2, "a"), chop(1, "b"), chop(3, "c"))
    assert [each.subgoal.subgoal_id for each in record.attempts] == ["a", "c"]
    assert [each.run.attempt for each in record.attempts] == [0, 1]


def test_doing_is_attempted_although_the_checks_hold_before_it(minecraft: Domain) -> None:
    walk = subgoal("move", "walk", Check(type="alive"), seconds=1.0)
    record = run(minecraft, walk)
    assert ends(record) == [("success", True)]
    assert record.attempts[0].run.end_tick == 20


def test_success_of_the_task_ends_everything_at_its_tick(minecraft: Domain) -> None:
    record = run(minecraft, chop(5, "a"), chop(9, "b"), wanted=task(2))
    assert record.end_reason == "success"
    # The subgoal was cut short, so nobody knows whether it would have been reached.
    assert ends(record) == [("superseded", None)]
    changes = record.attempts[0].run.inventory_changes
    assert record.success_tick == changes["tick"][1] == record.attempts[0].run.end_tick


def test_success_counts_before_the_horizon_and_not_at_it(minecraft: Domain) -> None:
    whole = run(minecraft, chop(1, "a"), wanted=task(1))
    tick = whole.success_tick
    assert tick is not None
    assert run(minecraft, chop(1, "a"), wanted=task(1), horizon=tick + 1).end_reason == "success"
    late = run(minecraft, chop(1, "a"), wanted=task(1), horizon=tick)
    assert (late.end_reason, late.success_tick) == ("horizon", None)
    # The subgoal was reached nevertheless: it is judged by its checks alone.
    assert ends(late) == [("success", True)]


def test_a_task_that_needs_an_event_is_not_done_without_it(minecraft: Domain) -> None:
    wanted = task(1, event="trade")
    assert run(minecraft, chop(2, "a"), wanted=wanted).end_reason == "plan_exhausted"
    record = run(minecraft, chop(3, "a", seconds=20.0), wanted=wanted, villager_at=6.0)
    assert record.end_reason == "success"
    events = record.attempts[-1].run.events
    assert record.success_tick == events.filter(pl.col("name") == "trade")["tick"][0]


def test_timeout_horizon_death_and_giving_up(minecraft: Domain) -> None:
    assert ends(run(minecraft, chop(5, "a", seconds=1.0))) == [("timeout", False)]
    assert ends(run(minecraft, chop(5, "a"), horizon=30)) == [("horizon", False)]
    dead = run(minecraft, chop(5, "a"), chop(6, "b"), deadly_at=2.0)
    assert (dead.end_reason, ends(dead)) == ("death", [("death", False)])
    assert dead.attempts[0].run.state_after["alive"] is False
    assert ends(run(minecraft, chop(5, "a"), patience=3)) == [("agent_stopped", False)]


def test_a_subgoal_without_checks_is_undecided_and_the_plan_goes_on(minecraft: Domain) -> None:
    record = run(minecraft, subgoal("move", "walk", seconds=1.0), chop(1, "a"), row="full")
    assert ends(record)[:2] == [("timeout", None), ("success", True)]
    assert record.budget.repairs >= 1  # asked only when the plan was used up


def test_a_failure_is_repaired_and_the_done_prefix_is_kept(minecraft: Domain) -> None:
    record = played(spec(2), crew(minecraft), minecraft)
    assert ends(record)[0] == ("timeout", False)
    assert record.budget.repairs >= 1
    plans = [each.plan_id for each in record.attempts]
    assert plans == sorted(plans)
    assert len(set(plans)) > 1
    # The step that failed is gone with its plan, and nothing that was done is done again.
    assert [each.subgoal.subgoal_id for each in record.attempts if each.run.success] == sorted(
        {each.subgoal.subgoal_id for each in record.attempts if each.run.success}
    )


def test_without_repair_a_plan_goes_on_after_a_failure(minecraft: Domain) -> None:
    record = run(minecraft, chop(9, "a", seconds=1.0), chop(1, "b"))
    assert ends(record) == [("timeout", False), ("success", True)]
    assert record.budget.used == 1


def test_an_episode_that_may_ask_no_more_ends_by_its_budget(minecraft: Domain) -> None:
    stubborn = crew(
        minecraft, subgoals=[subgoal("craft", "a", Check(type="inv_ge", name="stick", value=1.0))]
    )
    record = played(spec(), stubborn, minecraft)
    assert record.end_reason == "call_budget"
    assert record.budget.row()["used"] == 9
    assert record.budget.remaining == 0
    assert len(record.attempts) == 9
    assert len(record.answers) == 9


def test_a_world_that_fails_twice_is_infrastructure_with_what_was_seen(minecraft: Domain) -> None:
    record = run(minecraft, chop(1, "a"), chop(9, "b"), crash_at=40)
    assert (record.end_reason, record.tries) == ("infrastructure", 2)
    last = record.attempts[-1].run
    assert (last.end_reason, last.success) == ("infrastructure", None)
    assert last.events.row(-1, named=True)["text"] == (
        "ConnectionError: the server closed the connection at tick 40"
    )
    assert last.end_tick <= 40
    trace = trace_of([record])
    row = monitor(trace, minecraft).row(-1, named=True)
    assert (row["failure_type"], row["y"]) == ("INFRASTRUCTURE", None)


def test_a_world_that_cannot_be_made_is_infrastructure_without_an_attempt(minecraft: Domain) -> None:
    record = run(minecraft, chop(1, "a"), no_reset=True)
    assert (record.end_reason, record.attempts, record.tries) == ("infrastructure", (), 2)


def test_the_states_around_an_attempt_know_what_was_near_and_seen(minecraft: Domain) -> None:
    record = run(minecraft, chop(1, "a"))
    before, after = record.attempts[0].run.state_before, record.attempts[0].run.state_after
    assert (before["inventory"], after["inventory"]) == ([], [{"name": LOG, "count": 1}])
    assert before["near"] == []
    assert LOG in after["seen"]
    assert after["x"] > before["x"]
    blind = run(minecraft, chop(1, "a"), blind=True).attempts[0].run
    assert (blind.state_before["near"], blind.state_after["seen"]) == (None, None)
    assert blind.sightings.is_empty()


def test_an_episode_keeps_the_contract_row_for_row(minecraft: Domain) -> None:
    records = [played(spec(seed), crew(minecraft), minecraft) for seed in range(3)]
    trace = trace_of(records)
    for name, frame in trace.frames().items():
        assert TABLES[name].schema.is_valid(frame), name
        keys = [key for key in TABLES[name].sort_by if key != "kind"]
        assert frame.equals(frame.sort(keys, maintain_order=True)), name
    ticks = trace.ticks.filter(pl.col("episode_id") == trace.ticks["episode_id"][0])
    assert ticks["tick"].to_list() == list(range(1, ticks.height + 1))
    assert trace.attempts["claimed"].null_count() == trace.attempts.height
    assert trace.attempts["relative"].any() is False
    assert trace.episodes["n_ticks"].sum() == trace.ticks.height


def test_monitor_says_the_same_in_the_loop_and_of_the_whole_trace(minecraft: Domain) -> None:
    told: dict[int, tuple[str | None, bool | None]] = {}

    class Hearing(FakeAgent):
        def repair(self, situation: Situation) -> Thought:
            told.update({fact.attempt: (fact.failure_type, fact.stagnant) for fact in situation.facts})
            return super().repair(situation)

    hearing = Hearing(agent_row("full"))
    model = FakeModel()
    loop = Crew(
        begin=lambda each: Episode(each, task(), hearing, CAST, minecraft),
        model=lambda role, seed: model,
        domain=minecraft,
    )
    record = played(spec(2), loop, minecraft)
    rows = monitor(trace_of([record]), minecraft).to_dicts()
    offline = {row["attempt"]: (row["failure_type"], row["stagnant"]) for row in rows}
    assert len(told) > 1
    assert told == {attempt: offline[attempt] for attempt in told}


@pytest.mark.parametrize(
    ("check", "state", "answer"),
    [
        (Check(type="inv_ge", name=LOG, value=2.0), {"inventory": [{"name": LOG, "count": 2}]}, True),
        (Check(type="inv_lt", name=LOG, value=2.0), {"inventory": [{"name": LOG, "count": 2}]}, False),
        (Check(type="ypos_le", value=12.0), {"y": 11.0}, True),
        (Check(type="ypos_ge", value=12.0), {"y": 11.0}, False),
        (Check(type="gui_closed"), {"gui": "none"}, True),
        (Check(type="station_near", name="furnace"), {"near": ["furnace"]}, True),
        (Check(type="station_near", name="furnace"), {"near": None}, None),
        (Check(type="alive"), {"alive": True}, True),
        (Check(type="path_clear"), {"alive": True}, None),
    ],
)
def test_checks_are_absolute_and_may_be_undecided(
    check: Check, state: dict[str, Any], answer: bool | None, minecraft: Domain
) -> None:
    assert checks_hold(subgoal("move", "m", check), state, minecraft) is answer
    dead = Check(type="alive")
    both = checks_hold(subgoal("move", "m", check, dead), state | {"alive": False}, minecraft)
    assert both is False


@pytest.mark.parametrize(
    ("reason", "end", "tries"), [("schema", "planning_failure", 1), ("engine", "infrastructure", 2)]
)
def test_without_a_plan_there_is_no_episode(
    reason: ErrorReason, end: str, tries: int, minecraft: Domain
) -> None:
    class Speechless(FakeAgent):
        def plan(self, situation: Situation) -> Thought:
            budget = situation.budget.spend("plan")
            yield question_of(0, 0)
            return Conclusion(PlanningFailure(reason, "nothing came", budget), budget)

    model = FakeModel()
    loop = Crew(
        begin=lambda each: Episode(each, task(), Speechless(agent_row("full")), CAST, minecraft),
        model=lambda role, seed: model,
        domain=minecraft,
    )
    record = played(spec(), loop, minecraft)
    assert (record.end_reason, record.attempts, record.tries) == (end, (), tries)
    assert record.budget.plans == 1
    assert len(record.answers) == 1
    assert trace_of([record]).episodes["n_ticks"].to_list() == [0]


def test_a_stage_has_to_be_opened(minecraft: Domain) -> None:
    with pytest.raises(RuntimeError, match="not opened"):
        Stage(spec(), task(), kit(minecraft)).run(0, chop(1))
