"""Trajectories and feedback on disk: cut, committed, replaced, read back."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from warehouse.ids import derive_id
from warehouse.records import TABLES, arrange, from_rows
from warehouse.shards import DamagedShardError
from warehouse.trace_store import (
    STORED_TRACE_TABLES,
    DuplicateEpisodeError,
    ShardStore,
    feedback_store,
    trace_store,
)

Frames = dict[str, pl.DataFrame]
SUBGOALS = (("craft", "stick", 4), ("mine", "oak_log", 3), ("mine", "#logs", 1))


def episode_id(build: str, number: int) -> str:
    return derive_id("episode", [build, number])


def make_traces(build: str, episodes: int, *, ticks: int = 5) -> Frames:
    """Episodes of three attempts each: one that crafts sticks, one that fails for want of an axe and says
    otherwise, one that the evidence does not decide. Every fifth episode ends in a crash."""
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in STORED_TRACE_TABLES}
    for number in range(episodes):
        episode = episode_id(build, number)
        rows["episodes"].append(
            {
                "episode_id": episode,
                "source": f"synthetic:{number:03}.json",
                "build": build,
                "goal": "get sticks",
                "observes": ["position", "inventory", "messages"],
                "n_ticks": 3 * ticks,
                "end_reason": "infrastructure" if number % 5 == 4 else "recording_end",
            }
        )
        for attempt, (kind, target, needed) in enumerate(SUBGOALS):
            rows["attempts"].append(_attempt(episode, attempt, kind, target, needed, number, ticks))
            rows["ticks"] += [_tick(episode, attempt, attempt * ticks + tick) for tick in range(ticks)]
        rows["events"] += [
            _event(episode, 0, ticks - 1, "done", "craft:stick", "4 sticks made", 4),
            _event(episode, 1, 2 * ticks - 2, "missing_tool", "wooden_axe", "No axe of wood or better", None),
            _event(episode, 1, 2 * ticks - 1, "claim", "oak_log", "Got 3 oak logs!", 3),
        ]
        rows["inventory_changes"].append(
            {"episode_id": episode, "attempt": 0, "tick": ticks - 1, "seq": 0, "item": "stick"}
            | {"delta": 4, "count": 4}
        )
        if number % 2:
            rows["sightings"].append(
                {"episode_id": episode, "attempt": 1, "tick": ticks, "kind": "block", "name": "oak_log"}
                | {"distance": 2.5, "in_reach": True, "visible": True}
            )
    rows["quarantine"].append(
        {"path": "broken.json", "source": "synthetic", "position": 12, "reason": "cut off", "kept": 3}
        | {"size": 40, "severity": "quarantined"}
    )
    rows["data_quality"].append(
        {"episode_id": episode_id(build, 0), "attempt": 1, "tick": ticks, "finding": "result_vanished"}
        | {"detail": "4 sticks gained, 0 left"}
    )
    return {name: from_rows(name, rows[name]) for name in STORED_TRACE_TABLES}


def make_feedback(traces: Frames) -> pl.DataFrame:
    """Feedback on every attempt of `make_traces`: what failed is stagnant and short of a wooden_axe."""
    rows = []
    for row in traces["attempts"].iter_rows(named=True):
        crashed, failed = row["end_reason"] == "infrastructure", row["success"] is False
        evidence = {"tick": row["end_tick"] - 1, "seq": row["end_tick"] - 1, "name": "wooden_axe"} | {
            "count": None,
            "items": [{"name": "wooden_axe", "count": 1}],
            "text": None,
        }
        rows.append(
            {
                "feedback_id": derive_id("feedback", [row["episode_id"], row["attempt"]]),
                "episode_id": row["episode_id"],
                "attempt": row["attempt"],
                "z": row["condition"],
                "y": None if crashed else row["success"],
                "delta_inventory": [{"name": "stick", "count": 4}] if row["success"] else [],
                "failure_type": _failure_type(crashed, row["success"]),
                "failure_causes": [{"type": "MISSING_TOOL", **evidence}] if failed else [],
                "failure_evidence": evidence if failed else None,
                "progress": None if row["success"] is None else 0.8 if row["success"] else 0.05,
                "stagnant": None if row["success"] is None else failed,
                "stagnant_paper": None if row["success"] is None else failed,
                "remedy_due": failed,
                "skill_due": bool(row["success"]),
                "deadlock": False,
            }
        )
    return from_rows("feedback", rows)


def store_source(home: Path, build: str, source: str, traces: Frames) -> None:
    """A source with its feedback, as the pipeline stores it."""
    trace_store(home).write_source(build, "imported", source, traces)
    listed = trace_store(home).episode_ids(build, "imported", source)
    feedback_store(home).write_source(
        build, "imported", source, {"feedback": make_feedback(traces)}, episodes=listed
    )


def _failure_type(crashed: bool, success: bool | None) -> str | None:
    if crashed:
        return "INFRASTRUCTURE"
    return None if success is None else "NONE" if success else "MISSING_TOOL"


def _attempt(
    episode: str, attempt: int, kind: str, target: str, needed: int, number: int, ticks: int
) -> dict[str, object]:
    crashed = number % 5 == 4 and attempt == 2
    success = (True, False, None)[attempt]
    held = [{"name": "stick", "count": 4}] if attempt else []
    state = {"x": 10.5 + 16 * (number % 3), "y": 64.0, "z": -3.5}
    return {
        "episode_id": episode,
        "attempt": attempt,
        "source": f"{number:03}_{attempt}.json",
        "condition": f"{kind} {needed} {target}",
        "kind": kind,
        "target": target,
        "needed": needed,
        "relative": True,
        "start_tick": attempt * ticks,
        "end_tick": (attempt + 1) * ticks - 1,
        "success": success,
        "gained": (4, 0, None)[attempt],
        "claimed": attempt < 2,
        "label": (False, True, None)[attempt],
        "label_basis": "exact" if attempt < 2 else None,
        "end_reason": "infrastructure" if crashed else "success" if success else "agent_stopped",
        "state_before": {**state, "inventory": held},
        "state_after": {**state, "inventory": [{"name": "stick", "count": 4}]},
    }


def _tick(episode: str, attempt: int, tick: int) -> dict[str, object]:
    place = {"x": float(tick), "y": 64.0, "z": 0.25, "gui": "none", "action": "forward"}
    return {"episode_id": episode, "attempt": attempt, "tick": tick, **place}


def _event(
    episode: str, attempt: int, tick: int, signal: str, name: str, text: str, count: int | None
) -> dict[str, object]:
    said = {"kind": "chat", "name": name, "count": count, "text": text, "signal": signal}
    return {"episode_id": episode, "attempt": attempt, "tick": tick, "seq": tick, **said}


def files_of(folder: Path) -> dict[str, bytes]:
    """Every stored file below `folder` with its bytes; lock files left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.fixture
def store(tmp_path: Path) -> ShardStore:
    return trace_store(tmp_path)


def test_what_is_written_reads_back_in_stored_order(store: ShardStore) -> None:
    traces = make_traces("b1", 40)

    store.write_source("b1", "imported", "voyage", {name: frame.reverse() for name, frame in traces.items()})

    for name, frame in traces.items():
        assert_frame_equal(store.scan(name).collect(), arrange(name, frame))
        assert store.scan(name).collect().schema == frame.schema


def test_a_source_is_cut_by_16_of_its_sorted_episodes_and_all_tables_alike(store: ShardStore) -> None:
    traces = make_traces("b1", 40)
    store.write_source("b1", "imported", "voyage", traces)
    episodes = sorted(traces["episodes"]["episode_id"])
    stretches = [set(episodes[start : start + 16]) for start in range(0, 40, 16)]

    for part in store.parts():
        if part.table in ("quarantine", "data_quality"):
            continue
        held = [pl.read_parquet(shard.path) for shard in part.shards]
        assert [set(frame["episode_id"]) <= one for frame, one in zip(held, stretches, strict=True)]
        for frame, shard in zip(held, part.shards, strict=True):
            assert frame.height == shard.rows
            keys = frame.select(TABLES[part.table].sort_by)
            assert_frame_equal(keys, keys.sort(keys.columns, nulls_last=True))
    assert store.episode_ids("b1", "imported", "voyage") == episodes


def test_identical_input_gives_identical_bytes_and_manifest(tmp_path: Path) -> None:
    for home in ("one", "two"):
        traces = make_traces("b1", 20)
        shuffled = {name: frame.sample(fraction=1, shuffle=True, seed=7) for name, frame in traces.items()}
        store_source(tmp_path / home, "b1", "voyage", traces if home == "one" else shuffled)

    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_writing_the_same_source_again_changes_nothing(store: ShardStore) -> None:
    store.write_source("b1", "imported", "voyage", make_traces("b1", 20))
    before = files_of(store.root)

    store.write_source("b1", "imported", "voyage", make_traces("b1", 20))

    assert files_of(store.root) == before


def test_a_source_replaces_its_own_part_and_no_other(store: ShardStore) -> None:
    store.write_source("b1", "imported", "other", make_traces("other", 3))
    store.write_source("b1", "imported", "voyage", make_traces("b1", 20))
    old = {shard.path for part in store.parts("ticks") for shard in part.shards if part.source == "voyage"}

    store.write_source("b1", "imported", "voyage", make_traces("b1", 4))

    assert store.sources("b1") == [("imported", "other"), ("imported", "voyage")]
    assert store.scan("episodes").collect().height == 3 + 4
    assert all(path.exists() for path in old), "a query that reads the old shards must be able to go on"
    assert set(store.unlisted()) >= old


def test_a_file_that_no_manifest_lists_is_not_read(store: ShardStore) -> None:
    store.write_source("b1", "imported", "voyage", make_traces("b1", 2))
    folder = store.root / "b1" / "imported" / "episodes"
    make_traces("stray", 1)["episodes"].write_parquet(folder / "0123456789abcdef0123.parquet")

    assert store.scan("episodes").collect().height == 2


def test_an_episode_cannot_be_stored_twice(store: ShardStore) -> None:
    traces = make_traces("b1", 2)
    store.write_source("b1", "imported", "voyage", traces)

    with pytest.raises(DuplicateEpisodeError, match="already has from source 'voyage'"):
        store.write_source("b1", "imported", "again", traces)
    with pytest.raises(DuplicateEpisodeError, match="build 'b1'"):
        store.write_source("b2", "imported", "voyage", traces)

    store.drop_source("b1", "imported", "voyage")
    store.write_source("b2", "imported", "voyage", traces)
    assert store.scan("episodes", ["b1"]).collect().is_empty()


def test_rows_of_an_episode_that_the_source_does_not_list_are_refused(store: ShardStore) -> None:
    traces = make_traces("b1", 2)
    traces["events"] = make_traces("b2", 1)["events"]

    with pytest.raises(ValueError, match="events has rows of an episode"):
        store.write_source("b1", "imported", "voyage", traces)

    assert store.builds() == [], "nothing may be committed"


@pytest.mark.parametrize("build", ["", "../b1", "a/b", ".hidden"])
def test_a_build_has_to_be_able_to_name_a_folder(store: ShardStore, build: str) -> None:
    with pytest.raises(ValueError, match="cannot name a folder"):
        store.write_source(build, "imported", "voyage", make_traces("b1", 1))


def test_an_empty_table_has_no_shard_and_reads_as_no_rows(store: ShardStore) -> None:
    traces = make_traces("b1", 1)
    store.write_source("b1", "imported", "voyage", traces)

    assert store.scan("sightings").collect().equals(traces["sightings"])
    assert store.scan("ticks", ["b9"]).collect().schema == traces["ticks"].schema


def test_row_counts_show_that_nothing_was_lost(store: ShardStore) -> None:
    traces = make_traces("b1", 33)
    store.write_source("b1", "imported", "voyage", traces)

    counts = store.row_counts()

    assert dict(counts.select("table", "rows_listed").iter_rows()) == {
        name: frame.height for name, frame in traces.items()
    }
    assert counts["rows_listed"].to_list() == counts["rows_stored"].to_list()
    assert counts.filter(table="episodes")["shards"].item() == 3


def test_a_damaged_or_missing_shard_is_named(store: ShardStore) -> None:
    store.write_source("b1", "imported", "voyage", make_traces("b1", 2))
    assert store.verify() > 0
    (shard,) = next(store.parts("events")).shards
    shard.path.write_bytes(shard.path.read_bytes()[:-20])

    with pytest.raises(DamagedShardError, match=f"{shard.path.name} is damaged"):
        store.verify()
    assert store.verify(tables=["episodes"]) == 1

    shard.path.unlink()
    with pytest.raises(DamagedShardError, match="is missing"):
        store.scan("events")


def test_feedback_is_cut_along_the_episodes_of_its_traces(tmp_path: Path) -> None:
    traces = make_traces("b1", 20)
    first = min(traces["episodes"]["episode_id"])
    for name in ("attempts", "ticks", "events", "inventory_changes", "sightings", "data_quality"):
        traces[name] = traces[name].filter(pl.col("episode_id") != first)

    store_source(tmp_path, "b1", "voyage", traces)

    shards = next(feedback_store(tmp_path).parts("feedback")).shards
    assert [shard.rows for shard in shards] == [15 * 3, 4 * 3]
