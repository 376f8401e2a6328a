"""The copy of the warehouse that analysts read."""

from typing import Any

import dagster as dg

from assets import columns, metadata
from assets.knowledge_snapshot import knowledge_snapshot
from assets.resources import DataHome
from warehouse.analysis import publish, query


@dg.asset(
    deps=[knowledge_snapshot],
    group_name="analysis",
    kinds={"duckdb", "sql"},
    code_version="1",
    owners=["team:mineevolve"],
    pool="warehouse",
    description="analysis.duckdb: the warehouse's tables, the trajectories' ticks and the documented views "
    "(docs/sql.md), published by a rename so that a reader never meets half of it.",
)
def analysis_warehouse(context: dg.AssetExecutionContext, home: DataHome) -> dg.MaterializeResult[Any]:
    path = publish(home.root)
    views = ("success_rates", "failure_mix", "claims_vs_evidence", "quarantine_summary", "knowledge_growth")
    shown = {view: query(home.root, f"FROM {view}") for view in views}
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(path)),
            **columns.analysis(),
            **{view: metadata.table(frame, rows=20) for view, frame in shown.items()},
        }
    )
