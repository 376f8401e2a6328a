"""What the last few attempts of an episode say together: eq. 5, skill segments, deadlock."""

import polars as pl

from rollouts.monitor.runs import KEY
from rollouts.monitor.settings import MonitorSettings


def windows(feedback: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    """Adds `window_failure_rate`, `remedy_due`, `skill_due` and `deadlock` to rows sorted by (episode_id,
    attempt) that have y, stagnant, failure_type, kind, target and condition.

    A remedy is due iff the last h attempts with a verdict failed at a rate of at least eta, or l = 1 (eq. 5);
    fewer than h such attempts do not satisfy the rate. A skill is due at the last of a run of consecutive
    successes. A deadlock is the same failure at least 3 times over at least 2 subgoals in the last 8.
    """
    judged = feedback.filter(pl.col("y").is_not_null()).select(
        *KEY,
        window_failure_rate=(~pl.col("y"))
        .cast(pl.Float64)
        .rolling_mean(settings.window, min_samples=settings.window)
        .over("episode_id"),
    )
    succeeded = pl.col("y").fill_null(False)
    return (
        feedback.join(judged, on=KEY, how="left", maintain_order="left")
        .with_columns(
            remedy_due=(pl.col("window_failure_rate") >= settings.failure_rate).fill_null(False)
            | pl.col("stagnant").fill_null(False),
            skill_due=succeeded & ~succeeded.shift(-1).over("episode_id").fill_null(False),
        )
        .join(_deadlocks(feedback, settings), on=KEY, how="left", maintain_order="left")
        .with_columns(pl.col("deadlock").fill_null(False))
    )


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
