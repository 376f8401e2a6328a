"""What frozen knowledge is worth, in worlds that nothing was learnt in."""

from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.exercise_config import ExerciseConfig, LearningModel
from assets.knowledge_snapshot import knowledge_snapshot
from assets.partitions import (
    all_groups_of_the_build,
    builds_and_played_groups,
    groups_by_build,
    in_one_run,
    key_of,
)
from assets.resources import DataHome, Stepping
from rollouts.agent import agent_row
from rollouts.evaluation import Evaluated, Frozen, evaluate, shared_worlds
from rollouts.exercise import caveat, hands
from rollouts.isolation import refuse_other_models
from rollouts.lineage import published
from rollouts.rates import paired


@dg.asset(
    partitions_def=builds_and_played_groups,
    backfill_policy=in_one_run,
    deps=[dg.AssetDep(knowledge_snapshot, partition_mapping=all_groups_of_the_build)],
    group_name="evaluation",
    kinds={"python", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="The build's snapshot, frozen, against the empty store: the same tasks, worlds and planner "
    "seeds, success by the exact oracle at any tick before the horizon. Stored below evaluation/, where no "
    "fold looks: nothing is learnt and no use moves confidence. Evaluation worlds have odd seeds.",
)
def evaluation_rollouts(
    context: dg.AssetExecutionContext,
    config: ExerciseConfig,
    home: DataHome,
    model: LearningModel,
    stepping: Stepping,
) -> dg.MaterializeResult[Any]:
    wanted = groups_by_build(context)
    row = agent_row(config.agent)
    # The answers of a real model are counted with the last of the builds that are evaluated together.
    with model.mind(home, max(wanted)) as mind:
        for build in () if config.any_model else wanted:
            refuse_other_models(home.root, build, mind.name if mind else None)
        asked = [
            Frozen(
                build,
                published(home.root, build, "to be evaluated", row.curation),
                config.of_build(build).exercises(home.domain, groups, mind),
            )
            for build, groups in wanted.items()
        ]
        with hands(home.domain, row, config.workers, stepping.cluster) as backend:
            evaluated = evaluate(home.root, asked, backend)
    for build, snapshot, exercises in asked:
        for group, exercise in exercises.items():
            context.add_asset_metadata(
                {
                    "snapshot": snapshot.snapshot_id,
                    "entries": len(snapshot.entries),
                    **_shown(evaluated[build, group]),
                    "configuration": exercise.config_hash,
                },
                partition_key=key_of(build, group),
            )
    said = caveat(model.row, home.domain_name)
    note = f"{said} McNemar's test is descriptive: pairs of one task are not independent."
    return dg.MaterializeResult(metadata={"note": note})


def _shown(evaluated: Evaluated) -> dict[str, Any]:
    pairs = evaluated.pairs
    return {
        "dagster/row_count": evaluated.frozen.height + evaluated.empty.height,
        "success, empty store": str(pairs.empty),
        "success, frozen knowledge": str(pairs.frozen),
        "only with knowledge": pairs.only_frozen,
        "only without": pairs.only_empty,
        "McNemar, exact": pairs.p,
        "pairs excluded for the infrastructure": pairs.excluded,
        **columns.traces(),
        "by task": metadata.table(_by(evaluated, "task_id"), rows=100),
        "by planner seed": metadata.table(_by(evaluated, "planner_seed"), rows=100),
    }


@dg.asset_check(
    asset=evaluation_rollouts,
    description="No world was both trained and evaluated in, by the records; each is of its own kind.",
)
def seeds_are_disjoint(home: DataHome) -> dg.AssetCheckResult:
    shared = shared_worlds(home.root)
    return dg.AssetCheckResult(
        passed=shared.is_empty(), metadata={"worlds": shared.height, "which": metadata.table(shared)}
    )


def _by(evaluated: Evaluated, column: str) -> pl.DataFrame:
    values = evaluated.frozen[column].unique().sort().to_list()
    rows = []
    for value in values:
        arms = (arm.filter(pl.col(column) == value) for arm in (evaluated.frozen, evaluated.empty))
        rows.append({column: value, **paired(*arms).row()})
    return pl.DataFrame(rows, infer_schema_length=None)
