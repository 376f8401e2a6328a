"""What the last few attempts of an episode say together: eq. 5, skill segments, deadlock."""

from typing import Final

import polars as pl

from rollouts.monitor.runs import KEY
from rollouts.monitor.settings import MonitorSettings
from warehouse.records import polars_schema

_ATTEMPTS: Final = polars_schema("attempts")
EARLIER: Final = pl.Schema(
    {name: _ATTEMPTS[name] for name in (*KEY, "kind", "target", "condition", "success", "end_reason")}
    | {"y": pl.Boolean(), "stagnant": pl.Boolean(), "failure_type": pl.String()}
)
"""What a later attempt's feedback needs of the attempts of its episode that were judged before it."""


def windows(feedback: pl.DataFrame, earlier: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    """Adds `window_failure_rate`, `remedy_due`, `skill_due` and `deadlock` to rows sorted by (episode_id,
    attempt) that have y, stagnant, failure_type, kind, target and condition; `earlier` (`EARLIER`) are the
    attempts that went before them.

    A remedy is due iff the last h attempts with a verdict failed at a rate of at least eta, or l = 1 (eq. 5);
    fewer than h such attempts do not satisfy the rate. A skill is due at the last of a run of consecutive
    successes. A deadlock is the same failure at least 3 times over at least 2 subgoals in the last 8.
    """
    told = [*KEY, "kind", "target", "condition", "y", "stagnant", "failure_type"]
    rows = pl.concat([earlier.select(told), feedback.select(told)]).sort(KEY)
    judged = rows.filter(pl.col("y").is_not_null()).select(
        *KEY,
        window_failure_rate=(~pl.col("y"))
        .cast(pl.Float64)
        .rolling_mean(settings.window, min_samples=settings.window)
        .over("episode_id"),
    )
    succeeded = pl.col("y").fill_null(False)
    said = (
        rows.join(judged, on=KEY, how="left", maintain_order="left")
        .with_columns(
            remedy_due=(pl.col("window_failure_rate") >= settings.failure_rate).fill_null(False)
            | pl.col("stagnant").fill_null(False),
            skill_due=succeeded & ~succeeded.shift(-1).over("episode_id").fill_null(False),
        )
        .join(_deadlocks(rows, settings), on=KEY, how="left", maintain_order="left")
        .select(*KEY, "window_failure_rate", "remedy_due", "skill_due", pl.col("deadlock").fill_null(False))
    )
    return feedback.join(said, on=KEY, how="left", maintain_order="left")


def _deadlocks(feedback: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    rows = feedback.select(
        *KEY,
        "failure_type",
        subgoal=pl.struct("kind", "target", "condition"),
        failed=pl.col("y").not_().fill_null(False),
    )
    before = rows.rename({"attempt": "earlier"}).filter("failed")
    return (
        rows.filter("failed")
        .select(*KEY, "failure_type")
        .join(before, on=["episode_id", "failure_type"])
        .filter(
            (pl.col("earlier") <= pl.col("attempt"))
            & (pl.col("earlier") > pl.col("attempt") - settings.deadlock_window)
        )
        .group_by(KEY)
        .agg(
            deadlock=(pl.len() >= settings.deadlock_repeats)
            & (pl.col("subgoal").n_unique() >= settings.deadlock_subgoals)
        )
    )
