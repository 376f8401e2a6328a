"""What an attempt's ticks show of its movement: how far it went, whether it ran in circles, what it pressed.

Coordinates are cast to float64 before any variance: at 30,000 blocks from the origin, float32 squares have
lost the whole of a small movement.
"""

from typing import Final

import polars as pl

from rollouts.monitor.runs import KEY, as_lists, attempt_starts, bounds, keys
from rollouts.monitor.settings import MonitorSettings

AXES: Final = ("x", "y", "z")
_MOVING: Final = r"(?:^|\+)(?:forward|back|left|right)(?:\+|$)"
_CELL_BITS: Final = {"x": 38, "z": 12, "y": 0}  # room for 67 million blocks sideways, 4,096 up


def motion(ticks: pl.DataFrame, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt, in order: `variance` (sum of the per-axis population variances of position, blocks
    squared, eq. 2), `variance_last` (the same over the last 20 s), `extent` (largest side of the box that
    holds the path, blocks), `cell_loop` (see `cell_loops`), `n_ticks`, `first_tick`, `last_tick`, `pressing`
    (share of ticks with a movement key; null without actions) and `acted` (was any key pressed).

    Ticks are sorted by (episode_id, tick). Null where the source has no position.
    """
    begins = attempt_starts(ticks)
    edges = bounds(begins)
    return (
        keys(ticks, edges)
        .hstack(_spread(ticks, edges, settings))
        .hstack(_pressed(ticks, begins))
        .join(cell_loops(ticks), on=KEY, how="left", maintain_order="left")
    )


def _spread(ticks: pl.DataFrame, edges: list[int], settings: MonitorSettings) -> pl.DataFrame:
    wide = as_lists(ticks.select("tick", *(pl.col(axis).cast(pl.Float64) for axis in AXES)), edges)
    last = pl.element().last()
    # An attempt has one row per tick, so no more than the last `recent_ticks` rows are recent.
    recent = (
        pl.col("tick").list.tail(settings.recent_ticks).list.agg((pl.element() > last - settings.recent_ticks).sum())
    )
    return wide.with_columns(recent=recent).select(
        variance=pl.sum_horizontal([pl.col(axis).list.var(ddof=0) for axis in AXES], ignore_nulls=False),
        variance_last=pl.sum_horizontal(
            [pl.col(axis).list.tail(pl.col("recent")).list.var(ddof=0) for axis in AXES], ignore_nulls=False
        ),
        extent=pl.max_horizontal([pl.col(axis).list.max() - pl.col(axis).list.min() for axis in AXES]),
        n_ticks=pl.col("tick").list.len().cast(pl.Int32),
        first_tick=pl.col("tick").list.first(),
        last_tick=pl.col("tick").list.last(),
    )


def _pressed(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    """The same keys are held for many ticks: a row per change of them, with its length, is enough."""
    action = pl.col("action")
    held = (
        ticks.lazy()
        .select(
            "action",
            begins=begins,
            row=pl.int_range(pl.len(), dtype=pl.Int32),
        )
        .filter(pl.col("begins") | action.ne_missing(action.shift(1)))
        .with_columns(
            ticks=pl.col("row").shift(-1, fill_value=ticks.height) - pl.col("row"),
            run=pl.col("begins").cum_sum().set_sorted(),
        )
        .collect(engine="in-memory")
    )
    words = held["action"].unique()
    moving = words.filter(words.str.contains(_MOVING)).implode()
    length = pl.col("ticks")
    return held.group_by("run", maintain_order=True).agg(
        pressing=length.filter(action.is_in(moving)).sum() / length.filter(action.is_not_null()).sum(),
        acted=action.ne("noop").any(),
    ).select(pl.col("pressing").fill_nan(None), "acted")


def cell_loops(ticks: pl.DataFrame) -> pl.DataFrame:
    """Per attempt `cell_loop` = 1 - (different cells entered) / (cells entered), over one-block cells; no row
    for an attempt without a position.

    0 for standing still, 1/2 for going somewhere and back, near 1 for pacing up and down.
    """
    located = ticks.filter(pl.col("x").is_not_null()) if ticks["x"].null_count() else ticks
    begins = attempt_starts(located)
    cells = located.select(pl.col(axis).floor() for axis in AXES)
    moved = pl.any_horizontal(pl.col(axis) != pl.col(axis).shift(1) for axis in AXES)
    entered = cells.select(*AXES, begins=begins).filter(pl.col("begins") | moved)
    packed = entered.select(
        pl.sum_horizontal(pl.col(axis).cast(pl.Int64) * (1 << bits) for axis, bits in _CELL_BITS.items()).alias(
            "cell"
        )
    )
    per_attempt = as_lists(packed, bounds(entered["begins"]))
    cell = pl.col("cell").list
    return keys(located, bounds(begins)).hstack(per_attempt.select(cell_loop=1 - cell.n_unique() / cell.len()))
