"""What must hold of what was materialized."""

from collections.abc import Iterable

import dagster as dg
import polars as pl

from assets.imported_trajectories import imported_trajectories
from assets.knowledge_snapshot import knowledge_snapshot
from assets.resources import DataHome
from assets.typed_feedback import typed_feedback
from rollouts.lineage import stale_builds
from warehouse.shards import DamagedShardError
from warehouse.snapshots import list_snapshots, load_snapshot
from warehouse.trace_store import feedback_store, trace_store

KEY = ["episode_id", "attempt"]


@dg.asset_check(asset=imported_trajectories, description="Every row that a manifest lists is in its shard.")
def row_conservation(home: DataHome) -> dg.AssetCheckResult:
    counts = trace_store(home.root).row_counts()
    lost = counts.filter(pl.col("rows_listed") != pl.col("rows_stored"))
    return dg.AssetCheckResult(
        passed=lost.is_empty(),
        metadata={"rows": int(counts["rows_stored"].sum()), "parts that differ": lost.height},
    )


@dg.asset_check(
    asset=imported_trajectories,
    description="Every row of an attempt has its attempt, every attempt its episode.",
)
def referential_integrity(home: DataHome) -> dg.AssetCheckResult:
    store = trace_store(home.root)
    episodes = store.scan("episodes").select("episode_id")
    attempts = store.scan("attempts").select(KEY)
    orphans = {"attempts": _count(store.scan("attempts").join(episodes, on="episode_id", how="anti"))}
    for table in ("ticks", "events", "sightings", "inventory_changes"):
        orphans[table] = _count(store.scan(table).select(KEY).unique().join(attempts, on=KEY, how="anti"))
    return dg.AssetCheckResult(passed=not any(orphans.values()), metadata=orphans)


@dg.asset_check(asset=typed_feedback, description="Every attempt has exactly one feedback row.")
def feedback_for_every_attempt(home: DataHome) -> dg.AssetCheckResult:
    judged = feedback_store(home.root)
    builds = judged.builds()
    attempts = trace_store(home.root).scan("attempts", builds).select(KEY)
    feedback = judged.scan("feedback").select(KEY)
    missing = _count(attempts.join(feedback, on=KEY, how="anti"))
    extra = _count(feedback.join(attempts, on=KEY, how="anti"))
    twice = _count(feedback.group_by(KEY).len().filter(pl.col("len") > 1))
    return dg.AssetCheckResult(
        passed=not (missing or extra or twice),
        metadata={"attempts without feedback": missing, "feedback without attempt": extra, "twice": twice},
    )


@dg.asset_check(
    asset=typed_feedback, description="p and its parts lie in [0, 1], and are null without a verdict."
)
def progress_between_0_and_1(home: DataHome) -> dg.AssetCheckResult:
    parts = ["progress", "progress_move", "progress_inventory", "progress_goal", "progress_last"]
    outside = pl.any_horizontal(~pl.col(part).is_between(0, 1) for part in parts).fill_null(False)
    unjudged = pl.col("y").is_null() & pl.col("progress").is_not_null()
    found = (
        feedback_store(home.root)
        .scan("feedback")
        .select(outside.sum().alias("o"), unjudged.sum().alias("u"))
        .collect()
    )
    row = found.row(0)
    return dg.AssetCheckResult(
        passed=row == (0, 0),
        metadata={"outside [0, 1]": int(row[0]), "progress without a verdict": int(row[1])},
    )


@dg.asset_check(
    asset=knowledge_snapshot,
    description="Every snapshot's files are what its manifest says, and its id is its content's.",
)
def snapshot_hash(home: DataHome) -> dg.AssetCheckResult:
    damaged = []
    folders = list_snapshots(home.root)
    for folder in folders:
        try:
            load_snapshot(folder)
        except DamagedShardError as error:
            damaged.append(str(error))
    return dg.AssetCheckResult(passed=not damaged, metadata={"snapshots": len(folders), "damaged": damaged})


@dg.asset_check(
    asset=knowledge_snapshot,
    description="Every trained build was played with what the build before it publishes now. If not, "
    "an earlier build was materialized again since: the later one stays as it was, and follows from an old "
    "generation.",
)
def trained_with_the_published_snapshot(home: DataHome) -> dg.AssetCheckResult:
    stale = stale_builds(home.root)
    return dg.AssetCheckResult(
        passed=not stale,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"stale builds": len(stale), "which": [str(each) for each in stale]},
    )


def all_checks() -> Iterable[dg.AssetChecksDefinition]:
    """The checks of all assets."""
    return [
        row_conservation,
        referential_integrity,
        feedback_for_every_attempt,
        progress_between_0_and_1,
        snapshot_hash,
        trained_with_the_published_snapshot,
    ]


def _count(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect().item())
