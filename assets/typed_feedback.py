"""Monitor over a partition's trajectories."""

from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.imported_trajectories import imported_trajectories
from assets.partitions import builds_and_groups, groups_by_build, in_one_run, key_of
from assets.resources import DataHome
from assets.training_rollouts import training_rollouts
from rollouts.judging import judge_source
from warehouse.trace_store import trace_store


@dg.asset(
    partitions_def=builds_and_groups,
    backfill_policy=in_one_run,
    deps=[imported_trajectories, training_rollouts],
    group_name="feedback",
    kinds={"polars", "parquet"},
    code_version="2",
    owners=["team:mineevolve"],
    description="Typed execution feedback e = (z, y, Δs, Δv, f, p, ℓ), eq. 1, one row per attempt. "
    "p = λx·Var(x)/(εx+Var(x)) + λv·‖Δv‖₁/(εv+‖Δv‖₁) + λg·p_goal (eq. 2); ℓ marks stagnation (eq. 3, and "
    "the last 20 s and loops beside it); remedy_due is eq. 5.",
)
def typed_feedback(context: dg.AssetExecutionContext, home: DataHome) -> dg.MaterializeResult[Any]:
    for build, groups in groups_by_build(context).items():
        for group in groups:
            feedback = _judged(context, home, build, group)
            shown = {"dagster/row_count": 0} if feedback is None else _shown(feedback)
            context.add_asset_metadata(shown, partition_key=key_of(build, group))
    return dg.MaterializeResult()


def _judged(context: dg.AssetExecutionContext, home: DataHome, build: str, group: str) -> pl.DataFrame | None:
    """The feedback of a partition, stored; None where it has no trajectories."""
    written = []
    for source in (name for of_group, name in trace_store(home.root).sources(build) if of_group == group):
        rows = judge_source(home.root, home.domain, build, group, source)
        context.log.info(f"{source}: {rows.height} attempts")
        written.append(rows)
    return pl.concat(written) if written else None


def _shown(feedback: pl.DataFrame) -> dict[str, Any]:
    mix = (
        feedback.group_by(pl.col("failure_type").cast(pl.String))
        .agg(attempts=pl.len().cast(pl.Int64), stagnant=pl.col("stagnant").sum().cast(pl.Int64))
        .sort(["attempts", "failure_type"], descending=[True, False])
        .with_columns(pl.col("failure_type").fill_null("undecided"))
    )
    failures = mix.filter(pl.col("failure_type") != "NONE")
    return {
        "dagster/row_count": feedback.height,
        "failure types": metadata.table(mix, rows=30),
        "failure mix": metadata.bars(
            failures, "failure_type", "attempts", "unsuccessful attempts by failure type"
        ),
        "stagnant, with loops and the last 20 s": _share(feedback["stagnant"]),
        "stagnant, eq. 3 alone": _share(feedback["stagnant_paper"]),
        **columns.feedback(),
    }


def _share(flags: pl.Series) -> str:
    known = flags.drop_nulls()
    return f"{int(known.sum())} of {len(known)} attempts with a verdict"
