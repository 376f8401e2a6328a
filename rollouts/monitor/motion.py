"""What an attempt's ticks show: how far it moved, whether it ran in circles, how it ended.

One pass over ticks sorted by (episode_id, tick). Coordinates are cast to float64 before any variance: at
30,000 blocks from the origin, float32 squares have lost the whole of a small movement.
"""

import polars as pl

from rollouts.monitor.settings import MonitorSettings

KEY = ["episode_id", "attempt"]
_MOVING = r"(?:^|\+)(?:forward|back|left|right)(?:\+|$)"


def motion(ticks: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt: `variance` (sum of the per-axis population variances of position, blocks squared, eq. 2),
    `variance_last` (the same over the last 20 s), `extent` (largest side of the box that holds the path,
    blocks), `cell_loop` (share of entered cells that had been entered before, 0-1), `n_ticks`, `first_tick`,
    `last_tick`, `pressing` (share of ticks with a movement key; null without actions), `acted`.

    Null where the source has no position.
    """
    axes = ["x", "y", "z"]
    wide = ticks.lazy().select(
        *KEY, "tick", *[pl.col(axis).cast(pl.Float64) for axis in axes], pl.col("action")
    )
    recent = pl.col("tick") > pl.col("tick").max() - settings.recent_ticks
    return (
        wide.group_by(KEY, maintain_order=True)
        .agg(
            pl.sum_horizontal([pl.col(axis).var(ddof=0) for axis in axes], ignore_nulls=False).alias(
                "variance"
            ),
            pl.sum_horizontal(
                [pl.col(axis).filter(recent).var(ddof=0) for axis in axes], ignore_nulls=False
            ).alias("variance_last"),
            pl.max_horizontal([pl.col(axis).max() - pl.col(axis).min() for axis in axes]).alias("extent"),
            pl.len().cast(pl.Int32).alias("n_ticks"),
            pl.col("tick").min().alias("first_tick"),
            pl.col("tick").max().alias("last_tick"),
            pl.col("action").str.contains(_MOVING).mean().alias("pressing"),
            pl.col("action").ne("noop").any().alias("acted"),
        )
        .collect()
        .join(cell_loops(ticks), on=KEY, how="left", maintain_order="left")
    )


def cell_loops(ticks: pl.DataFrame) -> pl.DataFrame:
    """Per attempt `cell_loop` = 1 - (different cells entered) / (cells entered), over one-block cells.

    0 for standing still, 1/2 for going somewhere and back, near 1 for pacing up and down.
    """
    cell = pl.struct(pl.col(axis).floor().cast(pl.Int32) for axis in ("x", "y", "z"))
    here = ticks.lazy().select(*KEY, "x", cell.alias("cell")).filter(pl.col("x").is_not_null()).drop("x")
    entered = here.filter(
        (pl.col("cell") != pl.col("cell").shift(1))
        | (pl.col("attempt") != pl.col("attempt").shift(1))
        | (pl.col("episode_id") != pl.col("episode_id").shift(1))
        | pl.col("attempt").shift(1).is_null()
    )
    return (
        entered.group_by(KEY, maintain_order=True)
        .agg((1 - pl.col("cell").n_unique() / pl.len()).alias("cell_loop"))
        .collect()
    )
