"""Curator over a build's candidates."""

from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.candidate_reviews import candidate_reviews
from assets.candidate_tryouts import candidate_tryouts
from assets.handed_in_candidates import handed_in_candidates
from assets.knowledge_candidates import knowledge_candidates
from assets.partitions import builds
from assets.resources import DataHome
from warehouse.database import fetch, statement, writer
from warehouse.fold import curator, fold_build


@dg.asset(
    partitions_def=builds,
    deps=[knowledge_candidates, handed_in_candidates, candidate_reviews, candidate_tryouts],
    group_name="knowledge",
    kinds={"duckdb", "python"},
    code_version="2",
    owners=["team:mineevolve"],
    pool="warehouse",
    description="Accept = V_schema ∧ V_match ∧ V_exec ∧ V_spec ∧ ¬C_conflict (eq. 6), and V_evidence: the "
    "cited feedback exists, belongs to the situation and shows what is claimed. What passes is rejected too "
    "where one world alone has shown the failure (transient), where the back-test finds that its conditions "
    "say little of the record, and where a reviewer refuses it or a try-out finds it harmful or futile. "
    "Rejected candidates are kept with their reasons. Entries are demoted, restored and retired by their "
    "use. The warehouse is a fold over shards.",
)
def curated_knowledge(context: dg.AssetExecutionContext, home: DataHome) -> dg.MaterializeResult[Any]:
    build = context.partition_key
    report = fold_build(home.root, build, curator(home.domain, home.curation))
    with writer(home.root) as con:
        decisions = fetch(con, statement("decisions_of_build"), [build])
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.rows.get("knowledge", 0),
            "decisions": metadata.table(decisions, rows=100),
            "verdicts": metadata.bars(_verdicts(decisions), "decided", "candidates", "what Curator decided"),
            **metadata.counts(sorted(report.rows.items())),
            **columns.knowledge(),
        }
    )


def _verdicts(decisions: pl.DataFrame) -> pl.DataFrame:
    what = pl.format("{} {}", pl.col("type").fill_null("entry"), "verdict")
    return decisions.group_by(decided=what).agg(candidates=pl.len().cast(pl.Int64)).sort("decided")
