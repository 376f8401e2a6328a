"""Episodes that knowledge is learnt from."""

from typing import Any

import dagster as dg

from assets import columns, metadata
from assets.exercise_config import ExerciseConfig, LearningModel
from assets.partitions import builds_and_groups, groups_by_build, in_one_run, key_of
from assets.resources import DataHome, Stepping
from rollouts.exercise import caveat, hands
from rollouts.isolation import refuse_other_models
from rollouts.lineage import TRAINING, build_before, episodes_of, previous_snapshot, usage_of
from rollouts.rates import INFRASTRUCTURE_END, end_reasons, success_rate
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from warehouse import log
from warehouse.trace_store import trace_store


@dg.asset(
    partitions_def=builds_and_groups,
    backfill_policy=in_one_run,
    group_name="rollouts",
    kinds={"python", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="Episodes of a task group, played with the frozen knowledge of the build before (its "
    "published snapshot, by id; the first build has none). Plan, carry out, Monitor, repair (eq. 8), in "
    "rounds over a pool of processes; resumable. How the entries fared that were used goes to the log. "
    "Training worlds have even seeds. The group 'imported' is not played.",
)
def training_rollouts(
    context: dg.AssetExecutionContext,
    config: ExerciseConfig,
    home: DataHome,
    model: LearningModel,
    stepping: Stepping,
) -> dg.MaterializeResult[Any]:
    for build, groups in groups_by_build(context).items():
        with model.mind(home, build) as mind:
            exercises = config.exercises(home.domain, groups, mind)
            any_of_them = next(iter(exercises.values()))
            before = build_before(home.root, build)
            if before is not None and not config.any_model:
                refuse_other_models(home.root, before, mind.name if mind else None)
            snapshot = previous_snapshot(home.root, build, any_of_them.row.curation)
            if snapshot is None:
                context.log.info(f"build {build} is the first: it starts without any knowledge")
            snapshot_id = snapshot.snapshot_id if snapshot else None
            batches = {
                group: Batch(home.root, TRAINING, exercise.training(build, snapshot_id))
                for group, exercise in exercises.items()
            }
            found_whole = {
                group: len(batch.shards) - len(batch.missing()) for group, batch in batches.items()
            }
            with hands(home.domain, any_of_them.row, config.workers, stepping.cluster) as backend:
                crew = any_of_them.crew(snapshot.entries if snapshot else ())
                roll_out(list(batches.values()), backend, crew, f"build {build}, {', '.join(exercises)}")
        knowledge = f"snapshot {snapshot_id}" if snapshot else "none: the first build starts cold"
        for group, exercise in exercises.items():
            context.add_asset_metadata(
                {
                    "knowledge": knowledge,
                    "shards": len(batches[group].shards),
                    "shards found whole": found_whole[group],
                    "agent": exercise.row.name,
                    "configuration": exercise.config_hash,
                    **_shown(home, build, group, update_store=config.update_store),
                },
                partition_key=key_of(build, group),
            )
    return dg.MaterializeResult(metadata={"note": caveat(model.row, home.domain_name)})


def _shown(home: DataHome, build: str, group: str, *, update_store: bool) -> dict[str, Any]:
    """What a person wants to know of a group's episodes; how knowledge fared in them is logged, if it
    counts."""
    usage = usage_of(home.root, home.domain, build, group, TRAINING)
    if update_store:
        log.append(home.root, "usage", build, log.usage_rows(build, usage))
    episodes = episodes_of(home.root, build, group, TRAINING)
    return {
        "dagster/row_count": episodes.height,
        "success": str(success_rate(episodes)),
        "excluded for the infrastructure": int(
            (episodes["end_reason"].cast(str) == INFRASTRUCTURE_END).sum()
        ),
        "end reasons": metadata.table(end_reasons(episodes)),
        "how episodes ended": metadata.bars(
            end_reasons(episodes), "end_reason", "episodes", "episodes by how they ended"
        ),
        **columns.traces(),
        "uses of knowledge": len(usage),
        "uses are logged": update_store,
        "uses in replaced episodes, which do not count": _uses_of_replaced_episodes(home, build),
    }


def _uses_of_replaced_episodes(home: DataHome, build: str) -> int:
    """The log only grows: how many uses it has of episodes that a later run of the build replaced. The fold
    leaves them out."""
    held = trace_store(home.root).scan("episodes", [build]).select("episode_id").collect()
    return log.read(home.root, "usage", [build]).join(held, on="episode_id", how="anti").height
