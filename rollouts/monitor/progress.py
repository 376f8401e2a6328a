"""Progress and stagnation, eq. 2 and 3.

    p = lx*Var(x)/(ex+Var(x)) + lv*|dv|/(ev+|dv|) + lg*p_goal            (2)
    l = 1 iff y = 0 and (p < ep, or p < ep over the last 20 s, or the loop score >= .7)

A part that the source cannot see (no position, no inventory) is unknown, not 0: p is then the weighted mean
of the parts that are known. p, l and their parts are null where y is null.
"""

import polars as pl

from rollouts.monitor.checks import goal_progress
from rollouts.monitor.runs import KEY
from rollouts.monitor.settings import MonitorSettings
from rollouts.monitor.targets import accepted_items
from rollouts.trace import Trace
from warehouse.domains import Domain


def saturating(amount: pl.Expr, half: float) -> pl.Expr:
    """amount / (half + amount): 0 at 0, 1/2 at `half`, towards 1."""
    return amount / (half + amount)


def progress(
    trace: Trace, motion: pl.DataFrame, earlier: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """One row per attempt, in order: the parts of p, p, p over the last 20 s, the loop score and l, beside
    the columns of `motion`. Requires attempts in their stored order; of `trace`, the ticks are not read.
    `earlier` are the attempts (`EARLIER`) that went before those of `trace`."""
    attempts = trace.attempts.join(
        trace.episodes.select("episode_id", "observes"), on="episode_id", how="left", maintain_order="left"
    )
    frame = (
        attempts.join(motion, on=KEY, how="left", maintain_order="left")
        .join(_inventory_change(trace, settings), on=KEY, how="left", maintain_order="left")
        .join(_recent_goal(trace, domain, settings), on=KEY, how="left", maintain_order="left")
        .join(goal_progress(trace.attempts, domain), on=KEY, how="left", maintain_order="left")
        .join(_repeats(trace, earlier, settings), on=KEY, how="left", maintain_order="left")
    )
    known = pl.col("y").is_not_null()
    sees_items = pl.col("observes").list.contains("inventory")
    inventory = pl.when(sees_items).then(pl.col("changed").fill_null(0))
    inventory_last = pl.when(sees_items).then(pl.col("changed_last").fill_null(0))
    goal_last = pl.when(pl.col("progress_goal").is_not_null()).then(
        (pl.col("target_gain_last").fill_null(0) / pl.col("needed")).clip(0, 1).fill_null(0)
    )
    return (
        frame.with_columns(
            y=pl.when(pl.col("end_reason") != "infrastructure").then(pl.col("success")),
            progress_move=saturating(pl.col("variance"), settings.epsilon_move),
            progress_inventory=saturating(inventory, settings.epsilon_inventory),
            move_last=saturating(pl.col("variance_last"), settings.epsilon_move),
            inventory_last=saturating(inventory_last, settings.epsilon_inventory),
            goal_last=goal_last,
            loop_score=pl.max_horizontal(pl.col("cell_loop"), pl.col("repeat_loop")),
        )
        .with_columns(
            progress=_weighted(("progress_move", "progress_inventory", "progress_goal"), settings),
            progress_last=_weighted(("move_last", "inventory_last", "goal_last"), settings),
        )
        .with_columns(
            pl.when(known).then(pl.col(name)).alias(name)
            for name in ("progress", "progress_last", "progress_move", "progress_inventory", "progress_goal")
        )
        .with_columns(
            stagnant_paper=_stagnant(pl.col("progress") < settings.epsilon_progress),
            stagnant=_stagnant(
                pl.any_horizontal(
                    (pl.col("progress") < settings.epsilon_progress).fill_null(False),
                    (pl.col("progress_last") < settings.epsilon_progress).fill_null(False),
                    (pl.col("loop_score") >= settings.loop_score).fill_null(False),
                )
            ),
        )
    )


def _weighted(parts: tuple[str, str, str], settings: MonitorSettings) -> pl.Expr:
    # Added one after the other: `sum_horizontal` leaves the order, and so the last bit, open.
    move, inventory, goal = (pl.col(part) for part in parts)
    by_move, by_inventory, by_goal = settings.lambda_move, settings.lambda_inventory, settings.lambda_goal
    total = (
        move.is_not_null() * by_move + inventory.is_not_null() * by_inventory + goal.is_not_null() * by_goal
    )
    value = (
        move.fill_null(0.0) * by_move
        + inventory.fill_null(0.0) * by_inventory
        + goal.fill_null(0.0) * by_goal
    )
    return pl.when(total > 0).then(value / total)


def _stagnant(low: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("y").is_not_null() & pl.col("progress").is_not_null()).then(~pl.col("y") & low)


def _inventory_change(trace: Trace, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt ||dv||_1, the net change from first to last tick, over all of it and over the last 20 s."""
    ends = trace.attempts.select(*KEY, "end_tick")
    net = (
        trace.inventory_changes.lazy()
        .join(ends.lazy(), on=KEY)
        .group_by([*KEY, "item"])
        .agg(
            pl.col("delta").cast(pl.Int64).sum().alias("net"),
            pl.col("delta")
            .cast(pl.Int64)
            .filter(pl.col("tick") > pl.col("end_tick") - settings.recent_ticks)
            .sum()
            .alias("net_last"),
        )
    )
    return (
        net.group_by(KEY)
        .agg(pl.col("net").abs().sum().alias("changed"), pl.col("net_last").abs().sum().alias("changed_last"))
        .collect()
    )


def _recent_goal(trace: Trace, domain: Domain, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt, how many of the target came in over the last 20 s (never below 0)."""
    ends = trace.attempts.select(*KEY, "end_tick")
    return (
        trace.inventory_changes.join(accepted_items(trace.attempts, domain), on=[*KEY, "item"])
        .join(ends, on=KEY)
        .filter(pl.col("tick") > pl.col("end_tick") - settings.recent_ticks)
        .group_by(KEY)
        .agg(pl.col("delta").cast(pl.Int64).sum().clip(lower_bound=0).alias("target_gain_last"))
    )


def _repeats(trace: Trace, earlier: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt, those of `earlier` included, `repeat_loop`: the same subgoal issued again and again
    without success, 0 for the first time, 1 when it fills the window of 8. Tries that the environment ended
    do not count."""
    told = [*KEY, "kind", "target", "condition", "success", "end_reason"]
    subgoal = pl.struct("kind", "target", "condition")
    run = pl.any_horizontal(
        subgoal.ne_missing(subgoal.shift(1)),
        pl.col("episode_id").ne_missing(pl.col("episode_id").shift(1)),
        pl.col("success").shift(1).fill_null(False),
    ).cum_sum()
    tried = (pl.col("end_reason") != "infrastructure").cast(pl.Int32)
    before = tried.cum_sum().over(run) - tried
    span = settings.deadlock_window - 1
    return (
        pl.concat([earlier.select(told), trace.attempts.select(told)])
        .sort(KEY)
        .select(*KEY, repeat_loop=pl.when("success").then(0.0).otherwise(before.clip(0, span) / span))
    )
