"""Batches on the disk: fixed shards, a manifest last, nothing twice, the same bytes however stopped."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from rollouts.backends import InProcess, stage_kit
from rollouts.moves import moves_of
from rollouts.recorder import (
    Batch,
    EpisodeRecord,
    ForeignEpisodeError,
    episode_id_of,
    plan_shards,
    stored_truths,
    trace_of,
)
from rollouts.rounds import play, roll_out
from rollouts.worlds.registry import world
from tests.fake_world import chop, crew, kit, spec, subgoal, task
from warehouse import log
from warehouse.domains import Domain
from warehouse.knowledge import Check
from warehouse.shards import DamagedShardError
from warehouse.trace_store import trace_store

SPECS = [spec(seed) for seed in range(20)]


@pytest.fixture(scope="module")
def records(minecraft: Domain) -> dict[str, list[EpisodeRecord]]:
    ended: dict[str, list[EpisodeRecord]] = {}
    for shard, record in play(plan_shards(SPECS), InProcess(kit(minecraft)), crew(minecraft)):
        ended.setdefault(shard.name, []).append(record)
    return ended


def contents(home: Path) -> dict[str, bytes]:
    """Every file that is not a lock or a draft, by its path."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def stored(home: Path, records: dict[str, list[EpisodeRecord]], names: list[str] | None = None) -> Batch:
    batch = Batch(home, "run", SPECS)
    for shard in batch.shards:
        if names is None or shard.name in names:
            batch.commit(shard, records[shard.name])
    return batch


def test_an_episode_is_named_by_what_defines_it() -> None:
    one = spec(1)
    assert episode_id_of(one) == episode_id_of(replace(one, horizon=7, goal="other words", group="stone"))
    changed = [
        replace(one, build="b2"),
        replace(one, task_id="other"),
        replace(one, world_seed=2),
        replace(one, planner_seed=7),
        replace(one, config_hash="d" * 20),
        replace(one, snapshot_id="e" * 20),
    ]
    assert len({episode_id_of(each) for each in [one, *changed]}) == 7


def test_shards_are_fixed_by_the_episodes_alone() -> None:
    shards = plan_shards(SPECS)
    assert [len(shard.specs) for shard in shards] == [16, 4]
    ids = [episode_id_of(each) for shard in shards for each in shard.specs]
    assert ids == sorted(ids)
    assert plan_shards(reversed(SPECS)) == shards
    assert plan_shards(SPECS[:16])[0].name != shards[0].name
    with pytest.raises(ForeignEpisodeError, match="listed twice"):
        plan_shards([*SPECS, spec(3)])


def test_a_batch_is_of_one_partition_and_has_a_name_that_can_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ForeignEpisodeError, match="one build and group"):
        Batch(tmp_path, "run", [spec(0), replace(spec(1), build="b2")])
    with pytest.raises(ForeignEpisodeError, match="no episode"):
        Batch(tmp_path, "run", [])
    with pytest.raises(ForeignEpisodeError, match="cannot name a folder"):
        Batch(tmp_path, "../run", SPECS)


def test_a_batch_becomes_one_source_of_the_trace_store(
    tmp_path: Path, records: dict[str, list[EpisodeRecord]]
) -> None:
    batch = stored(tmp_path, records)
    store = trace_store(tmp_path)
    assert store.sources("b1") == []  # nothing is to be seen of a batch before it is whole
    batch.publish()
    assert store.sources("b1") == [("wooden", "run")]
    assert store.verify() == 12
    assert store.unlisted() == []  # the store found the shards' own files
    trace = trace_of(record for shard in records.values() for record in shard)
    for name, frame in trace.frames().items():
        assert store.scan(name).collect().equals(frame), name


def test_answers_budgets_and_truths_are_kept_beside_the_trace(
    tmp_path: Path, records: dict[str, list[EpisodeRecord]]
) -> None:
    batch = stored(tmp_path, records)
    everyone = [record for shard in batch.shards for record in records[shard.name]]
    budgets = batch.beside("budgets")
    assert budgets["episode_id"].to_list() == sorted(record.episode_id for record in everyone)
    assert (budgets["used"] + budgets["remaining"] == 9).all()
    assert budgets["tries"].to_list() == [1] * 20
    truths = batch.beside("truths")
    assert set(truths["failure_type"]) == {"NAV_STUCK"}
    by_row = [*truths.columns]
    assert stored_truths(tmp_path, batch.build).sort(by_row).equals(truths.unique().sort(by_row))
    assert stored_truths(tmp_path, "another").is_empty()
    answers = log.read(tmp_path, "answers")
    assert set(answers["answer_id"]) == {row["answer_id"] for each in everyone for row in each.answers}


def test_recorded_moves_lead_the_built_in_world_to_the_same_observations(
    tmp_path: Path, minecraft: Domain
) -> None:
    executor = "scripted"
    specs = [replace(spec(seed, horizon=600), world="techtree") for seed in range(2)]
    steps = [chop(2, "logs"), subgoal("craft", "sticks", Check(type="inv_ge", name="stick", value=4.0))]
    loop = crew(minecraft, row="no_repair", subgoals=steps, wanted=task(64))
    batch = Batch(tmp_path, "run", specs)
    roll_out([batch], InProcess(stage_kit(minecraft, executor)), loop)
    moves, attempts = batch.beside("moves"), trace_store(tmp_path).scan("attempts").collect()
    for each in batch.shards[0].specs:
        own = pl.col("episode_id") == episode_id_of(each)
        again = world("techtree", minecraft, {})
        again.reset(each.world_seed)
        seen = again.replay(moves_of(moves.filter(own)))
        last = attempts.filter(own).row(-1, named=True)
        assert seen.tick == last["end_tick"] > 0
        held = {each["name"]: each["count"] for each in last["state_after"]["inventory"]}
        assert {item: count for item, count in seen.inventory.items() if count} == held
        assert [seen.x, seen.y, seen.z] == pytest.approx([last["state_after"][axis] for axis in "xyz"])


def test_a_second_writer_of_a_shard_drops_its_own(
    tmp_path: Path, records: dict[str, list[EpisodeRecord]]
) -> None:
    batch = stored(tmp_path, records)
    shard = batch.shards[1]
    before = contents(tmp_path)
    assert Batch(tmp_path, "run", SPECS).commit(shard, records[shard.name]) == "same"
    assert contents(tmp_path) == before
    first, *rest = records[shard.name]
    other = [replace(first, end_reason="horizon", success_tick=None, attempts=first.attempts[:1]), *rest]
    assert batch.commit(shard, other) == "different"
    batch.publish()
    ids = [record.episode_id for record in records[shard.name]]
    kept = trace_store(tmp_path).scan("attempts").filter(pl.col("episode_id").is_in(ids)).collect()
    assert kept.height == sum(len(record.attempts) for record in records[shard.name])
    # What the second writer left is for `gc`.
    assert trace_store(tmp_path).unlisted()


def test_other_episodes_than_the_shards_own_are_refused(
    tmp_path: Path, records: dict[str, list[EpisodeRecord]]
) -> None:
    batch = Batch(tmp_path, "run", SPECS)
    one, other = batch.shards
    for wrong in (records[other.name], records[one.name][:-1], records[one.name] * 2):
        with pytest.raises(ForeignEpisodeError, match="other episodes than its own"):
            batch.commit(one, wrong)
    with pytest.raises(DamagedShardError, match="lacks 2 shards"):
        batch.publish()


def test_a_batch_goes_on_where_it_was_stopped(
    tmp_path: Path, minecraft: Domain, records: dict[str, list[EpisodeRecord]]
) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    stored(whole, records).publish()
    stored(resumed, records, [plan_shards(SPECS)[0].name])
    batch = Batch(resumed, "run", SPECS)
    outcome = roll_out([batch], InProcess(kit(minecraft)), crew(minecraft))
    assert (list(outcome.commits), outcome.resumed) == ([batch.shards[1].name], 1)
    assert contents(resumed) == contents(whole)
    again = roll_out([Batch(resumed, "run", SPECS)], InProcess(kit(minecraft)), crew(minecraft))
    assert (again.commits, again.resumed) == ({}, 2)
    assert contents(resumed) == contents(whole)
    assert trace_store(resumed).scan("episodes").collect()["episode_id"].is_unique().all()


def test_what_gc_took_is_played_again_and_what_was_changed_is_an_error(
    tmp_path: Path, records: dict[str, list[EpisodeRecord]]
) -> None:
    batch = stored(tmp_path, records)
    first = next((tmp_path / "traces").rglob("*.parquet"))
    content = first.read_bytes()
    first.unlink()
    assert len(batch.missing()) == 1
    first.write_bytes(content[:-1] + b"?")
    with pytest.raises(DamagedShardError, match="damaged"):
        batch.missing()
    first.write_bytes(content)
    assert batch.missing() == []


def test_several_batches_are_played_side_by_side(tmp_path: Path, minecraft: Domain) -> None:
    batches = [
        Batch(tmp_path, "run", [replace(spec(seed), build=build) for seed in range(3)])
        for build in ("b1", "b2")
    ]
    roll_out(batches, InProcess(kit(minecraft)), crew(minecraft))
    assert trace_store(tmp_path).builds() == ["b1", "b2"]
    assert trace_store(tmp_path).scan("episodes").collect().height == 6
