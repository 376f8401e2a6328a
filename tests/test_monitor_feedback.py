"""Feedback rows as a whole: the contract, and one implementation for one attempt or millions of ticks."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from rollouts.monitor import EARLIER, monitor, monitor_shards, watch
from rollouts.trace import LazyTrace, Trace
from tests.monitor_scenes import STANDING, Try, judge, judged, says, scene, stand, together, types, walk
from tests.monitor_strategies import attempts_between, episodes, first_attempts
from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.records import Feedback, arrange

LOOKS_AHEAD = "skill_due"  # the end of a run of successes is known only when it is over
some = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def same(left: pl.DataFrame, right: pl.DataFrame) -> None:
    assert_frame_equal(left, right, check_exact=True)


@given(episodes())
@some
def test_rows_keep_the_contract_and_every_attempt_has_one(minecraft: Domain, traces: list[Trace]) -> None:
    trace = together(*traces)
    rows = monitor(trace, minecraft)
    Feedback.validate(rows)
    assert rows.select("episode_id", "attempt").equals(trace.attempts.select("episode_id", "attempt"))
    assert (rows["failure_type"] == "NONE").fill_null(False).equals(rows["y"].fill_null(False))


@given(episodes(), st.data())
@some
def test_monitor_of_many_episodes_is_monitor_of_each(
    minecraft: Domain, traces: list[Trace], data: st.DataObject
) -> None:
    whole = monitor(together(*traces), minecraft)
    each = [monitor(trace, minecraft) for trace in traces]
    same(arrange("feedback", pl.concat(each)), whole)
    cut = data.draw(st.integers(0, len(traces)))
    halves = [monitor(together(*half), minecraft) for half in (traces[:cut], traces[cut:]) if half]
    same(arrange("feedback", pl.concat(halves)), whole)


@given(episodes())
@some
def test_the_episode_loop_says_what_the_asset_says(minecraft: Domain, traces: list[Trace]) -> None:
    """The loop judges an attempt when it ends, with the attempts before it and none after it."""
    for trace in traces:
        whole = monitor(trace, minecraft).drop(LOOKS_AHEAD)
        for number in range(trace.attempts.height):
            so_far = monitor(first_attempts(trace, number + 1), minecraft).drop(LOOKS_AHEAD)
            same(so_far, whole.head(number + 1))


@given(episodes(), st.data())
@some
def test_attempts_that_were_judged_before_need_not_be_there_again(
    minecraft: Domain, traces: list[Trace], data: st.DataObject
) -> None:
    for trace in traces:
        whole = monitor(trace, minecraft)
        cut = data.draw(st.integers(0, trace.attempts.height))
        told = trace.attempts.drop("source").join(whole, on=["episode_id", "attempt"])
        earlier = told.head(cut).select(pl.col(name).cast(dtype) for name, dtype in EARLIER.items())
        rest = attempts_between(trace, cut, trace.attempts.height)
        same(monitor(rest, minecraft, earlier=earlier), whole.slice(cut))


@given(episodes(), st.randoms(use_true_random=False))
@some
def test_the_order_of_rows_that_come_in_does_not_matter(
    minecraft: Domain, traces: list[Trace], random: object
) -> None:
    trace = together(*traces)
    seed = random.randrange(1000)  # type: ignore[attr-defined]
    shuffled = {
        name: frame.sample(fraction=1, shuffle=True, seed=seed) for name, frame in trace.frames().items()
    }
    same(monitor(Trace.of(shuffled), minecraft), monitor(trace, minecraft))


def lazily(traces: Sequence[Trace]) -> LazyTrace:
    return LazyTrace(
        {name: frame.lazy() for name, frame in together(*traces).frames().items()},
        [trace.ticks.lazy() for trace in traces],
    )


@given(episodes(), st.integers(1, 200), st.integers(0, 4))
@some
def test_shards_and_batches_change_nothing(
    minecraft: Domain, traces: list[Trace], batch: int, cut: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "BATCH_ROWS", batch)
        shards = [lazily(half) for half in (traces[:cut], traces[cut:]) if half]
        rows = monitor_shards(shards, minecraft)
    same(arrange("feedback", rows), monitor(together(*traces), minecraft))


def test_shards_are_read_from_files(minecraft: Domain, tmp_path: Path) -> None:
    traces = [scene(Try(path=walk(50, 9)), Try(), episode=name) for name in ("one", "two")]
    whole = together(*traces)
    for name, frame in whole.frames().items():
        frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=16)
    shard = LazyTrace(
        {name: pl.scan_parquet(tmp_path / f"{name}.parquet") for name in whole.frames() if name != "ticks"},
        [pl.scan_parquet(tmp_path / "ticks.parquet")],
    )
    same(monitor_shards([shard], minecraft), monitor(whole, minecraft))


def test_no_shards_and_no_attempts_have_no_rows(minecraft: Domain) -> None:
    assert monitor_shards([], minecraft).equals(monitor(scene(), minecraft))
    assert monitor(Trace.of({}), minecraft).is_empty()


def test_ids_are_derived_from_episode_and_attempt(minecraft: Domain) -> None:
    rows = monitor(scene(Try(), Try()), minecraft)
    ids = [derive_id("feedback", list(key)) for key in rows.select("episode_id", "attempt").iter_rows()]
    assert rows["feedback_id"].to_list() == ids


def test_the_same_trace_gives_the_same_bytes(minecraft: Domain) -> None:
    trace = scene(Try(path=walk(50, 9), events=[says("path_blocked")]), Try())
    assert monitor(trace, minecraft).equals(monitor(trace, minecraft))
    other = scene(Try(path=walk(50, 9)), Try(), episode="other")
    assert not set(monitor(trace, minecraft)["feedback_id"]) & set(monitor(other, minecraft)["feedback_id"])


def test_infrastructure_says_nothing_about_the_agent(minecraft: Domain) -> None:
    row = judge(Try(end="infrastructure", path=stand(30), success=True), minecraft)
    assert (row["failure_type"], types(row)) == ("INFRASTRUCTURE", ["INFRASTRUCTURE"])
    for name in ("y", "progress", "progress_move", "progress_inventory", "progress_goal", "progress_last"):
        assert row[name] is None
    assert (row["stagnant"], row["stagnant_paper"], row["remedy_due"]) == (None, None, False)


def test_changes_of_state_and_inventory(minecraft: Domain) -> None:
    changes = [(1, "stick", 4), (2, "dirt", 2), (3, "dirt", -2), (4, "oak_planks", -2)]
    row = judge(Try(changes=changes, held={"oak_planks": 2}, after={"health": 7.0}), minecraft)
    assert row["delta_inventory"] == [{"name": "oak_planks", "count": -2}, {"name": "stick", "count": 4}]
    assert [change["name"] for change in row["delta_state"]] == ["health", "hunger", "x", "y", "z"]
    assert row["delta_state"][0] == {"name": "health", "before": None, "after": 7.0}
    assert judge(Try(after=None), minecraft)["delta_inventory"] == []
    assert judge(Try(), minecraft, observes=["position"])["delta_inventory"] is None


def test_the_subgoal_is_said_in_words(minecraft: Domain) -> None:
    rows = judged(scene(Try(condition="mine 1 iron ore"), Try(condition=None)), minecraft)
    assert [row["z"] for row in rows] == ["mine 1 iron ore", None]


def test_ticks_of_two_attempts_that_share_a_moment_stay_apart(minecraft: Domain) -> None:
    trace = scene(Try(path=walk(10, 3)), Try(path=[STANDING] * 10))
    earlier = trace.ticks.with_columns(tick=pl.col("tick") - pl.col("attempt"))
    shared = Trace.of(dataclasses.replace(trace, ticks=earlier).frames())
    backwards = Trace.of(dataclasses.replace(trace, ticks=earlier.reverse()).frames())
    same(monitor(shared, minecraft), monitor(backwards, minecraft))


def test_ticks_of_attempts_that_are_mixed_up_are_refused(minecraft: Domain) -> None:
    trace = scene(Try(path=walk(10, 3)), Try(path=[STANDING] * 10))
    mixed = trace.ticks.with_columns(tick=pl.col("tick") % 10)
    with pytest.raises(ValueError, match="lie between"):
        monitor(Trace.of(trace.frames() | {"ticks": mixed}), minecraft)
