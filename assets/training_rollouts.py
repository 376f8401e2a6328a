"""Episodes that knowledge is learnt from."""

from typing import Any

import dagster as dg

from assets import metadata
from assets.exercise_config import ExerciseConfig
from assets.partitions import build_and_group, builds_and_groups
from assets.resources import DataHome
from rollouts.exercise import STAND_INS, hands
from rollouts.lineage import TRAINING, episodes_of, previous_snapshot, usage_of
from rollouts.rates import INFRASTRUCTURE_END, end_reasons, success_rate
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from warehouse import log
from warehouse.trace_store import trace_store


@dg.asset(
    partitions_def=builds_and_groups,
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
    context: dg.AssetExecutionContext, config: ExerciseConfig, home: DataHome
) -> dg.MaterializeResult[Any]:
    build, group = build_and_group(context)
    domain = home.domain
    exercise = config.exercise(domain, group)
    snapshot = previous_snapshot(home.root, build)
    if snapshot is None:
        context.log.info(f"build {build} is the first: it starts without any knowledge")
    batch = Batch(home.root, TRAINING, exercise.training(build, snapshot.snapshot_id if snapshot else None))
    with hands(domain, exercise.row, config.workers) as backend:
        crew = exercise.crew(snapshot.entries if snapshot else ())
        outcome = roll_out([batch], backend, crew, f"build {build}, {group}")
    usage = usage_of(home.root, domain, build, group, TRAINING)
    log.append(home.root, "usage", build, log.usage_rows(build, usage))
    episodes = episodes_of(home.root, build, group, TRAINING)
    if replaced := _uses_of_replaced_episodes(home, build):
        context.log.warning(
            f"build {build} was played before in another way: {replaced} uses of knowledge in the log are of "
            "episodes that it no longer has, and they still count. Play it as a new build to leave them out."
        )
    lost = int((episodes["end_reason"].cast(str) == INFRASTRUCTURE_END).sum())
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": episodes.height,
            "knowledge": f"snapshot {snapshot.snapshot_id}"
            if snapshot
            else "none: the first build starts cold",
            "success": str(success_rate(episodes)),
            "excluded for the infrastructure": lost,
            "end reasons": metadata.table(end_reasons(episodes)),
            "uses of knowledge": len(usage),
            "uses in replaced episodes": replaced,
            "shards played": len(outcome.commits),
            "shards found whole": outcome.resumed,
            "agent": exercise.row.name,
            "configuration": exercise.config_hash,
            "note": STAND_INS,
        }
    )


def _uses_of_replaced_episodes(home: DataHome, build: str) -> int:
    """The log only grows: how many uses it has of episodes that a later run of the build replaced."""
    held = trace_store(home.root).scan("episodes", [build]).select("episode_id").collect()
    return log.read(home.root, "usage", [build]).join(held, on="episode_id", how="anti").height
