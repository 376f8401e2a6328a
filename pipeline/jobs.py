"""Jobs, named for what a person wants."""

from typing import Final

import dagster as dg

import_traces: Final = dg.define_asset_job(
    "import_traces",
    selection=dg.AssetSelection.assets("imported_trajectories", "typed_feedback"),
    description="Recorded runs in, typed feedback out. Give the folders as `paths` of imported_trajectories.",
)
learn_knowledge: Final = dg.define_asset_job(
    "learn_knowledge",
    selection=dg.AssetSelection.assets("knowledge_candidates", "curated_knowledge", "knowledge_snapshot"),
    description="From a build's feedback to its curated knowledge and frozen snapshot.",
)
publish_analysis: Final = dg.define_asset_job(
    "publish_analysis",
    selection=dg.AssetSelection.assets("analysis_warehouse"),
    description="analysis.duckdb anew, with the documented views.",
)
JOBS: Final = [import_traces, learn_knowledge, publish_analysis]
