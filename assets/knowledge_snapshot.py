"""The frozen knowledge of a build."""

from typing import Any

import dagster as dg

from assets import columns, metadata
from assets.curated_knowledge import curated_knowledge
from assets.partitions import builds
from assets.resources import DataHome
from warehouse.fold import store_after
from warehouse.snapshots import entry_rows, load_snapshot, publish_snapshot
from warehouse.uncurated import uncurated_store


@dg.asset(
    partitions_def=builds,
    deps=[curated_knowledge],
    group_name="knowledge",
    kinds={"parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    pool="warehouse",
    description="An immutable, content-addressed folder of the active and the demoted entries with their "
    "evidence and confidence. Its id is the hash of the sorted rows; the manifest is written last. Beside "
    "it, with a pointer of its own, the build's candidates as they came, for the agent that plays without "
    "curation.",
)
def knowledge_snapshot(context: dg.AssetExecutionContext, home: DataHome) -> dg.MaterializeResult[Any]:
    build = context.partition_key
    folder = publish_snapshot(home.root, build, store_after(home.root, build))
    snapshot = load_snapshot(folder)
    candidates = uncurated_store(home.root, build)
    uncurated = publish_snapshot(home.root, build, candidates, curated=False)
    rows = entry_rows(snapshot.entries)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(snapshot.snapshot_id),
        metadata={
            "snapshot": snapshot.snapshot_id,
            "dagster/row_count": rows.height,
            **columns.snapshot(rows),
            "uncurated snapshot": uncurated.name,
            "uncurated entries": len(candidates),
            "entries": metadata.table(
                rows.select(
                    "entry_id", "type", "kind", "target", "failure_type", "support_episodes", "confidence"
                ),
                rows=100,
            ),
        },
    )
