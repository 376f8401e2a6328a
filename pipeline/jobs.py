"""Jobs, named for what a person wants."""

from typing import Final

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.resources import DataHome
from assets.studies import GROUP as STUDIES_GROUP
from warehouse.analysis import publish
from warehouse.fold import curator, rebuild

OF_ROLLOUTS: Final = {"for_rollouts": True}
"""of InducerConfig: who plays is who learns from it"""

LEARNING: Final = dg.AssetSelection.assets(
    "knowledge_candidates",
    "handed_in_candidates",
    "candidate_reviews",
    "candidate_tryouts",
    "curated_knowledge",
    "knowledge_snapshot",
)
import_traces: Final = dg.define_asset_job(
    "import_traces",
    selection=dg.AssetSelection.assets("imported_trajectories", "typed_feedback"),
    description="**Recordings, step 1 of 3: recorded runs in, typed feedback out.** Materialize all, choose "
    "a build and the group `imported` (where Dagster asks whether you are sure, yes: recordings need no "
    "training_rollouts). Folders go under Config, as `paths` of imported_trajectories; without any, the "
    "small hand-written sample is read. Step 2 is learn_knowledge.",
)
learn_knowledge: Final = dg.define_asset_job(
    "learn_knowledge",
    selection=LEARNING,
    description="**Recordings, step 2 of 3: from a build's feedback to its curated knowledge and frozen "
    "snapshot.** Materialize all, choose the build. Step 3 is publish_analysis.",
)
train_build: Final = dg.define_asset_job(
    "train_build",
    selection=dg.AssetSelection.assets("training_rollouts", "typed_feedback"),
    description="**Closed loop, step 1 of 4: task groups played with the knowledge of the build before, and "
    "their typed feedback.** Materialize all, choose a build and its groups (all but `imported`). Step 2 is "
    "learn_from_rollouts. For all steps at once there is nightly_build, or `mineevolve loop`.",
)
learn_from_rollouts: Final = dg.define_asset_job(
    "learn_from_rollouts",
    selection=LEARNING,
    config={"ops": {"knowledge_candidates": {"config": OF_ROLLOUTS}}},
    description="**Closed loop, step 2 of 4: from a played build's feedback to its frozen snapshot.** As "
    "learn_knowledge, with the planner as Inducer: its misconceptions are the planner's. Step 3 is "
    "evaluate_snapshot.",
)
keep_knowledge: Final = dg.define_asset_job(
    "keep_knowledge",
    selection=dg.AssetSelection.assets("curated_knowledge", "knowledge_snapshot"),
    description="The snapshot of a build that is not learnt from (a frozen store): what it began with.",
)
take_in_candidates: Final = dg.define_asset_job(
    "take_in_candidates",
    selection=LEARNING - dg.AssetSelection.assets("knowledge_candidates"),
    description="What other machines handed in for a build, taken from the inbox, reviewed, tried out, "
    "decided on and frozen. Switch on the sensor take_in_handed_in, and it is done by itself.",
)
evaluate_snapshot: Final = dg.define_asset_job(
    "evaluate_snapshot",
    selection=dg.AssetSelection.assets("evaluation_rollouts", "success_rates"),
    description="**Closed loop, step 3 of 4: a build's snapshot against the empty store in evaluation "
    "worlds, and the rates of both.** Choose a build and its groups. Step 4 is write_report.",
)
publish_analysis: Final = dg.define_asset_job(
    "publish_analysis",
    selection=dg.AssetSelection.assets("analysis_warehouse"),
    description="**Recordings, step 3 of 3: analysis.duckdb anew, with the documented views.** Ask it with "
    "`mineevolve sql` (docs/sql.md).",
)
write_report: Final = dg.define_asset_job(
    "write_report",
    selection=dg.AssetSelection.assets("analysis_warehouse", "loop_report"),
    description="**Closed loop, step 4 of 4: the page that says whether frozen knowledge helped,** from what "
    "was evaluated so far.",
)
full_study: Final = dg.define_asset_job(
    "full_study",
    selection=dg.AssetSelection.groups(STUDIES_GROUP),
    description="All studies and their page: accumulation, curricula, remedies, overhead. Makes the "
    "curricula, asks every checkpoint frozen, and goes on where it was when it is run again.",
)


@dg.op(
    pool="warehouse",
    description="warehouse.duckdb anew from every shard, without a model call, and then analysis.duckdb. "
    "The same shards give the same knowledge and the same snapshot ids.",
)
def fold_every_shard(home: DataHome) -> dict[str, str]:
    report = rebuild(home.root, curator(home.domain, home.curation))
    publish(home.root)
    return report.snapshot_ids


@dg.job(description="The warehouse made anew from the shards; this also mends a damaged file.")
def rebuild_warehouse() -> None:
    fold_every_shard()


JOBS: Final[list[dg.JobDefinition | UnresolvedAssetJobDefinition]] = [
    import_traces,
    learn_knowledge,
    train_build,
    learn_from_rollouts,
    keep_knowledge,
    take_in_candidates,
    evaluate_snapshot,
    publish_analysis,
    write_report,
    full_study,
    rebuild_warehouse,
]
