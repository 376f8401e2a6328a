"""How often frozen knowledge succeeds, and how often the empty store does in the same episodes."""

from typing import Any

import dagster as dg
import polars as pl
from pydantic import Field

from assets import columns, metadata
from assets.evaluation_rollouts import evaluation_rollouts
from assets.exercise_config import LearningModel
from assets.partitions import builds_and_played_groups, groups_by_build, in_one_run, key_of
from assets.resources import DataHome
from rollouts.evaluation import FROZEN, evaluation_home, stored
from rollouts.exercise import caveat
from rollouts.success import UnpairedError, success_rows
from warehouse import log
from warehouse.log_tables import load_evaluations
from warehouse.suites import DEFAULT_SUITE, find_suite
from warehouse.trace_store import feedback_store, trace_store

_COLUMNS = ("level", "task_id", "planner_seed", "arm", "k", "n", "low", "high", "excluded", "only_frozen")
_COMPARED = ("difference", "difference_low", "difference_high", "drawn", "mcnemar_p")


class RatesConfig(dg.Config):
    """Whose word is taken on which groups are easy and which are hard."""

    suite: str = Field(default=DEFAULT_SUITE, description="the suite that was played")


@dg.asset(
    partitions_def=builds_and_played_groups,
    backfill_policy=in_one_run,
    deps=[evaluation_rollouts],
    group_name="evaluation",
    kinds={"python", "parquet", "duckdb"},
    code_version="1",
    owners=["team:mineevolve"],
    pool="warehouse",
    description="k of n with Wilson intervals for the empty store and the frozen snapshot, by group, by task "
    "and by planner seed; the paired difference with a bootstrap interval over planner seeds and tasks; "
    "McNemar's exact test. Logged as an immutable shard that the fold loads into the table `evaluations`. No "
    "curation reads it. The views success_by_group, success_by_task, success_by_planner and "
    "success_overall show it.",
)
def success_rates(
    context: dg.AssetExecutionContext, config: RatesConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    difficulty = find_suite(config.suite, home.domain).difficulty
    held = {}
    for build, groups in groups_by_build(context).items():
        rows = {
            group: success_rows(build, group, evaluated, difficulty.get(group))
            for group in groups
            if not (evaluated := stored(home.root, build, group)).frozen.is_empty()
        }
        if not rows:
            raise UnpairedError(f"build {build} has no evaluation: run `mineevolve evaluate --build {build}`")
        path = log.append(home.root, "evaluations", build, pl.concat(rows.values()))
        held[build] = load_evaluations(home.root, build)
        for group, own in rows.items():
            context.add_asset_metadata({"path": str(path), **_shown(own)}, partition_key=key_of(build, group))
    said = caveat(model.row, home.venue.world)
    note = f"{said} McNemar's test is descriptive: pairs of one task are not independent."
    return dg.MaterializeResult(metadata={"note": note, "rows of evaluations by build": held})


def _shown(rows: pl.DataFrame) -> dict[str, Any]:
    of_group = {row["arm"]: row for row in rows.filter(pl.col("level") == "group").iter_rows(named=True)}
    compared = of_group[FROZEN]
    return {
        "dagster/row_count": rows.height,
        "evaluation": compared["evaluation_id"],
        **{f"{arm}, k of n": f"{row['k']} of {row['n']}" for arm, row in sorted(of_group.items())},
        **{name: _known(compared[name]) for name in _COMPARED},
        "excluded for the infrastructure": compared["excluded"],
        "rates": metadata.table(rows.select(_COLUMNS), rows=200),
        "success by task": metadata.intervals(
            rows.filter(pl.col("level") == "task"), "task_id", "arm", "success by task, 95 % Wilson intervals"
        ),
        **columns.rates(),
    }


@dg.asset_check(
    asset=success_rates,
    description="No evaluation episode is among the traces, the feedback, the logged uses of knowledge or "
    "the evidence that candidates cite: nothing was learnt from it and no confidence moved.",
)
def evaluation_is_no_evidence(home: DataHome) -> dg.AssetCheckResult:
    episodes = trace_store(evaluation_home(home.root)).scan("episodes").select("episode_id").collect()
    feedback = feedback_store(home.root).scan("feedback")
    cited = log.read(home.root, "candidates").select(feedback_id=pl.col("support").explode()).unique()
    places = {
        "traces": trace_store(home.root).scan("episodes"),
        "feedback": feedback,
        "uses": log.read(home.root, "usage").lazy(),
        "cited": feedback.join(cited.lazy(), on="feedback_id"),
    }
    found = {
        name: int(rows.select("episode_id").unique().join(episodes.lazy(), on="episode_id").collect().height)
        for name, rows in places.items()
    }
    return dg.AssetCheckResult(
        passed=not any(found.values()), metadata={"evaluation episodes": episodes.height, **found}
    )


def _known(value: Any) -> Any:
    return "unknown" if value is None else value
